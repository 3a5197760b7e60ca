// Runs that go around the caches. Only whole lines do: a partial line written around them would
// cost a read and a write of the full line in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/kernels.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/strided_copy.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

void stream(std::byte* out, const std::byte* in, std::int64_t bytes) {
  std::int64_t head = (kLineBytes - line_offset(out)) % kLineBytes;
  if (head > bytes) head = bytes;
  move_run(out, in, head);
  std::int64_t i = head;
  for (; i + kLineBytes <= bytes; i += kLineBytes) store_line_past_caches(out + i, in + i);
  move_run(out + i, in + i, bytes - i);
}

// A run of the output that grows in pieces of at most kMostBytes, and leaves in whole lines.
class StreamedRun {
 public:
  static constexpr std::int64_t kMostBytes = 2 << 10;

  explicit StreamedRun(std::byte* out)
      : line_(out - line_offset(out)), foreign_(line_offset(out)), filled_(foreign_) {}

  // Where the next piece goes.
  std::byte* end() { return buffer_ + filled_; }

  // Stores the lines that a piece of so many bytes has made whole.
  void grow(std::int64_t bytes) {
    filled_ += bytes;
    if (filled_ < kLineBytes) return;
    std::int64_t i = 0;
    if (foreign_ > 0) {
      move_run(line_ + foreign_, buffer_ + foreign_, kLineBytes - foreign_);
      i = kLineBytes;
      foreign_ = 0;
    }
    for (; i + kLineBytes <= filled_; i += kLineBytes) {
      store_line_past_caches(line_ + i, buffer_ + i);
    }
    std::memcpy(buffer_, buffer_ + i, kLineBytes);
    line_ += i;
    filled_ -= i;
  }

  void finish() { move_run(line_ + foreign_, buffer_ + foreign_, filled_ - foreign_); }

 private:
  alignas(kLineBytes) std::byte buffer_[kMostBytes + 2 * kLineBytes];
  std::byte* line_;       // the output's line with which the buffer begins
  std::int64_t foreign_;  // bytes of that line before the run
  std::int64_t filled_;   // bytes of the buffer, those included
};

void strided_copy_streaming(const std::byte* in, std::byte* out, const BlockArguments& block) {
  const std::int64_t bytes = block.element_bytes;
  const auto advance = advance_if_busy(block);
  if (bytes >= kDirectRunBytes) {
    for (std::int64_t i = 0; i < block.out_count; ++i) {
      stream(out + block.out_by_out[i], in + block.in_by_out[i], bytes);
      advance(ceil_div(bytes, kLineBytes));
    }
    return;
  }
  const std::int64_t step = StreamedRun::kMostBytes / bytes;
  StreamedRun run(out);
  for (std::int64_t begin = 0; begin < block.out_count; begin += step) {
    BlockArguments part = block;
    part.in_by_out += begin;
    part.out_count = begin + step < block.out_count ? step : block.out_count - begin;
    move_any_elements(in, run.end(), part, advance);
    run.grow(part.out_count * bytes);
  }
  run.finish();
}

}  // namespace
}  // namespace ttlg::cpu
