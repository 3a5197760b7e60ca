// A run of bytes in global memory, and a copy of it in shared memory. It is copied by words as wide
// as a bank of shared memory or wider, and by narrower ones at both ends.
#pragma once

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"

namespace ttlg::cuda {

// Words at equal distances may all lie in the same bank of shared memory. So the words of a line
// change places, by bits of the offset that the host chooses for these distances.
struct LineSwizzle {
  std::uint32_t shift = 0;
  std::uint32_t mask = 0;

  TTLG_DEVICE std::uint32_t operator()(std::uint32_t offset) const {
    return offset ^ ((offset >> shift) & mask);
  }
};

template <int kWidth>
class SharedRun {
 public:
  // The run begins at byte `begin` of the array, and that `address` bytes after a line.
  TTLG_DEVICE SharedRun(const LineSwizzle& swizzle, std::int64_t begin, std::uint32_t bytes,
                        std::uint32_t address)
      : swizzle_(swizzle), begin_(begin), bytes_(bytes) {
    const auto at = static_cast<std::uint32_t>(begin) + address;
    phase_ = at % kPart;
    const std::uint32_t head = -phase_ % kPart;
    head_ = head < bytes ? head : bytes;
    whole_ = (bytes - head_) / kPart * kPart;
    lead_ = (at + head_) % kSharedLineBytes;
  }

  // Where it begins in shared memory: as many bytes after a word as in global memory.
  TTLG_DEVICE std::uint32_t phase() const { return phase_; }

  template <typename Context>
  TTLG_DEVICE void fill(const Context& context, std::uint32_t threads) const {
    const SharedCursor shared = all_shared(context);
    Source from(context, begin_ + head_ + first_part(context));
    for_parts(context, threads, [&](bool valid, std::uint32_t offset) {
      shared.template copy_async<kPart>(valid, from, swizzle_(offset));
      from.advance(kPart * threads);
    });
    at_ends(context, [&](bool valid, std::uint32_t at, std::uint32_t offset) {
      context.shared_store(valid, swizzle_(offset),
                           context.template load<Word<kWidth>>(valid, begin_ + at));
    });
  }

  template <typename Context>
  TTLG_DEVICE void drain(const Context& context, std::uint32_t threads) const {
    const SharedCursor shared = all_shared(context);
    Target to(context, begin_ + head_ + first_part(context));
    for_parts(context, threads, [&](bool valid, std::uint32_t offset) {
      to.store(valid, shared.template load<Word<kPart>>(valid, swizzle_(offset)));
      to.advance(kPart * threads);
    });
    at_ends(context, [&](bool valid, std::uint32_t at, std::uint32_t offset) {
      context.store(valid, begin_ + at,
                    context.template shared_load<Word<kWidth>>(valid, swizzle_(offset)));
    });
  }

 private:
  static constexpr int kPart = RowShufflePolicy::part_bytes(kWidth);

  // Of a thread, from the first part on; warps begin with lines of global memory, so the first
  // threads' may lie before it.
  template <typename Context>
  TTLG_DEVICE std::int32_t first_part(const Context& context) const {
    return static_cast<std::int32_t>(kPart * context.thread() - lead_);
  }

  template <typename Context, typename Move>
  TTLG_DEVICE void for_parts(const Context& context, std::uint32_t threads,
                             const Move& move) const {
    constexpr std::uint32_t kUnrolled = 4;
    const std::uint32_t step = kPart * threads;
    const std::uint32_t first = kPart == kWidth ? 0 : phase_ + head_;  // its offset
    auto part = static_cast<std::uint32_t>(first_part(context));
    for (std::uint32_t all = 0; all < lead_ + whole_; all += kUnrolled * step) {
      TTLG_UNROLL
      for (std::uint32_t i = 0; i < kUnrolled; ++i) {
        move(part < whole_, first + part);
        part += step;
      }
    }
  }

  // A thread for every word before the first part and after the last one.
  template <typename Context, typename Move>
  TTLG_DEVICE void at_ends(const Context& context, const Move& move) const {
    if constexpr (kWidth < kPart) {
      const bool is_head = context.thread() < kPart;
      const std::uint32_t at = is_head ? kWidth * context.thread()
                                       : head_ + whole_ + kWidth * (context.thread() - kPart);
      if (context.thread() < kWarpSize) move(at < (is_head ? head_ : bytes_), at, phase_ + at);
    }
  }

  LineSwizzle swizzle_;
  std::int64_t begin_;
  std::uint32_t bytes_;
  std::uint32_t phase_;
  std::uint32_t head_;   // bytes before the first part
  std::uint32_t whole_;  // of all parts
  std::uint32_t lead_;   // from a line to the first part
};

}  // namespace ttlg::cuda
