// What must hold of the nonzeros before they are read.
#pragma once

#include <string>

#include "plan/sparse/problem.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

struct Findings {
  std::string fault;      // of row pointers or coordinates, and where; empty where there is none
  bool is_sorted = true;  // in lexicographic order of the input's modes, if that is asked
};

Findings check(const Problem& problem, const Input& input, bool with_order, int threads);

}  // namespace ttlg::sparse
