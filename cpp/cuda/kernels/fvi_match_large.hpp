// FVI-Match-Large (TTLG, Alg. 7): the fastest mode is the same on both sides and
// long, so its runs are coalesced as they are and pass through registers alone. A group of lanes
// just large enough takes a run, or a chunk of a long one, so that short runs share a thread block.
//
// Words: the widest access that divides runs, strides and pointers.
#pragma once

#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

struct MatchLargeArguments {
  Coarsening coarsening;
  // The grid counts runs; its mode 1 the chunks of one.
  std::uint32_t runs;        // in all, chunks counted apart
  int group_shift;           // log2 of the lanes of a group
  std::uint32_t words;       // of a chunk
  std::uint32_t last_words;  // of the last chunk of a run
  std::int64_t in_word_step;
  std::int64_t out_word_step;
};

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_large(const Grid<kModes>& grid, const MatchLargeArguments& p,
                                 const Context& context) {
  using Policy = FviMatchLargePolicy;
  constexpr int kBatch = Policy::kBatch;
  const std::uint32_t lanes = 1u << p.group_shift;
  const std::uint32_t run =
      (context.block() * (Policy::kThreads >> p.group_shift)) + (context.thread() >> p.group_shift);
  const BlockOrigin origin = decode(grid, run);
  const std::uint32_t first = context.thread() & (lanes - 1);
  const std::uint32_t words =
      run >= p.runs ? 0 : (origin.last_column_block ? p.last_words : p.words);
  // All lanes go on to the next run of the coarsened mode at the same step.
  const std::uint32_t steps_of_run = (p.words + lanes - 1) >> p.group_shift;
  const std::uint32_t steps = p.coarsening.count * steps_of_run;
  const std::int64_t in_step = lanes * p.in_word_step;
  const std::int64_t out_step = lanes * p.out_word_step;
  const std::int64_t in_run_step = p.coarsening.in_step - (steps_of_run - 1) * in_step;
  const std::int64_t out_run_step = p.coarsening.out_step - (steps_of_run - 1) * out_step;
  std::uint32_t left = steps_of_run;
  std::uint32_t word = first;
  std::int64_t in = origin.in + first * p.in_word_step;
  std::int64_t out = origin.out + first * p.out_word_step;
  for (std::uint32_t step = 0; step < steps; step += kBatch) {
    Word<kWidth> held[kBatch];
    std::int64_t to[kBatch];
    bool valid[kBatch];
    TTLG_UNROLL
    for (std::uint32_t b = 0; b < kBatch; ++b) {
      valid[b] = step + b < steps && word < words;
      to[b] = out;
      held[b] = context.template load<Word<kWidth>>(valid[b], in);
      const bool ends_run = --left == 0;
      word = ends_run ? first : word + lanes;
      in += ends_run ? in_run_step : in_step;
      out += ends_run ? out_run_step : out_step;
      if (ends_run) left = steps_of_run;
    }
    TTLG_UNROLL
    for (std::uint32_t b = 0; b < kBatch; ++b) context.store(valid[b], to[b], held[b]);
  }
}

}  // namespace ttlg::cuda
