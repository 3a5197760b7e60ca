#include "bindings/layout.hpp"

#include <algorithm>

namespace ttlg::bindings {
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

}  // namespace ttlg::bindings
