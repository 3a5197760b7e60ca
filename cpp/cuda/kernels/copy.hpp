// Copy: everything fused into one run. Words are the widest that there are, aligned in the output;
// where they are not in the input, aligned ones are loaded and shifted. The first block moves the
// bytes before and after the words.
#pragma once

#include "cuda/kernels/shifted.hpp"

namespace ttlg::cuda {

struct CopyArguments {
  std::int64_t bytes;
  std::uint32_t head;   // bytes before the first word
  std::uint32_t shift;  // bytes from an aligned word of the input to one of these
  std::int64_t words;   // whole ones after the head
};

template <int kWidth, typename Context>
TTLG_DEVICE void copy_ends(const CopyArguments& p, const Context& context) {
  if (context.block() != 0) return;
  // There is a thread for every byte.
  const std::uint32_t thread = context.thread();
  const std::int64_t byte = thread < p.head ? thread : thread + p.words * kWidth;
  // [budget: rare] Bytes before and after the words, by one block.
  context.store(byte < p.bytes, byte, context.template load<std::uint8_t>(byte < p.bytes, byte));
}

// A thread's words: the first, and how many of them are inside the array, counted in steps of all
// threads up to a batch.
struct CopyBatch {
  std::int64_t first;
  int count;

  template <typename Context>
  TTLG_DEVICE CopyBatch(const CopyArguments& p, const Context& context)
      : first(std::int64_t{context.block()} * (CopyPolicy::kThreads * CopyPolicy::kBatch) +
              context.thread()) {
    constexpr std::int64_t kMaxWords = CopyPolicy::kThreads * CopyPolicy::kBatch;
    count = static_cast<int>(std::min(p.words - first, kMaxWords));
  }

  TTLG_DEVICE bool has(int b) const { return b * CopyPolicy::kThreads < count; }
};

template <int kWidth, typename Context>
TTLG_DEVICE void copy(const CopyArguments& p, const Context& context) {
  constexpr int kBatch = CopyPolicy::kBatch;
  constexpr int kStep = CopyPolicy::kThreads * kWidth;
  const CopyBatch batch(p, context);
  const std::int64_t begin = p.head + batch.first * kWidth;
  Word<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    held[b] = context.template load<Word<kWidth>>(batch.has(b), begin + b * kStep);
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) context.store(batch.has(b), begin + b * kStep, held[b]);
  copy_ends<kWidth>(p, context);
}

// A whole batch, of which every word exists, or what is left.
template <int kWidth, typename Context, typename Has>
TTLG_DEVICE void copy_shifted_batch(const CopyArguments& p, const Context& context,
                                    std::int64_t begin, const Has& has) {
  constexpr int kBatch = CopyPolicy::kBatch;
  constexpr int kStep = CopyPolicy::kThreads * kWidth;
  // In a register, where the compiler would ask the constant for every word.
  const std::uint32_t shift = opaque(p.shift);
  const bool ends_warp = context.thread() % kWarpSize == kWarpSize - 1;
  WordPair<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    const Source from(context, begin - shift + b * kStep);
    held[b] = load_pair<kWidth>(from, has(b, 0), ends_warp || !has(b, 1));
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    context.store(has(b, 0), begin + b * kStep,
                  cut_out(context, held[b], ends_warp || !has(b, 1), shift));
  }
}

template <int kWidth, typename Context>
TTLG_DEVICE void copy_shifted(const CopyArguments& p, const Context& context) {
  constexpr std::int64_t kWords = CopyPolicy::kThreads * CopyPolicy::kBatch;
  const std::int64_t block = context.block() * kWords;
  const std::int64_t begin = p.head + (block + context.thread()) * kWidth;
  if (block + kWords < p.words) {
    copy_shifted_batch<kWidth>(p, context, begin, [](int, int) { return true; });
  } else {
    const int count = static_cast<int>(p.words - block) - static_cast<int>(context.thread());
    const auto remains = [&](int b, int next) { return b * CopyPolicy::kThreads + next < count; };
    // [budget: rare] The end of the array cuts a block short.
    copy_shifted_batch<kWidth>(p, context, begin, remains);
  }
  copy_ends<kWidth>(p, context);
}

}  // namespace ttlg::cuda
