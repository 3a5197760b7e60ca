// The order of the loops around a block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

// The modes that the block cuts, outermost loop first, ordered by the cost of stepping along them.
std::vector<int> choose_loop_order(const Problem& folded, std::span<const std::int64_t> block);

// Makes blocks that continue one another's output follow one another, so that their partial lines
// meet in the staging buffer: moves the loop along which runs go on innermost.
void continue_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::vector<int>& order);

}  // namespace ttlg::cpu
