#include "call/layout.hpp"

#include <algorithm>

#include "plan/cpu/memory_units.hpp"

namespace ttlg::call {
namespace {

struct ByteRange {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Strides beyond 64 bits wrap round here; the planner refuses them.
ByteRange byte_range(const Layout& layout) {
  const auto start = reinterpret_cast<std::uintptr_t>(layout.data);
  ByteRange range{start, start + static_cast<std::uintptr_t>(layout.itemsize)};
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] == 0) return {start, start};
    const std::uintptr_t reach = (static_cast<std::uintptr_t>(layout.shape[axis]) - 1) *
                                 static_cast<std::uintptr_t>(layout.byte_strides[axis]);
    (layout.byte_strides[axis] < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

std::vector<std::int64_t> fortran_byte_strides(std::span<const std::int64_t> shape,
                                               std::int64_t itemsize) {
  const std::vector<std::int64_t> reversed(shape.rbegin(), shape.rend());
  auto strides = contiguous_byte_strides(reversed, itemsize);
  std::ranges::reverse(strides);
  return strides;
}

}  // namespace

bool has_byte_strides(const Layout& layout, std::span<const std::int64_t> byte_strides) {
  // Strides mean nothing where there is no second element to step to, and libraries put anything
  // there.
  if (std::ranges::find(layout.shape, 0) != layout.shape.end()) return true;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] > 1 && layout.byte_strides[axis] != byte_strides[axis]) return false;
  }
  return true;
}

bool ranges_meet(const Layout& x, const Layout& y) {
  const ByteRange first = byte_range(x);
  const ByteRange second = byte_range(y);
  return first.begin < second.end && second.begin < first.end;
}

std::int64_t out_alignment(const void* out) {
  return reinterpret_cast<std::uintptr_t>(out) % cpu::kLineBytes == 0 ? cpu::kLineBytes : 1;
}

InplaceLayout::InplaceLayout(const Layout& x, std::span<const int> axes) : key(key_of(x, axes)) {
  key.inplace = true;
  if (has_byte_strides(x, contiguous_byte_strides(x.shape, x.itemsize))) return;
  if (!has_byte_strides(x, fortran_byte_strides(x.shape, x.itemsize))) {
    fault.kind = Fault::gaps;
    return;
  }
  std::vector<std::int64_t> out_shape;
  for (const int axis : axes) out_shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  out_byte_strides_ = fortran_byte_strides(out_shape, x.itemsize);
  key.out_byte_strides = out_byte_strides_;
}

}  // namespace ttlg::call
