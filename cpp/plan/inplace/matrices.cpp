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

}  // namespace ttlg
