// Permutations as callers write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ttlg {

inline constexpr int kMaxRank = 64;

enum class AxesError : std::uint8_t { none, out_of_range, repeated, missing };

struct AxesCheck {
  AxesError error = AxesError::none;
  std::size_t position = 0;  // among the given axes, of the one in error
};

// Reads a permutation of 0..rank-1, where negative numbers count from the end, into `axes`, whose
// size is the rank, kMaxRank at most.
AxesCheck normalize_axes(std::span<const std::int64_t> given, std::span<int> axes);

}  // namespace ttlg
