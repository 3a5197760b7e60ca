// The layouts of arrays as keys of the planner caches, and as what plans were made for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/layout.hpp"
#include "bindings/tensor_view.hpp"
#include "plan/plan_base.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::bindings {

// The key of moving an array into `out`, or into a new one; borrows from all arguments.
LayoutKey key_of(const Layout& x, std::span<const int> axes, const Layout* out);

// The same with what the CPU's planner is told of the output's address. `out` null: a new ndarray.
LayoutKey cpu_key_of(const Layout& x, std::span<const int> axes, const Layout* out);

// What the CPU's planner is told of an address: whether it is that of a cache line. Had it more
// values, a layout would need more entries in the planner cache.
std::int64_t out_alignment(const void* out);

// What the CUDA planner is told of both addresses: the largest power of two, up to what a thread
// moves at once, that divides them.
std::int64_t pointer_alignment_of(const std::byte* in, const std::byte* out);

// The key of transposing an array of this layout in its own memory; borrows from all arguments.
// Throws ValueError for an array that does not fill its memory in C or Fortran order.
class InplaceLayout {
 public:
  InplaceLayout(const Integers& shape, const Integers& byte_strides, std::int64_t itemsize,
                const std::vector<int>& axes);
  InplaceLayout(const InplaceLayout&) = delete;
  InplaceLayout& operator=(const InplaceLayout&) = delete;

  LayoutKey key;

 private:
  Integers out_byte_strides_;
};

// These throw ValueError, with a hint, unless the views are of the layout that was planned.
void check_planned_input(const PlanBase& plan, const TensorView& x);
void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out);
void check_planned_inplace(const PlanBase& plan, const TensorView& x);  // which must be writable

}  // namespace ttlg::bindings
