#include "plan/inplace/orders.hpp"

namespace ttlg {

Order exchange(const Order& order, const Groups& groups) {
  const auto at = [&](std::size_t n) { return order.begin() + static_cast<std::ptrdiff_t>(n); };
  Order result(order.begin(), at(groups.begin));
  result.insert(result.end(), at(groups.second), at(groups.end));
  result.insert(result.end(), at(groups.first_end), at(groups.second));
  result.insert(result.end(), at(groups.begin), at(groups.first_end));
  result.insert(result.end(), at(groups.end), order.end());
  return result;
}

std::vector<std::size_t> cuts_of(const Order& order) {
  std::vector<std::size_t> cuts{0};
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i] != order[i - 1] + 1) cuts.push_back(i);
  }
  cuts.push_back(order.size());
  return cuts;
}

std::size_t count_groups(const Order& order) {
  return order.empty() ? 0 : cuts_of(order).size() - 1;
}

Modes::Modes(const Problem& folded) : element_bytes_(folded.element_bytes()) {
  const std::size_t rank = folded.modes.size();
  std::vector<int> place(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto mode = static_cast<std::size_t>(folded.perm[rank - 1 - k]);
    place[mode] = static_cast<int>(k);
    extents_.push_back(folded.modes[mode].extent);
  }
  start_.assign(place.rbegin(), place.rend());
}

Matrices Modes::matrices(const Order& order, const Groups& groups) const {
  return {.batch = product(order, 0, groups.begin),
          .rows = product(order, groups.begin, groups.first_end),
          .between = product(order, groups.first_end, groups.second),
          .columns = product(order, groups.second, groups.end),
          .element_bytes = element_bytes_ * product(order, groups.end, order.size())};
}

std::int64_t Modes::product(const Order& order, std::size_t begin, std::size_t end) const {
  std::int64_t result = 1;
  for (std::size_t i = begin; i < end; ++i) {
    result *= extents_[static_cast<std::size_t>(order[i])];
  }
  return result;
}

}  // namespace ttlg
