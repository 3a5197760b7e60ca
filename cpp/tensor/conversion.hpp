// Conversions in two steps: elements are gathered in the output's order as they are, and converted
// as they leave for it. What is gathered is a problem that moves bits.
#pragma once

#include <cstdint>

#include "tensor/element_map.hpp"

namespace ttlg {

// Which value of a vector along an axis of the input belongs to an element: that of
// i / inner % extent, i being the element's index along `mode` of the problem that moves bits, or
// its place in an element of that problem where there is no such mode. Counted from the end where
// the axis is stepped through backwards.
struct ValueIndex {
  int mode = -1;
  std::int64_t inner = 1;
  std::int64_t extent = 1;
  bool is_reversed = false;

  bool operator==(const ValueIndex&) const = default;
};

struct Conversion {
  ElementMap map;
  std::int64_t from_bytes = 1;  // of an element
  std::int64_t to_bytes = 1;
  ValueIndex values{};  // where the map varies

  // The bytes of the output's elements, from those of the input's.
  std::int64_t out_bytes_of(std::int64_t bytes) const { return bytes / from_bytes * to_bytes; }

  bool operator==(const Conversion&) const = default;
};

}  // namespace ttlg
