// The coordinates of a nonzero in the output as one integer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/sparse/problem.hpp"

namespace ttlg::sparse {

// Where the coordinate of a mode is in a key.
struct Field {
  int in_mode = 0;
  int out_mode = 0;
  int shift = 0;
  int bits = 0;

  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
};

// One beside the other, the innermost in the lowest bits, so that keys are ordered as coordinates
// are. Modes of one coordinate have no field.
struct Key {
  std::vector<Field> fields;  // the outermost first
  int bits = 0;
  std::uint64_t max = 0;
};

inline constexpr int kMaxKeyBits = 64;

int bits_of(std::int64_t extent);

// Of the modes of the output in `out_modes`, which follow each other. Their bits fit.
Key key_of(const Problem& problem, std::span<const int> out_modes);

// The bits by which the input has to be sorted: those from `low` up to below `high`. What is below
// is in order already wherever all that is above is equal, and what is above is in order anyway.
struct SortedBits {
  int low = 0;
  int high = 0;
};

// The fewest (Mueller et al., Sparse Tensor Transpositions, SPAA 2020), by stable sorting. The
// input is in order by its first `sorted_modes` modes.
SortedBits bits_to_sort(const Key& key, int sorted_modes);

}  // namespace ttlg::sparse
