// What one step of a transposition in place does to memory, whichever kernel does it.
#pragma once

#include <cstdint>
#include <vector>

namespace ttlg {

// Memory [batch][rows][between][columns][element], where rows and columns change places and what is
// between them stays where it is. Only rows and columns of the same number have anything between
// them: their exchange leaves every other mode in its place.
struct Matrices {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t between = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 1;

  std::int64_t matrix_bytes() const { return rows * between * columns * element_bytes; }
  bool operator==(const Matrices&) const = default;
};

template <typename Step>
Matrices matrices_of(const Step& step) {
  return {.batch = step.batch,
          .rows = step.rows,
          .between = step.between,
          .columns = step.columns,
          .element_bytes = step.element_bytes};
}

// Three steps instead of one, less those that would move nothing: rows (i1, i0) and columns
// (j1, j0), where i0 and j0 count to the greatest common divisor. The rows of squares come
// together, the squares change to (i1, j1, j0, i0), and their rows go to where they belong.
std::vector<Matrices> by_squares(const Matrices& matrices);

// Two steps instead of one, of matrices with elements of `part_bytes`, which divide those of an
// element: the parts of a row's elements come before its columns, and rows and parts change places
// with columns.
std::vector<Matrices> by_parts(const Matrices& matrices, std::int64_t part_bytes);

// Two steps instead of one, of a matrix whose longer dimension is cut into pieces of `length` rows
// or columns, which divide them: one transposes the pieces, the other moves what they have of each
// of the other columns or rows.
std::vector<Matrices> by_pieces(const Matrices& matrices, std::int64_t length);

}  // namespace ttlg
