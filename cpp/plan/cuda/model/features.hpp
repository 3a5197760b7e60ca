// What the models know of a launch (TTLG, sections IV-C and V): counts that follow from the problem
// and the slice alone and that running the kernel confirms.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// Table I: transactions of 32 floats' bytes (128) on each side, by memory.
struct Transactions {
  std::int64_t in_dram = 0;
  std::int64_t in_shared = 0;
  std::int64_t in_texture = 0;
  std::int64_t out_dram = 0;
  std::int64_t out_shared = 0;
  std::int64_t out_texture = 0;

  bool operator==(const Transactions&) const = default;
};
Transactions transactions(const SlicedProblem& sliced);

// Names and values of the schema's features, in the order of Table II.
using Features = std::vector<std::pair<std::string_view, double>>;
Features features_of(const SlicedProblem& sliced);

// Whether a feature is a length of a slice; the others grow with the volume.
bool is_of_slice(std::string_view feature);

}  // namespace ttlg::cuda
