// What the bindings of plans for the CPU and for CUDA devices have in common.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/tensor_view.hpp"
#include "plan/plan_base.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::bindings {

// The key of moving one view into another, or into a new array where there is no `out`; borrows
// from all three.
inline LayoutKey key_of(const TensorView& x, const std::vector<int>& axes, const TensorView* out) {
  LayoutKey key{
      .shape = x.shape, .in_byte_strides = x.byte_strides, .axes = axes, .itemsize = x.itemsize};
  if (out != nullptr) key.out_byte_strides = out->byte_strides;
  return key;
}

// Throws ValueError, with a hint, unless the view is of the shape and strides that were planned.
void check_planned_input(const PlanBase& plan, const TensorView& x);

// Throws ValueError, with a hint, unless both views are of the shape and strides that were planned.
void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out);

// Binds requests and what both kinds of plan have in common; call it before bind_cpu and bind_cuda.
void bind_plan(py::module_& module);

}  // namespace ttlg::bindings
