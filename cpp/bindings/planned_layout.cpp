#include "bindings/planned_layout.hpp"

#include <cstddef>

#include "bindings/layout.hpp"
#include "bindings/new_ndarray.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cuda/planner.hpp"
#include "tensor/integer.hpp"

namespace ttlg::bindings {
namespace {

// Strides of the same order of axes in memory as in C, or as in Fortran.
Integers fortran_byte_strides(const Integers& shape, std::int64_t itemsize) {
  Integers strides = contiguous_byte_strides(Integers(shape.rbegin(), shape.rend()), itemsize);
  return {strides.rbegin(), strides.rend()};
}

[[noreturn]] void refuse_layout(const Integers& shape, const Integers& byte_strides) {
  throw py::value_error("an array of shape " + text_of(shape) + " and byte strides " +
                        text_of(byte_strides) +
                        " does not fill its memory in C or Fortran order, so it has no place for "
                        "the result; pass a contiguous copy, or call ttlg.transpose(x, axes), "
                        "which returns a new array");
}

void check_matches(const TensorView& view, const Integers& shape, const Integers& byte_strides,
                   const Request& request, const std::string& name) {
  if (view.itemsize != request.itemsize || view.shape != shape) {
    throw py::value_error("this plan is for " + name + " of shape " + text_of(shape) + " and " +
                          std::to_string(request.itemsize) + "-byte elements, not shape " +
                          text_of(view.shape) + " and " + std::to_string(view.itemsize) +
                          "-byte elements; make one for this array with ttlg.plan_for(x, axes)");
  }
  if (!has_byte_strides(view.layout(), byte_strides)) {
    throw py::value_error("this plan is for " + name + " of byte strides " + text_of(byte_strides) +
                          ", not " + text_of(view.byte_strides) +
                          "; make one for this array with ttlg.plan_for(x, axes), or call "
                          "ttlg.transpose, which looks at the strides itself");
  }
}

}  // namespace

LayoutKey key_of(const Layout& x, std::span<const int> axes, const Layout* out) {
  LayoutKey key{
      .shape = x.shape, .in_byte_strides = x.byte_strides, .axes = axes, .itemsize = x.itemsize};
  if (out != nullptr) key.out_byte_strides = out->byte_strides;
  return key;
}

LayoutKey cpu_key_of(const Layout& x, std::span<const int> axes, const Layout* out) {
  LayoutKey key = key_of(x, axes, out);
  key.out_alignment =
      out != nullptr ? out_alignment(out->data) : new_ndarray_alignment(x.itemsize, x.shape);
  return key;
}

std::int64_t out_alignment(const void* out) {
  return reinterpret_cast<std::uintptr_t>(out) % cpu::kLineBytes == 0 ? cpu::kLineBytes : 1;
}

std::int64_t pointer_alignment_of(const std::byte* in, const std::byte* out) {
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  return common_power(static_cast<std::int64_t>(bits), cuda::kMaxAccessBytes);
}

InplaceLayout::InplaceLayout(const Integers& shape, const Integers& byte_strides,
                             std::int64_t itemsize, const std::vector<int>& axes)
    : key{.shape = shape,
          .in_byte_strides = byte_strides,
          .axes = axes,
          .itemsize = itemsize,
          .inplace = true} {
  const Layout layout{.shape = shape, .byte_strides = byte_strides, .itemsize = itemsize};
  if (has_byte_strides(layout, contiguous_byte_strides(shape, itemsize))) return;
  if (!has_byte_strides(layout, fortran_byte_strides(shape, itemsize))) {
    refuse_layout(shape, byte_strides);
  }
  Integers out_shape;
  for (const int axis : axes) out_shape.push_back(shape[static_cast<std::size_t>(axis)]);
  out_byte_strides_ = fortran_byte_strides(out_shape, itemsize);
  key.out_byte_strides = out_byte_strides_;
}

void check_planned_input(const PlanBase& plan, const TensorView& x) {
  check_matches(x, plan.request.shape, plan.request.in_byte_strides, plan.request, "x");
}

void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out) {
  check_planned_input(plan, x);
  check_matches(out, plan.out_shape, plan.out_byte_strides, plan.request, "out");
}

void check_planned_inplace(const PlanBase& plan, const TensorView& x) {
  check_planned_input(plan, x);
  if (x.readonly) {
    throw py::value_error(
        "x is read-only; pass a writable array, or call ttlg.transpose(x, axes), which returns a "
        "new one");
  }
}

}  // namespace ttlg::bindings
