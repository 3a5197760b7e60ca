// A block as one side of a problem sees it: contiguous runs, and where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cpu/memory_units.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct SideRuns {
  std::int64_t bytes = 0;               // of one run
  std::int64_t count = 1;               // in a block
  std::int64_t distinct_offsets = 1;    // of the runs, modulo a page
  std::int64_t alignment = kLineBytes;  // the largest power of two up to a line that divides where
                                        // runs begin, counted from the first
  std::int64_t total = 1;               // runs in all blocks together
  int continues = -1;  // the mode along which a run goes on in the next block; -1: none
};

// `order` lists the modes from the side's fastest one on, and `step` is their stride there. Runs
// that are at most `gap` bytes apart count as one.
SideRuns side_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::span<const int> order, std::int64_t Mode::* step, std::int64_t gap = 0);

struct BlockRuns {
  SideRuns in;
  SideRuns out;
  std::int64_t blocks = 1;  // in all
};

BlockRuns block_runs(const Problem& folded, std::span<const std::int64_t> block);

}  // namespace ttlg::cpu
