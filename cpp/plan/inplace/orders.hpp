// The orders in which a tensor's modes lie in memory on the way from the input to the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/inplace/matrices.hpp"
#include "tensor/problem.hpp"

namespace ttlg {

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

}  // namespace ttlg
