// The units in which caches and virtual memory move and map bytes.
#pragma once

#include <cstdint>

namespace ttlg::cpu {

inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kPageBytes = 4096;
// Pieces of the input that leave out no more than this are fetched as one.
inline constexpr std::int64_t kInputGap = kLineBytes / 2;

}  // namespace ttlg::cpu
