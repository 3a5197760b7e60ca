// The tiles of shuffles: the smallest whose runs fill vectors on both sides, as extents of a folded
// problem's modes. Where the input has no such runs, because it is read backwards or in part, its
// vectors may hold elements in any order, and between them what is not read: up to kMaxLaneGap
// bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

inline constexpr std::int64_t kLaneBytes = 16;
inline constexpr int kMaxTileVectors = 64;
inline constexpr std::int64_t kMaxLaneGap = kLaneBytes - 1;

// That of vectors of a lane; empty if there is none that fits in the registers, or if elements are
// of no vector width and read forwards one after another: moving these one by one is faster.
std::vector<std::int64_t> shuffle_tile(const Problem& folded);

// Whether the input's fastest modes are runs of elements that fill a vector of a lane, read
// forwards and whole.
bool reads_runs(const Problem& folded);

// The vectors of a lane that cover a tile's elements, at most, in the input and in the output.
std::int64_t tile_loads(const Problem& folded, std::span<const std::int64_t> tile);
std::int64_t tile_stores(const Problem& folded, std::span<const std::int64_t> tile);

// That of vectors of a SIMD level, where its extents are powers of two and rows and columns have
// indices in common; empty if there is none, if blocks of `extents` do not hold it, or if there is
// no code for it.
std::vector<std::int64_t> vector_tile(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes);

}  // namespace ttlg::cpu
