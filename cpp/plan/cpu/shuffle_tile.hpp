// The tiles of shuffles: the smallest whose runs fill vectors on both sides, as extents of a folded
// problem's modes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

inline constexpr std::int64_t kLaneBytes = 16;
inline constexpr int kMaxTileVectors = 64;

// That of vectors of a lane; empty if there is none that fits in the registers, or if elements are
// of no vector width: moving these one by one is faster.
std::vector<std::int64_t> shuffle_tile(const Problem& folded);

// That of vectors of a SIMD level, where its extents are powers of two and rows and columns have
// indices in common; empty if there is none, if blocks of `extents` do not hold it, or if there is
// no code for it.
std::vector<std::int64_t> vector_tile(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes);

}  // namespace ttlg::cpu
