// Blocks of a chosen shape, grown along the modes that are contiguous on either side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

// Writes the extents of a block into `block`: it holds the tile and has runs of about `in_run`
// bytes on the input's side and of `out_run` on the output's, as far as `limit` bytes allow.
void grow_block(const Problem& folded, std::span<const std::int64_t> tile, std::int64_t in_run,
                std::int64_t out_run, std::int64_t limit, std::vector<std::int64_t>& block);

}  // namespace ttlg::cpu
