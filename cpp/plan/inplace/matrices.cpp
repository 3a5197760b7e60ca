#include "plan/inplace/matrices.hpp"

#include <algorithm>
#include <numeric>

namespace ttlg {

std::vector<Matrices> by_squares(const Matrices& matrices) {
  const std::int64_t c = std::gcd(matrices.rows, matrices.columns);
  const std::int64_t a = matrices.rows / c;
  const std::int64_t b = matrices.columns / c;
  Matrices together = matrices;
  together.batch *= a;
  together.rows = c;
  together.columns = b;
  together.element_bytes *= c;
  Matrices squares = matrices;
  squares.batch *= a * b;
  squares.rows = squares.columns = c;
  Matrices apart = matrices;
  apart.rows = a;
  apart.element_bytes *= c;
  std::vector<Matrices> steps{together, squares, apart};
  std::erase_if(steps, [](const Matrices& each) { return each.rows == 1 || each.columns == 1; });
  return steps;
}

std::vector<Matrices> by_parts(const Matrices& matrices, std::int64_t part_bytes) {
  const std::int64_t parts = matrices.element_bytes / part_bytes;
  Matrices inside = matrices;
  inside.batch *= matrices.rows;
  inside.rows = matrices.columns;
  inside.columns = parts;
  inside.element_bytes = part_bytes;
  Matrices whole = matrices;
  whole.rows *= parts;
  whole.element_bytes = part_bytes;
  return {inside, whole};
}

std::vector<Matrices> by_pieces(const Matrices& matrices, std::int64_t length) {
  const bool is_tall = matrices.rows > matrices.columns;
  const std::int64_t pieces = std::max(matrices.rows, matrices.columns) / length;
  Matrices inside = matrices;
  Matrices between = matrices;
  inside.batch *= pieces;
  between.element_bytes *= length;
  (is_tall ? inside.rows : inside.columns) = length;
  (is_tall ? between.rows : between.columns) = pieces;
  return is_tall ? std::vector{inside, between} : std::vector{between, inside};
}

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
