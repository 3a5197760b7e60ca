// The block pipeline: while a block is moved, the lines of one ahead of it are prefetched and the
// lines of the block before are flushed from its staging buffer. Both a few at a time, so that
// memory always has something to read and something to write and its queues never overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/cpu/block/block.hpp"

namespace ttlg::cpu {

// The place of a byte within its line. Always inlined: a function that the files of several SIMD
// levels share must not be emitted by one of them for all.
[[gnu::always_inline]] inline std::int64_t line_offset(const std::byte* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

// Where blocks are prefetched to. A Zen 4 reads up to twice as fast by prefetches into L2 as by
// those into L1, and Intel's processors were measured with the former only. A Zen 5 drops
// prefetches into L2 that come faster than memory serves them, while those into L1 wait; a line
// that must leave L1 before its block is moved is still in L2.
extern const bool kPrefetchesIntoL2;

// Lines of a later block that are still to be prefetched, range by range; see Block::ranges.
struct PrefetchQueue {
  const std::byte* next = nullptr;  // the block's first byte
  std::span<const std::int64_t> ranges{};
  std::int64_t range_bytes = 0;
  std::size_t range = 0;
  std::int64_t byte = 0;  // of the range
};

// Offsets of one run of a staged block in the buffer and in the output, which are equal modulo a
// line.
struct StagedRun {
  std::int64_t staging;
  std::int64_t out;
};

// Runs of a staged block that are still to be stored.
struct StoreQueue {
  std::byte* staging = nullptr;
  std::byte* out = nullptr;
  std::span<const StagedRun> runs{};
  std::int64_t run_bytes = 0;
  bool streaming = true;  // around the caches; otherwise all at once, run by run
  // The first line of each run is whole: the block before left its part in this buffer.
  bool continued = false;
  // The last, partial line of each run waits for the next block, whose buffer begins here.
  std::byte* continues_at = nullptr;
  std::size_t run = 0;
  std::int64_t byte = 0;  // of the run; where it is whole lines, the first of the next one
};

struct BlockPipeline {
  PrefetchQueue prefetches{};
  StoreQueue stores{};
};

}  // namespace ttlg::cpu
