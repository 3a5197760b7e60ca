// Where the elements of an array lie, what keeps it from being transposed, and the key of the
// planner caches that it makes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan_base.hpp"
#include "plan/plan_cache.hpp"
#include "tensor/problem.hpp"

namespace ttlg::call {

// Borrowed from the owner of the array.
struct Layout {
  std::byte* data = nullptr;  // element (0, ..., 0)
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> byte_strides;
  std::int64_t itemsize = 0;
};

// What keeps a call from being made, before anything is written. Callers put it into words: they
// know the names of the arrays.
struct Fault {
  enum Kind : std::uint8_t {
    none,
    shape,         // or size of the elements, not the expected one
    byte_strides,  // not the planned ones
    self_overlap,  // several elements of the output may lie at one place
    ranges_meet,   // of bytes, input's and output's, where strided arrays may still share no byte
    gaps,          // in place: the array fills its memory neither in C nor in Fortran order
    workspace,     // there is none of this many `bytes`
  };
  Kind kind = none;
  std::int64_t bytes = 0;

  explicit operator bool() const { return kind != none; }
};

// Whether elements at these strides are where the layout has them.
bool has_byte_strides(const Layout& layout, std::span<const std::int64_t> byte_strides);

// Whether the smallest byte ranges around the two meet.
bool ranges_meet(const Layout& x, const Layout& y);

// Why the result must not be written to `out` while `x` is read. `is_contiguous`: of `out`, where
// the caller knows, which saves a test. Inline, as what follows, because the time of a function
// call shows on small arrays.
inline Fault find_output_fault(const Layout& x, const Layout& out,
                               std::span<const std::int64_t> out_shape,
                               bool is_contiguous = false) {
  if (!std::ranges::equal(out.shape, out_shape)) return {Fault::shape};
  if (!is_contiguous && !is_free_of_self_overlap(out.shape, out.byte_strides, out.itemsize)) {
    return {Fault::self_overlap};
  }
  return {ranges_meet(x, out) ? Fault::ranges_meet : Fault::none};
}

// What is read and what is written, without addresses.
inline Layout input_of(const Request& request) {
  return {nullptr, request.shape, request.in_byte_strides, request.itemsize};
}
inline Layout output_of(const PlanBase& plan) {
  return {nullptr, plan.out_shape, plan.out_byte_strides, plan.request.out_itemsize()};
}

// Why an array is not one of those that were planned for.
inline Fault find_planned_fault(const Layout& planned, const Layout& given) {
  if (given.itemsize != planned.itemsize || !std::ranges::equal(given.shape, planned.shape)) {
    return {Fault::shape};
  }
  return {has_byte_strides(given, planned.byte_strides) ? Fault::none : Fault::byte_strides};
}

// What the CPU's planner is told of an output's address: whether it is that of a cache line. Had it
// more values, a layout would need more entries in the planner cache.
std::int64_t out_alignment(const void* out);

// What the CUDA planner is told of both addresses: the largest power of two, up to what a thread
// moves at once, that divides them.
std::int64_t pointer_alignment_of(const std::byte* in, const std::byte* out);

// The key of moving an array to these strides, or to a new C-contiguous array where there are none,
// whose address has this alignment; borrows from all arguments.
inline LayoutKey key_of(const Layout& x, std::span<const int> axes,
                        std::span<const std::int64_t> out_byte_strides = {},
                        std::int64_t alignment = 1) {
  return {.shape = x.shape,
          .in_byte_strides = x.byte_strides,
          .axes = axes,
          .itemsize = x.itemsize,
          .out_byte_strides = out_byte_strides,
          .out_alignment = alignment};
}

// The key of transposing an array in its own memory, which borrows from the arguments, or why that
// cannot be.
class InplaceLayout {
 public:
  InplaceLayout(const Layout& x, std::span<const int> axes);
  InplaceLayout(const InplaceLayout&) = delete;
  InplaceLayout& operator=(const InplaceLayout&) = delete;

  LayoutKey key;
  Fault fault;

 private:
  std::vector<std::int64_t> out_byte_strides_;
};

}  // namespace ttlg::call
