// Copy: everything fused into one run. Words are as wide as the distance of the two pointers
// allows; bytes before the output's first aligned word and after its last are moved by
// the first block.
#pragma once

#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

struct CopyArguments {
  std::int64_t bytes;
  std::int64_t head;   // bytes before the first word; less than a word
  std::int64_t words;  // whole ones after the head
};

template <int kWidth, typename Context>
TTLG_DEVICE void copy(const CopyArguments& p, const Context& context) {
  using Policy = CopyPolicy;
  const std::int64_t first =
      std::int64_t{context.block()} * (Policy::kThreads * Policy::kBatch) + context.thread();
  Word<kWidth> held[Policy::kBatch];
  TTLG_UNROLL
  for (int b = 0; b < Policy::kBatch; ++b) {
    const std::int64_t word = first + b * Policy::kThreads;
    held[b] = context.template load<Word<kWidth>>(word < p.words, p.head + word * kWidth);
  }
  TTLG_UNROLL
  for (int b = 0; b < Policy::kBatch; ++b) {
    const std::int64_t word = first + b * Policy::kThreads;
    context.store(word < p.words, p.head + word * kWidth, held[b]);
  }
  if (context.block() != 0) return;
  // Head and tail together are less than two words, so there is a thread for every byte.
  const std::int64_t tail = p.head + p.words * kWidth;
  const std::int64_t thread = context.thread();
  const std::int64_t byte = thread < p.head ? thread : tail + (thread - p.head);
  context.store(byte < p.bytes, byte, context.template load<std::uint8_t>(byte < p.bytes, byte));
}

}  // namespace ttlg::cuda
