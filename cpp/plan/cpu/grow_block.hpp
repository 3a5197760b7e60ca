// Blocks of a chosen shape, grown along the modes that are contiguous on either side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

// The extents of a block that holds the tile, with runs of `in_run` bytes on the input's side and
// of what that leaves of `limit` bytes on the output's.
std::vector<std::int64_t> grow_block(const Problem& folded, std::span<const std::int64_t> tile,
                                     std::int64_t in_run, std::int64_t limit);

}  // namespace ttlg::cpu
