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

// Bytes of a row of the output that a block stores, from its first one on: it finishes the line in
// which it ends, if the row goes on.
inline std::int64_t stored_bytes(const std::byte* out, const BlockArguments& block) {
  const std::int64_t own = block.out_count * block.element_bytes;
  const std::int64_t rest = (kLineBytes - line_offset(out + own)) % kLineBytes;
  const std::int64_t following = block.following * block.element_bytes;
  return own + (rest < following ? rest : following);
}

// A run of the output that grows in parts of at most kMaxBytes, and leaves in whole lines.
class StreamedRun {
 public:
  static constexpr std::int64_t kMaxBytes = 2 << 10;

  // Another block stores the line in which a continued run begins.
  void begin(std::byte* out, bool continued) {
    foreign_ = filled_ = line_offset(out);
    line_ = out - foreign_;
    continued_ = continued;
  }

  // Where the next part goes.
  std::byte* end() { return buffer_ + filled_; }

  // Stores the lines that a part of `bytes` has made whole.
  void grow(std::int64_t bytes) {
    filled_ += bytes;
    if (filled_ < kLineBytes) return;
    std::int64_t i = 0;
    if (foreign_ > 0) {
      if (!continued_) move_run(line_ + foreign_, buffer_ + foreign_, kLineBytes - foreign_);
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

  void finish() {
    if (foreign_ > 0 && continued_) return;
    move_run(line_ + foreign_, buffer_ + foreign_, filled_ - foreign_);
  }

 private:
  alignas(kLineBytes) std::byte buffer_[kMaxBytes + 2 * kLineBytes];
  std::byte* line_;       // the output's line with which the buffer begins
  std::int64_t foreign_;  // bytes of that line before the run
  std::int64_t filled_;   // bytes of the buffer, those included
  bool continued_;
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
  const std::int64_t step = StreamedRun::kMaxBytes / bytes;
  const std::int64_t stored = stored_bytes(out, block);
  const std::int64_t count = ceil_div(stored, bytes);
  StreamedRun run;
  run.begin(out, block.continued);
  for (std::int64_t begin = 0; begin < count; begin += step) {
    BlockArguments part = block;
    part.in_by_out += begin;
    part.out_count = begin + step < count ? step : count - begin;
    move_any_elements(in, run.end(), part, advance);
    const std::int64_t left = stored - begin * bytes;
    run.grow(part.out_count * bytes < left ? part.out_count * bytes : left);
  }
  run.finish();
}

}  // namespace
}  // namespace ttlg::cpu
