// What a call frame of XLA says, checked: std::invalid_argument tells what is wrong with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "tensor/element_map.hpp"
#include "tensor/problem.hpp"
#include "xla/ffi.hpp"

namespace ttlg::xla {

// Of one element of XLA's type of this number.
std::int64_t itemsize_of(std::int32_t dtype);

// What elements of XLA's type of this number are to the engine, which has to convert them.
Type type_of(std::int32_t dtype);

inline std::span<const std::int64_t> shape_of(const Buffer& buffer) {
  return {buffer.shape, static_cast<std::size_t>(buffer.rank)};
}

std::int64_t elements_of(const Buffer& buffer);

// The buffer at `place` of operands, of which there must be `count`; messages call one of them
// `what`.
const Buffer& buffer_at(const Operands& operands, std::int64_t place, std::int64_t count,
                        const std::string& what);

std::int64_t read_integer(const Attributes& attributes, const std::string& name);

// From where to where elements move, and how; borrows from the call frame.
struct Transfer {
  const Buffer& x;
  const Buffer& out;
  int threads;
  std::array<int, kMaxRank> order;  // the first ones, as many as there are axes

  std::span<const int> axes() const { return {order.data(), static_cast<std::size_t>(x.rank)}; }
};

// Of a frame with this many arguments, of which the first moves. The result must have its permuted
// shape; its type is left to the caller.
Transfer read_transfer(const CallFrame& frame, std::int64_t arguments);

}  // namespace ttlg::xla
