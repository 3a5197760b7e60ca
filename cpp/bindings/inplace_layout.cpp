#include "bindings/inplace_layout.hpp"

#include <cstddef>

#include "bindings/bind_plan.hpp"
#include "bindings/layout.hpp"

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

}  // namespace

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

void check_planned_inplace(const PlanBase& plan, const TensorView& x) {
  check_planned_input(plan, x);
  if (x.readonly) {
    throw py::value_error(
        "x is read-only; pass a writable array, or call ttlg.transpose(x, axes), which returns a "
        "new one");
  }
}

}  // namespace ttlg::bindings
