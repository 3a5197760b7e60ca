// Where the elements of an array lie, borrowed from the owner of the array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/problem.hpp"

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

// Why a result must not be written to an array while its input is read.
enum class OutputFault : std::uint8_t {
  none,
  shape,         // not the result's
  self_overlap,  // several of its elements may lie at one place
  ranges_meet,   // of bytes, input's and output's, where strided arrays may still share no byte
};

// `is_contiguous`: of `out`, where the caller knows, which saves a test. Inline because the time of
// a function call shows on small arrays.
inline OutputFault find_output_fault(const Layout& x, const Layout& out,
                                     std::span<const std::int64_t> out_shape,
                                     bool is_contiguous = false) {
  if (!std::ranges::equal(out.shape, out_shape)) return OutputFault::shape;
  if (!is_contiguous && !is_free_of_self_overlap(out.shape, out.byte_strides, out.itemsize)) {
    return OutputFault::self_overlap;
  }
  return ranges_meet(x, out) ? OutputFault::ranges_meet : OutputFault::none;
}

}  // namespace ttlg::bindings
