// Where the elements of an array lie, borrowed from whoever keeps the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ttlg::bindings {

struct Layout {
  std::byte* data = nullptr;  // element (0, ..., 0)
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> byte_strides;
  std::int64_t itemsize = 0;
};

// Whether elements at these strides are where the layout has them.
bool has_byte_strides(const Layout& layout, std::span<const std::int64_t> byte_strides);

// Whether the smallest byte ranges around the two meet.
bool ranges_meet(const Layout& x, const Layout& y);

}  // namespace ttlg::bindings
