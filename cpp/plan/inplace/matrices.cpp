#include "plan/inplace/matrices.hpp"

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

}  // namespace ttlg
