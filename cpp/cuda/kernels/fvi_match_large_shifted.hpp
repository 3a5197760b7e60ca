// FVI-Match-Large for runs whose bytes have no wide words in common, since lengths, strides or
// pointers are odd: each run has its own alignment in the input and in the output. Words of the
// output are cut out of the input's, and single bytes are moved at both ends of a run.
#pragma once

#include "cuda/kernels/shifted.hpp"

namespace ttlg::cuda {

struct MatchLargeShiftedArguments {
  Coarsening coarsening;
  // The grid counts runs; its mode 1 the chunks of one.
  std::uint32_t runs;   // in all, chunks counted apart
  int group_shift;      // log2 of the lanes of a group, of which there is one for every end byte
  std::uint32_t bytes;  // of a chunk
  std::uint32_t last_bytes;  // of the last chunk of a run
  int steps;                 // of a group along a chunk, at most
  std::uint32_t in;          // addresses of the arrays modulo a word
  std::uint32_t out;
};

// Moves a batch of words, `step` bytes apart, of which has(b, n) says whether the lane's b-th and
// that of the n-th lane after it exist.
template <int kWidth, int kBatch, typename Context, typename Has>
TTLG_DEVICE void move_shifted_batch(const Context& context, std::uint32_t step, std::uint32_t shift,
                                    bool ends_warp, Source<Context>& from, Target<Context>& to,
                                    const Has& has) {
  WordPair<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    held[b] = load_pair<kWidth>(from, has(b, 0), ends_warp || !has(b, 1));
    from.advance(step);
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    to.store(has(b, 0), cut_out(context, held[b], ends_warp || !has(b, 1), shift));
    to.advance(step);
  }
}

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_large_shifted(const Grid<kModes>& grid,
                                         const MatchLargeShiftedArguments& p,
                                         const Context& context) {
  using Policy = FviMatchLargePolicy;
  constexpr int kBatch = FviMatchLargeShiftedPolicy::kBatch;
  constexpr int kRest = Policy::kBatch;  // lanes of few runs have no more, see run_lanes()
  const std::uint32_t lanes = 1u << p.group_shift;
  const std::uint32_t run =
      (context.block() * (Policy::kThreads >> p.group_shift)) + (context.thread() >> p.group_shift);
  const BlockOrigin origin = decode(grid, run);
  const std::uint32_t first = context.thread() & (lanes - 1);
  const bool ends_warp = ((context.thread() + 1) & (lanes - 1) & (kWarpSize - 1)) == 0;
  const std::uint32_t bytes =
      run >= p.runs ? 0 : (origin.last_column_block ? p.last_bytes : p.bytes);
  const std::uint32_t step = lanes * kWidth;
  std::int64_t in = origin.in;
  std::int64_t out = origin.out;
  for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
    const ShiftedWords<kWidth> words(bytes, p.in + static_cast<std::uint32_t>(in),
                                     p.out + static_cast<std::uint32_t>(out));
    const auto count = static_cast<std::uint32_t>(words.count);
    const std::int64_t byte = words.left(first);
    const bool is_end = first < FviMatchLargeShiftedPolicy::kEnds && byte < bytes;
    const auto end = context.template load<std::uint8_t>(is_end, in + byte);
    // How many words are this lane's, the next one's, and every lane's of the warp at least.
    const auto own = static_cast<int>((count + lanes - 1 - first) >> p.group_shift);
    const auto next = static_cast<int>((count + lanes - 2 - first) >> p.group_shift);
    const int whole = lanes < kWarpSize ? 0 : static_cast<int>(count >> p.group_shift);
    Source from(context, in + words.head - words.shift + first * kWidth);
    Target to(context, out + words.head + first * kWidth);
    const auto all = [](int, int) { return true; };
    int i = 0;
    TTLG_UNROLL_BY(1)
    for (; i + kBatch <= whole; i += kBatch) {
      move_shifted_batch<kWidth, kBatch>(context, step, words.shift, ends_warp, from, to, all);
    }
    for (; i + kRest <= whole; i += kRest) {
      move_shifted_batch<kWidth, kRest>(context, step, words.shift, ends_warp, from, to, all);
    }
    for (; i < p.steps; i += kRest) {
      const auto remains = [&](int b, int n) { return b < (n == 0 ? own : next) - i; };
      // [budget: rare] The end of a chunk cuts a batch short.
      move_shifted_batch<kWidth, kRest>(context, step, words.shift, ends_warp, from, to, remains);
    }
    context.store(is_end, out + byte, end);
    in += p.coarsening.in_step;
    out += p.coarsening.out_step;
  }
}

}  // namespace ttlg::cuda
