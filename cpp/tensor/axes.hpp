// Permutations as callers write them.
#pragma once

#include <bitset>
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
inline AxesCheck normalize_axes(std::span<const std::int64_t> given, std::span<int> axes) {
  const auto rank = static_cast<std::int64_t>(axes.size());
  std::bitset<kMaxRank> seen;
  // More axes than there are must repeat one of them, so `axes` is never overrun.
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < -rank || given[i] >= rank) return {AxesError::out_of_range, i};
    const auto axis = static_cast<std::size_t>(given[i] < 0 ? given[i] + rank : given[i]);
    if (seen[axis]) return {AxesError::repeated, i};
    seen.set(axis);
    axes[i] = static_cast<int>(axis);
  }
  return {given.size() < axes.size() ? AxesError::missing : AxesError::none, given.size()};
}

}  // namespace ttlg
