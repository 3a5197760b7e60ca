// FVI-Match-Large (TTLG, Alg. 7): the fastest mode is the same on both sides and
// long, so its runs are coalesced as they are and pass through registers alone. A group of lanes
// just large enough takes a run, or a chunk of a long one, so that short runs share a thread block.
//
// Words: the widest access that divides runs, strides and pointers.
#pragma once

#include "cuda/kernels/cursors.hpp"
#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

// What a group of lanes repeats.
struct GroupSteps {
  std::uint32_t count;
  std::int64_t in_step;
  std::int64_t out_step;
};

struct MatchLargeArguments {
  // The grid counts runs; its mode 1 the chunks of one.
  std::uint32_t runs;        // in all, chunks counted apart
  int group_shift;           // log2 of the lanes of a group
  std::uint32_t words;       // of a chunk
  std::uint32_t last_words;  // of the last chunk of a run
  std::int64_t in_word_step;
  std::int64_t out_word_step;
  // A group goes along its chunk, and on to the chunks of a coarsened mode. The one of the two that
  // fills batches of loads better is the inner loop.
  bool inner_along_chunk;
  GroupSteps inner;
  GroupSteps outer;
};

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_large(const Grid<kModes>& grid, const MatchLargeArguments& p,
                                 const Context& context) {
  using Policy = FviMatchLargePolicy;
  constexpr int kBatch = Policy::batch(kWidth);
  constexpr int kRest = std::max(Policy::kBatch, kBatch / 2);
  const std::uint32_t lanes = 1u << p.group_shift;
  const std::uint32_t run =
      (context.block() * (Policy::kThreads >> p.group_shift)) + (context.thread() >> p.group_shift);
  const BlockOrigin origin = decode(grid, run);
  const std::uint32_t first = context.thread() & (lanes - 1);
  const std::uint32_t words =
      run >= p.runs ? 0 : (origin.last_column_block ? p.last_words : p.words);
  // How many words of a chunk are this lane's, and how many every lane's of the warp at least.
  const std::uint32_t own = (words + lanes - 1 - first) >> p.group_shift;
  const std::uint32_t whole = lanes < kWarpSize ? 0 : words >> p.group_shift;
  const auto steps = static_cast<int>(p.inner.count);
  std::int64_t in = origin.in + first * p.in_word_step;
  std::int64_t out = origin.out + first * p.out_word_step;
  for (std::uint32_t line = 0; line < p.outer.count; ++line) {
    const auto of_line = [&](std::uint32_t n) {
      return p.inner_along_chunk ? static_cast<int>(n) : (line < n ? steps : 0);
    };
    const int whole_steps = of_line(whole);
    const int own_steps = of_line(own);
    Source from(context, in);
    Target to(context, out);
    int step = 0;
    for (; step + kBatch <= whole_steps; step += kBatch) {
      const auto all = [](int) { return true; };
      move_batch<kWidth, kBatch>(from, p.inner.in_step, all, to, p.inner.out_step, all);
    }
    for (; step < steps; step += kRest) {
      const auto remains = [left = own_steps - step](int b) { return b < left; };
      // [budget: rare] The end of a chunk cuts a batch short.
      move_batch<kWidth, kRest>(from, p.inner.in_step, remains, to, p.inner.out_step, remains);
    }
    in += p.outer.in_step;
    out += p.outer.out_step;
  }
}

}  // namespace ttlg::cuda
