// What the bindings of plans in place for the CPU and for CUDA devices have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/tensor_view.hpp"
#include "plan/plan_base.hpp"
#include "plan/plan_cache.hpp"

namespace ttlg::bindings {

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

// The kernels of a plan's steps in their order.
template <typename Plan>
std::string kernels_of(const Plan& plan) {
  std::string names;
  for (const auto& step : plan.steps) {
    names += (names.empty() ? "" : " + ") + std::string(kernel_name(step.kernel));
  }
  return names.empty() ? "none" : names;
}

// Throws ValueError, with a hint, unless the view is writable and of the layout that was planned.
void check_planned_inplace(const PlanBase& plan, const TensorView& x);

}  // namespace ttlg::bindings
