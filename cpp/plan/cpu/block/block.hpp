// A block: the part of a problem that is moved at once, cut out of the modes that vary fastest on
// either side, so that whole lines are read and whole lines are written (the slices of TTLG,
// section III; the blocks of GenTT, section 4.1, at the size of a cache instead of a register
// file).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/cpu/block/axis_split.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// Each of the two staging buffers on a thread's stack: one is filled while the other is flushed.
inline constexpr std::int64_t kStagingBytes = 112 << 10;

// Runs of this length are streamed from their source one by one where their lines are not put
// together in registers: the partial lines at their ends weigh little, and staging would cost a
// second pass.
inline constexpr std::int64_t kDirectRunBytes = 1024;
// Shorter runs are not streamed: they may hold no whole line.
inline constexpr std::int64_t kMinStreamedRunBytes = 2 * kLineBytes;

// Several modes of a block counted as one index, with the offset of each of its values. Only the
// last of them may be cut, so that a clipped block uses the first part of the tables; they go on
// for a line's elements there, which may belong to the next block.
struct Axis {
  std::vector<int> modes;
  std::vector<std::int64_t> in;
  std::vector<std::int64_t> out;
  std::vector<std::int64_t> staging;
};

struct Block {
  std::vector<BlockMode> modes;  // the output's fastest first
  std::vector<int> in_order;     // their numbers, the input's fastest first
  // A block's elements are in_axis x out_axis x rest. in_axis begins with the input's fastest mode
  // and out_axis with the output's.
  Axis in_axis;
  Axis out_axis;
  std::vector<int> rest;
  // Where they do, the tables of the out axis go on into the next row.
  bool rows_adjoin = false;
  // The first `run_modes` modes are contiguous in the output: a run. The others count its runs.
  int run_modes = 0;
  std::int64_t run_bytes = 0;      // of a full block
  std::int64_t staging_bytes = 0;  // that its runs take in the staging buffer
  // The ranges of the input that are read for a full block, which are prefetched.
  std::int64_t range_bytes = 0;
  std::vector<std::int64_t> ranges;
  // The loop along the output's runs where blocks can begin at lines; -1 if they cannot.
  int shiftable_loop = -1;
};

// Whether blocks along the output's runs can begin and end where its lines do, wherever the output
// begins: all runs begin at the same place of a line and blocks are whole lines long, so that all
// are shifted alike.
bool can_begin_at_lines(const Problem& folded, std::span<const std::int64_t> extents);

// loops[m] is the loop over mode m of the folded problem, or -1.
Block make_block(const Problem& folded, const Parameters& parameters, std::span<const int> loops);

}  // namespace ttlg::cpu
