// The units in which caches and virtual memory move and map bytes.
#pragma once

#include <cstdint>

#include "tensor/integer.hpp"

namespace ttlg::cpu {

inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kPageBytes = 4096;
inline constexpr std::int64_t kWays = 8;  // of a set of L1, as few as there are anywhere

// So many bytes, and what is left of their last line.
constexpr std::int64_t whole_lines(std::int64_t bytes) {
  return ceil_div(bytes, kLineBytes) * kLineBytes;
}

// Pieces of the input that leave out no more than this are fetched as one.
inline constexpr std::int64_t kInputGap = kLineBytes / 2;

}  // namespace ttlg::cpu
