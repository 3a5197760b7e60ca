// A block as one side of a problem sees it: contiguous pieces, and where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cpu/memory_units.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct Pieces {
  std::int64_t bytes = 0;               // of one piece
  std::int64_t count = 1;               // in a block
  std::int64_t distinct_offsets = 1;    // of the pieces, modulo a page
  std::int64_t pages = 1;               // about as many as a block's pieces lie in
  std::int64_t alignment = kLineBytes;  // the largest power of two up to a line that divides where
                                        // pieces begin, counted from the first
  std::int64_t total = 1;               // pieces in all blocks together
  int continues = -1;  // the mode along which a piece goes on in the next block; -1: none
};

// `order` lists the modes from the side's fastest one on, and `step` is their stride there. Pieces
// that are at most `gap` bytes apart count as one.
Pieces pieces_of(const Problem& folded, std::span<const std::int64_t> block,
                 std::span<const int> order, std::int64_t Mode::* step, std::int64_t gap = 0);

struct BlockPieces {
  Pieces in;
  Pieces out;
  std::int64_t blocks = 1;  // in all
};

BlockPieces block_pieces(const Problem& folded, std::span<const std::int64_t> block);

}  // namespace ttlg::cpu
