// Whether steps do what a plan says they do.
#pragma once

#include <vector>

#include "plan/inplace/matrices.hpp"
#include "tensor/problem.hpp"

namespace ttlg {

// Whether these transpositions, one after another, permute the modes; their extents may be any
// numbers. `folded` is without gaps.
bool permutes(const std::vector<Matrices>& sequence, const Problem& folded);

template <typename Step>
bool permutes(const std::vector<Step>& steps, const Problem& folded) {
  std::vector<Matrices> sequence;
  for (const Step& step : steps) sequence.push_back(matrices_of(step));
  return permutes(sequence, folded);
}

}  // namespace ttlg
