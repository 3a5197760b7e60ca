// The layouts of arrays as keys of the planner caches, and as what plans were made for.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/tensor_view.hpp"
#include "plan/plan_base.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::bindings {

// The key of moving a view into another, or into a new array; borrows from all arguments.
LayoutKey key_of(const TensorView& x, const std::vector<int>& axes, const TensorView* out);

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
