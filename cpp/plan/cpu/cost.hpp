// What a block costs: the lines that it moves between memory and caches, partial ones counted as
// what they take. Only ratios mean anything.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cpu/pieces.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// `block` holds an extent for each mode of the folded problem, `loop_order` the cut modes,
// outermost first, `runs` what pieces_of says of the output. The result is the cost of one block
// divided by the cost of copying its bytes.
double block_cost(const Problem& folded, std::span<const std::int64_t> block,
                  std::span<const int> loop_order, const Pieces& runs, bool streaming);

}  // namespace ttlg::cpu
