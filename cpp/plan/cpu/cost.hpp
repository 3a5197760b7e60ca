// What a block costs: the lines that it moves between memory and caches, partial ones counted as
// what they take. Only ratios mean anything.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

// A block as one side sees it: pieces that are contiguous there.
struct Pieces {
  std::int64_t bytes = 0;  // of one piece
  std::int64_t count = 1;
  std::int64_t places = 1;  // of them that differ, counted modulo 4 KiB
  int continues = -1;       // the mode along which a piece goes on in the next block; -1: none
};

// `order` lists the modes from the side's fastest one on, and `step` is their stride there.
Pieces pieces_of(const Problem& folded, std::span<const std::int64_t> block,
                 std::span<const int> order, std::int64_t Mode::* step);

// `block` holds an extent for each mode of the folded problem, `loop_order` the cut modes,
// outermost first, `runs` what pieces_of says of the output. The result is the cost of one block
// divided by the cost of copying its bytes.
double block_cost(const Problem& folded, std::span<const std::int64_t> block,
                  std::span<const int> loop_order, const Pieces& runs, bool streaming);

}  // namespace ttlg::cpu
