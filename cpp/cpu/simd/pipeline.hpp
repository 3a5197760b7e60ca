// What advances a block pipeline: prefetches the next block's lines and flushes the lines of the
// block before from its staging buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/pipeline.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

[[gnu::always_inline]] inline bool is_done(const PrefetchQueue& queue) {
  return queue.range >= queue.ranges.size();
}

// kLocality as __builtin_prefetch takes it: 3 for L1, 2 for L2.
template <int kLocality>
[[gnu::always_inline]] inline void prefetch_into(PrefetchQueue& queue, std::int64_t lines) {
  for (; lines > 0 && !is_done(queue); --lines) {
    const std::byte* const range = queue.next + queue.ranges[queue.range];
    __builtin_prefetch(range + queue.byte, 0, kLocality);
    queue.byte += kLineBytes;
    if (queue.byte < queue.range_bytes) continue;
    __builtin_prefetch(range + queue.range_bytes - 1, 0, kLocality);
    queue.byte = 0;
    ++queue.range;
  }
}

[[gnu::always_inline]] inline void prefetch(PrefetchQueue& queue, std::int64_t lines) {
  kPrefetchesIntoL2 ? prefetch_into<2>(queue, lines) : prefetch_into<3>(queue, lines);
}

// What lies of a run before its first whole line, or after its last one, goes through the caches
// unless the neighbouring block makes the line whole.
inline std::int64_t flush_head(const StoreQueue& queue, std::byte* out, const std::byte* staging) {
  const std::int64_t offset = line_offset(out);
  if (offset == 0) return 0;
  if (queue.continued) return -offset;
  const std::int64_t head =
      kLineBytes - offset < queue.run_bytes ? kLineBytes - offset : queue.run_bytes;
  move_run(out, staging, head);
  return head;
}

inline void flush_tail(const StoreQueue& queue, const StagedRun& run) {
  const std::int64_t rest = queue.run_bytes - queue.byte;
  if (rest == 0) return;
  // The run goes on at `rest` bytes into its line.
  std::byte* const to = queue.continues_at == nullptr ? queue.out + run.out + queue.byte
                                                      : queue.continues_at + run.staging - rest;
  move_run(to, queue.staging + run.staging + queue.byte, rest);
}

inline void flush_through_caches(StoreQueue& queue, std::int64_t lines) {
  for (; lines > 0 && queue.run < queue.runs.size(); ++queue.run) {
    const StagedRun& run = queue.runs[queue.run];
    move_run(queue.out + run.out, queue.staging + run.staging, queue.run_bytes);
    lines -= ceil_div(queue.run_bytes, kLineBytes);
  }
}

// Streams a staged block's whole lines.
inline void flush(StoreQueue& queue, std::int64_t lines) {
  if (!queue.streaming) return flush_through_caches(queue, lines);
  while (lines > 0 && queue.run < queue.runs.size()) {
    const StagedRun& run = queue.runs[queue.run];
    std::byte* const out = queue.out + run.out;
    const std::byte* const staging = queue.staging + run.staging;
    if (queue.byte == 0) {
      queue.byte = flush_head(queue, out, staging);
      --lines;
    }
    const std::int64_t left = (queue.run_bytes - queue.byte) / kLineBytes;
    const std::int64_t now = lines < left ? lines : left;
    for (std::int64_t i = 0; i < now; ++i) {
      store_line_past_caches(out + queue.byte + i * kLineBytes,
                             staging + queue.byte + i * kLineBytes);
    }
    queue.byte += now * kLineBytes;
    lines -= now;
    if (now < left) return;
    flush_tail(queue, run);
    queue.byte = 0;
    ++queue.run;
  }
}

inline bool is_done(const StoreQueue& queue) { return queue.run >= queue.runs.size(); }

inline void advance(BlockPipeline& pipeline, std::int64_t lines) {
  prefetch(pipeline.prefetches, lines);
  if (!is_done(pipeline.stores)) flush(pipeline.stores, lines);
}

inline bool is_busy(const BlockPipeline& pipeline) {
  return !is_done(pipeline.prefetches) || !is_done(pipeline.stores);
}

// For kernels of many instances, each of which would repeat the code.
[[gnu::noinline]] void advance_out_of_line(BlockPipeline& pipeline, std::int64_t lines) {
  advance(pipeline, lines);
}

// Advances a block's pipeline if it had anything to do when the block began.
struct Advance {
  BlockPipeline& pipeline;
  bool is_needed;

  [[gnu::always_inline]] inline void operator()(std::int64_t lines) const {
    if (is_needed) advance_out_of_line(pipeline, lines);
  }
};

inline Advance advance_if_busy(const BlockArguments& block) {
  return {*block.pipeline, is_busy(*block.pipeline)};
}

}  // namespace
}  // namespace ttlg::cpu
