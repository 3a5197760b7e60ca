// What the planner takes the kernels that transpose in place to be able to.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttlg::cuda {

// The width of square_v1b's bands, in tiles of a matrix that has `tiles` on a side: 8 as in the
// paper, and less than all, as its section 5 has it. The pages that a band's tiles touch at a time,
// and those of their mirror images, must be within the reach of the TLB.
constexpr std::int64_t band_width(std::int64_t tiles) {
  return std::clamp<std::int64_t>(tiles - 1, 1, 8);
}

// The order of square_sg's regions, in tiles. Smaller ones touch fewer pages, but there is a launch
// for each of them.
constexpr std::int64_t region_order(std::int64_t tiles) {
  return std::min<std::int64_t>(tiles, 128);
}

// What the threads of a block may be, powers of two, where a kernel takes any number of them:
// Gorawski and Lorek tried several (section 7). All but the usual number share one kernel more,
// whose threads have the registers of the largest block.
inline constexpr int kMinBlockThreads = 64;
inline constexpr int kMaxBlockThreads = 1024;

}  // namespace ttlg::cuda
