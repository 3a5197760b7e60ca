#include "tensor/axes.hpp"

#include <bitset>

namespace ttlg {

AxesCheck normalize_axes(std::span<const std::int64_t> given, std::span<int> axes) {
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
