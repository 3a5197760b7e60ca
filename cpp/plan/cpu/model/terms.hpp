// What the time of a plan depends on: counts of what memory, caches and instructions do for it,
// each in a unit of about the same duration wherever it occurs. The time model gives every term its
// seconds.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "tensor/width.hpp"

namespace ttlg::cpu {

// Where lines are found or left: in L2, in the last-level cache, in memory; or written around the
// caches, staged or not.
inline constexpr std::size_t kReadLevels = 3;
inline constexpr std::size_t kWriteLevels = 5;
// Bytes of runs: shorter ones take longer a line.
inline constexpr std::array<double, 8> kRunLimits{64, 128, 256, 512, 1024, 2048, 4096, 8192};
// Pages and rows that a block touches.
inline constexpr std::array<double, 3> kCountLimits{16, 64, 256};
// Parts of L1 that a block or its staging buffer takes.
inline constexpr std::array<double, 5> kPartsOfL1{0.25, 0.5, 1, 2, 8};

// Terms of one side of a plan, in lines.
struct SideTerms {
  double lines = 0;
  double split = 0;   // lines that two runs share, each visited at another time
  double shared = 0;  // the same where the next block goes on from this one
  std::array<double, kRunLimits.size()> run_below{};
  std::array<double, kCountLimits.size()> pages_above{};
  std::array<double, kCountLimits.size()> rows_above{};
  double aliasing = 0;   // times that powers of two in strides halve the sets in use
  double conflicts = 0;  // lines of runs that share a set with more of them than it holds
  double new_pages = 0;  // pages that were not in the block before
};

// Terms of the work between the sides.
struct WorkTerms {
  // Lines of plain copies, which are prefetched by the hardware and have no blocks, by where they
  // are; through the caches and around them.
  std::array<double, kReadLevels> copied{};
  std::array<double, kReadLevels> stream_copied{};
  // Lines of blocks and of their staging buffers that are larger than parts of L1, and of L2.
  double staged = 0;
  std::array<double, kPartsOfL1.size()> staging_above{};
  std::array<double, kPartsOfL1.size()> block_above{};           // written through the caches
  std::array<double, kPartsOfL1.size()> streamed_block_above{};  // and around them
  // Lines of the input that blocks which are streamed directly read behind their end, to make whole
  // the output's lines that end there.
  double overlap = 0;
  // Rows of all blocks that are streamed directly and begin at different places of their lines.
  double carried_rows = 0;
  // Tiles, in lines that they would move if each were moved once, by the width of elements.
  std::array<double, kWidths.size()> wide_tiles{};
  std::array<double, kWidths.size()> narrow_tiles{};
  std::array<double, kWidths.size()> lane_tiles{};
  // Shuffle programs, in vectors of all lanes: what is loaded and stored, the rounds of those for
  // tiles of powers of two, and the terms of all others.
  double shuffle_moves = 0;
  double shuffle_rounds = 0;
  double shuffle_terms = 0;
  // The strided copy of runs whose lines are put together in registers: these lines, and the
  // elements that they are of.
  double gathered_lines = 0;
  double gathered_elements = 0;
  // The strided copy otherwise: elements, those of them that are no power of two in bytes, and
  // those that leave around the caches without a staging buffer; vectors of the runs that they are,
  // and its inner loops.
  double elements = 0;
  double odd_elements = 0;
  double streamed_elements = 0;
  double vectors = 0;
  double loops = 0;
  double calls = 0;  // of a kernel
  double blocks = 0;
  double fresh_pages = 0;  // that are written to for the first time
  // Not divided among the threads.
  double call = 1;
  double team = 0;  // log2 of the threads: they are woken and waited for in a tree
  // Rows of the output that go on from one thread's blocks to another's, and those of them that do
  // so within a line.
  double team_rows = 0;
  double team_lines = 0;
};

// The lines that are read, by how many blocks ahead they are prefetched: 0, 1, 2 or 3, more.
using PrefetchTerms = std::array<double, 4>;

// What is counted for a plan: either side once, and how much of it lies where.
struct Terms : WorkTerms {
  SideTerms read{};
  PrefetchTerms prefetched{};
  double all_read = 0;  // lines, not divided among the threads
  std::array<double, kReadLevels> read_from{};
  SideTerms written{};
  double all_written = 0;
  std::array<double, kWriteLevels> written_to{};
};

// The same with the counts of a side at every level, each of which has its own seconds.
struct LevelTerms {
  std::array<SideTerms, kReadLevels> read{};
  std::array<SideTerms, kReadLevels> unprefetched{};  // the same once more where nothing is
  std::array<PrefetchTerms, kReadLevels> prefetched{};
  std::array<SideTerms, kWriteLevels> written{};
  WorkTerms work{};
  std::array<double, kReadLevels> all_read{};
  std::array<double, kWriteLevels> all_written{};
};

inline constexpr std::size_t kTerms = sizeof(LevelTerms) / sizeof(double);
using TermValues = std::array<double, kTerms>;  // of all numbers in LevelTerms, in their order

// The counts by level, in which a predicted time is linear.
TermValues values_of(const Terms& terms);

// What each of them is called.
const std::array<std::string, kTerms>& term_names();

// The place of a term in TermValues; kTerms where there is none of this name.
std::size_t term_number(std::string_view name);

}  // namespace ttlg::cpu
