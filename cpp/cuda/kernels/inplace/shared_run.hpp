// A run of bytes in global memory, and a copy of it in shared memory. It is copied by 16 bytes
// where these are aligned in global memory, and by words at both ends.
#pragma once

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"

namespace ttlg::cuda {

// Words a power of two apart would all lie in the same bank of shared memory. So the 16-byte parts
// of a line change places, by the number of the line.
TTLG_DEVICE std::uint32_t swizzled(std::uint32_t offset) {
  return offset ^ (((offset >> 3) ^ (offset >> 6) ^ (offset >> 9)) & 0x70);
}

template <int kWidth>
class SharedRun {
 public:
  // `phase` is the distance of its beginning from a multiple of 16 bytes.
  TTLG_DEVICE SharedRun(std::int64_t begin, std::uint32_t phase, std::uint32_t bytes)
      : origin_(begin - phase), phase_(phase), end_(phase + bytes) {
    const std::uint32_t whole = end_ & ~15u;
    first_ = (phase_ + 15) & ~15u;
    last_ = whole < first_ ? first_ : whole;
  }

  template <typename Context>
  TTLG_DEVICE void fill(const Context& context, std::uint32_t threads) const {
    const SharedCursor shared = all_shared(context);
    Source from(context, first_part(context));
    for_parts(context, threads, [&](bool valid, std::uint32_t offset) {
      shared.template copy_async<16>(valid, from, swizzled(offset));
      from.advance(16 * threads);
    });
    at_end(context, [&](bool valid, std::uint32_t offset) {
      context.shared_store(valid, swizzled(offset),
                           context.template load<Word<kWidth>>(valid, origin_ + offset));
    });
  }

  template <typename Context>
  TTLG_DEVICE void drain(const Context& context, std::uint32_t threads) const {
    const SharedCursor shared = all_shared(context);
    Target to(context, first_part(context));
    for_parts(context, threads, [&](bool valid, std::uint32_t offset) {
      to.store(valid, shared.template load<Word16>(valid, swizzled(offset)));
      to.advance(16 * threads);
    });
    at_end(context, [&](bool valid, std::uint32_t offset) {
      context.store(valid, origin_ + offset,
                    context.template shared_load<Word<kWidth>>(valid, swizzled(offset)));
    });
  }

 private:
  template <typename Context>
  TTLG_DEVICE std::int64_t first_part(const Context& context) const {
    return origin_ + first_ + 16 * context.thread();
  }

  template <typename Context, typename Move>
  TTLG_DEVICE void for_parts(const Context& context, std::uint32_t threads,
                             const Move& move) const {
    constexpr std::uint32_t kUnrolled = 4;
    const std::uint32_t step = 16 * threads;
    std::uint32_t offset = first_ + 16 * context.thread();
    for (std::uint32_t all = first_; all < last_; all += kUnrolled * step) {
      TTLG_UNROLL
      for (std::uint32_t i = 0; i < kUnrolled; ++i) {
        move(offset < last_, offset);
        offset += step;
      }
    }
  }

  // A thread for every word before the first part and after the last one.
  template <typename Context, typename Move>
  TTLG_DEVICE void at_end(const Context& context, const Move& move) const {
    if constexpr (kWidth < 16) {
      const std::uint32_t end = first_ < end_ ? first_ : end_;
      const bool is_head = context.thread() < 16;
      const std::uint32_t at =
          is_head ? phase_ + kWidth * context.thread() : last_ + kWidth * (context.thread() - 16);
      if (context.thread() < kWarpSize) move(at < (is_head ? end : end_), at);
    }
  }

  std::int64_t origin_;
  std::uint32_t phase_;
  std::uint32_t first_;  // byte of the first part, and beyond the last
  std::uint32_t last_;
  std::uint32_t end_;
};

}  // namespace ttlg::cuda
