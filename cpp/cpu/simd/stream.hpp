// Runs that go around the caches. Only whole lines do: a partial line written around them would
// cost a read and a write of the full line in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

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

#if defined(__AVX512BW__)

// The mask of a line's first bytes; of all of them where `count` is more.
constexpr std::uint64_t first_bytes(std::int64_t count) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  return count < kLineBytes ? ~(kAll << count) : kAll;
}

// A run of the output whose lines are put together in registers, each from the one or two elements
// of which it holds a part: elements of a line or more.
class GatheredRun {
 public:
  // `at`: where in the first element the first line begins.
  GatheredRun(const std::byte* in, const BlockArguments& block, std::int64_t at)
      : in_(in), element_(block.in_by_out), bytes_(block.element_bytes), at_(at) {}

  // The next bytes, a line or its first part. What follows them is not read: it may lie outside the
  // array.
  [[gnu::always_inline]] __m512i gather(std::int64_t count) {
    const std::uint64_t places = first_bytes(count);
    const std::uint64_t first = first_bytes(bytes_ - at_);
    const std::byte* const from = in_ + *element_ + at_;
    at_ += count;
    if (at_ < bytes_) return _mm512_loadu_si512(from);  // parts of lines end with an element
    at_ -= bytes_;
    ++element_;
    if (at_ == 0) return _mm512_maskz_loadu_epi8(places, from);
    const std::byte* const next = in_ + *element_ + at_ - count;
    return _mm512_mask_loadu_epi8(_mm512_maskz_loadu_epi8(first, from), places & ~first, next);
  }

 private:
  const std::byte* in_;
  const std::int64_t* element_;  // in the table of their offsets
  std::int64_t bytes_;           // of an element
  std::int64_t at_;              // of them, where the next line begins
};

void gather_run(const std::byte* in, std::byte* out, const BlockArguments& block,
                const Advance& advance) {
  constexpr std::int64_t kAtOnce = 8;
  const std::int64_t offset = line_offset(out);
  const std::int64_t end = offset + stored_bytes(out, block);
  std::byte* const lines = out - offset;
  // Partial lines must be read before they are written. Ordered first and stored last, they hold up
  // no store of a whole line.
  const std::uint64_t head =
      offset > 0 && !block.continued ? first_bytes(end) & ~first_bytes(offset) : 0;
  const std::int64_t tail = end / kLineBytes * kLineBytes;
  if (head != 0) __builtin_prefetch(lines, 1);
  if (tail < end) __builtin_prefetch(lines + tail, 1);
  std::int64_t i = offset > 0 ? kLineBytes : 0;
  GatheredRun run(in, block, i - offset);
  for (std::int64_t stored = 1; i < tail; i += kLineBytes, ++stored) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(lines + i), run.gather(kLineBytes));
    if (stored % kAtOnce == 0) advance(kAtOnce);
  }
  if (i < end) _mm512_mask_storeu_epi8(lines + i, first_bytes(end - i), run.gather(end - i));
  if (head != 0) {
    const std::byte* const from = in + block.in_by_out[0] - offset;
    _mm512_mask_storeu_epi8(lines, head, _mm512_maskz_loadu_epi8(head, from));
  }
}

#endif

template <typename V, int... kI>
[[gnu::always_inline]] inline V reversed(V vector, std::integer_sequence<int, kI...>) {
  return __builtin_shufflevector(vector, vector, (int{sizeof...(kI)} - 1 - kI)...);
}

// A run of the output whose elements lie `kStep` elements apart in the input: backwards, or one
// that is repeated.
template <typename T, int kStep>
void stream_evenly(const std::byte* in, std::byte* out, const BlockArguments& block,
                   const Advance& advance) {
  static_assert(kStep == 0 || kStep == -1);
  using V = VectorOf<T, kVectorBytes>;
  constexpr auto kIndices = std::make_integer_sequence<int, kVectorBytes / int{sizeof(T)}>{};
  constexpr std::int64_t kBytes = sizeof(T);
  constexpr std::int64_t kAtOnce = 8;
  const auto move = [&](std::int64_t begin, std::int64_t end) {
    move_evenly<T>(in + kStep * begin, kStep * kBytes, out + begin, kBytes, (end - begin) / kBytes);
  };
  const auto vector_at = [&](std::int64_t at) {
    if constexpr (kStep == 0)
      return V{} + load<T>(in);
    else
      return reversed(load<V>(in + kBytes - at - kVectorBytes), kIndices);
  };
  const std::int64_t end = stored_bytes(out, block);
  const std::int64_t own_line = (kLineBytes - line_offset(out)) % kLineBytes;
  std::int64_t at = own_line < end ? own_line : end;
  const std::int64_t tail = at + (end - at) / kLineBytes * kLineBytes;
  // Partial lines must be read before they are written.
  if (at > 0 && !block.continued) __builtin_prefetch(out, 1);
  if (tail < end) __builtin_prefetch(out + tail, 1);
  if (!block.continued) move(0, at);
  for (std::int64_t stored = 1; at < tail; ++stored) {
    for (const std::int64_t line = at + kLineBytes; at < line; at += kVectorBytes) {
      store_past_caches<kVectorBytes>(out + at,
                                      reinterpret_cast<Bytes<kVectorBytes>>(vector_at(at)));
    }
    if (stored % kAtOnce == 0) advance(kAtOnce);
  }
  move(tail, end);
}

// Whether the block is such a run, and was moved.
template <typename T>
bool streams_evenly(const std::byte* in, std::byte* out, const BlockArguments& block,
                    const Advance& advance) {
  const std::int64_t bytes = sizeof(T);
  if (block.element_bytes != bytes || !block.out_is_even || block.in_count > 1) return false;
  if (block.out_count < 2 || line_offset(out) % bytes != 0) return false;
  const std::int64_t step = block.in_by_out[1] - block.in_by_out[0];
  if (step != 0 && step != -bytes) return false;
  (step == 0 ? stream_evenly<T, 0> : stream_evenly<T, -1>)(in, out, block, advance);
  return true;
}

void strided_copy_streaming(const std::byte* in, std::byte* out, const BlockArguments& block) {
  const std::int64_t bytes = block.element_bytes;
  const auto advance = advance_if_busy(block);
  if (streams_evenly<std::uint8_t>(in, out, block, advance) ||
      streams_evenly<std::uint16_t>(in, out, block, advance) ||
      streams_evenly<std::uint32_t>(in, out, block, advance) ||
      streams_evenly<std::uint64_t>(in, out, block, advance)) {
    return;
  }
#if defined(__AVX512BW__)
  if (bytes >= kLineBytes) return gather_run(in, out + block.out_by_out[0], block, advance);
#endif
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
