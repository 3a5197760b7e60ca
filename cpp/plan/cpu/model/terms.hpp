// What the time of a plan depends on: counts of what memory, caches and instructions do for it,
// each in a unit of about the same duration wherever it occurs. The time model gives every term its
// seconds. Terms without which the plans that models chose were as fast have been left out.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>

namespace ttlg::cpu {

// Where lines are found or left: in L2, in the last-level cache, in memory.
inline constexpr std::size_t kMemoryLevels = 3;
using ByLevel = std::array<double, kMemoryLevels>;

struct Terms {
  // Lines that are read: those that are prefetched one block ahead, and two or more; those of
  // memory that nothing prefetches; those that two runs share, each visited at another time, and
  // those where the next block goes on from this one; those of runs of few bytes; and how often
  // powers of two in strides halve the sets in use.
  ByLevel read_prefetched_1{};
  ByLevel read_prefetched_2{};
  double read_memory_unprefetched = 0;
  ByLevel read_split{};
  double read_continued = 0;
  ByLevel read_run_below_64{};
  ByLevel read_run_below_2048{};
  double read_memory_run_below_512 = 0;
  double read_shared_aliasing = 0;
  double read_memory_aliasing = 0;
  // Lines that are written through the caches: all, those of blocks of many rows, those of rows
  // that share a set with more of them than it holds, and those that two blocks share.
  ByLevel written_lines{};
  ByLevel written_rows_above_16{};
  double written_conflicts = 0;
  double written_continued = 0;
  // Around the caches, from a staging buffer or directly; all of them, not divided among the
  // threads.
  double written_staged_split = 0;
  double written_staged_run_below_64 = 0;
  double written_direct_lines = 0;
  double written_direct_split = 0;
  double written_direct_aliasing = 0;
  double all_streamed = 0;
  // Lines of plain copies, which are prefetched by the hardware and have no blocks, by where they
  // are; through the caches and around them. So are those of views in their own order, and what
  // lies between elements counts half, as it is read alone.
  ByLevel copied{};
  ByLevel stream_copied{};
  // Lines that pass through a buffer, and those of buffers and of blocks that are larger than a
  // part of L1.
  double staged = 0;
  double stage_above_quarter_of_l1 = 0;
  double streamed_block_above_twice_l1 = 0;
  // Rows of all blocks that are streamed directly and begin at different places of their lines.
  double carried_rows = 0;
  // Tiles, in lines that they would move if each were moved once: all of a kind, of those that are
  // transposed in lanes those whose elements fill one; and all elements that tiles move.
  double wide_tiles = 0;
  double narrow_tiles = 0;
  double lane_tiles = 0;
  double whole_lane_tiles = 0;
  double tile_elements = 0;
  // Shuffle programs, in vectors of all lanes: what is loaded and stored, and what is done between.
  double shuffle_moves = 0;
  double shuffle_steps = 0;
  // What generated code loads and stores instead.
  double generated_moves = 0;
  // The strided copy: lines that are put together in registers; elements that leave around the
  // caches otherwise, without a staging buffer; vectors of the runs that are moved one by one.
  double gathered_lines = 0;
  double streamed_elements = 0;
  double vectors = 0;
  double calls = 0;  // of a kernel
  double blocks = 0;
  double fresh_pages = 0;  // that are written to for the first time
  // Not divided among the threads.
  double call = 1;
  double team = 0;  // log2 of the threads: they are woken and waited for in a tree
  // Rows of the output that go on from one thread's blocks to another's within a line.
  double team_lines = 0;
};

inline constexpr std::size_t kTerms = sizeof(Terms) / sizeof(double);
using TermValues = std::array<double, kTerms>;  // of all numbers in Terms, in their order

// The counts, in which a predicted time is linear.
inline TermValues values_of(const Terms& terms) { return std::bit_cast<TermValues>(terms); }

// What each of them is called.
const std::array<std::string, kTerms>& term_names();

// The place of a term in TermValues; kTerms where there is none of this name.
std::size_t term_number(std::string_view name);

}  // namespace ttlg::cpu
