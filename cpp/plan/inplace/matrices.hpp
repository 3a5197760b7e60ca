// What one step of a transposition in place does to memory, whichever kernel does it, and the
// orders in which a tensor's modes lie on the way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/problem.hpp"

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

// The modes as they lie in memory, the slowest first, each by its place in the result.
using Order = std::vector<int>;

// Two groups of modes, `begin` to `first_end` and `second` to `end`, that change places.
struct Groups {
  std::size_t begin;
  std::size_t first_end;
  std::size_t second;
  std::size_t end;
};

Order exchange(const Order& order, const Groups& groups);

// The places where an order may be cut: not between modes that follow one another in the result.
std::vector<std::size_t> cuts_of(const Order& order);

// How many groups of modes that follow one another in the result an order has.
std::size_t count_groups(const Order& order);

// The modes of a tensor without gaps.
class Modes {
 public:
  explicit Modes(const Problem& folded);

  const Order& start() const { return start_; }

  // The matrices whose transposition exchanges the groups.
  Matrices matrices(const Order& order, const Groups& groups) const;

 private:
  std::int64_t product(const Order& order, std::size_t begin, std::size_t end) const;

  std::int64_t element_bytes_;
  std::vector<std::int64_t> extents_;  // by place in the result, the slowest first
  Order start_;
};

// The steps, and their predicted time.
template <typename Step>
struct Decomposition {
  std::vector<Step> steps;
  double seconds = 0;

  void append(const Decomposition& next) {
    steps.insert(steps.end(), next.steps.begin(), next.steps.end());
    seconds += next.seconds;
  }
};

template <typename Step>
std::optional<Decomposition<Step>> fastest(std::vector<Decomposition<Step>> choices) {
  const auto best = std::ranges::min_element(choices, {}, &Decomposition<Step>::seconds);
  return best == choices.end() ? std::nullopt : std::optional(std::move(*best));
}

// One after another, each by its fastest kernel. None where some of them have none.
template <typename Step, typename Limits>
std::optional<Decomposition<Step>> fastest_of_each(const std::vector<Matrices>& sequence,
                                                   const Limits& limits) {
  Decomposition<Step> whole;
  for (const Matrices& each : sequence) {
    const std::optional<Decomposition<Step>> best = fastest(limits.step_choices(each));
    if (!best) return std::nullopt;
    whole.append(*best);
  }
  return whole;
}

}  // namespace ttlg
