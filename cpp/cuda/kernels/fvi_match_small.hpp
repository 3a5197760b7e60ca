// FVI-Match-Small (TTLG, Alg. 6, its indices corrected): the fastest mode is the same
// on both sides and short. A slice is rows x columns runs of that mode: the columns along i_1, the
// input's second mode, the rows along i_k, the output's. Warps bring in lines of runs along i_1 and
// write out lines of runs along i_k.
//
// Words: the widest access that divides runs, strides and pointers. Filling writes a line of words
// in a row. Draining reads runs from successive rows; the pitch exceeds a multiple of the banks by
// one run (TTLG, Fig. 4), so that its banks, too, follow one another: no access conflicts.
#pragma once

#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

struct MatchSmallArguments {
  Coarsening coarsening;
  SliceExtents shape;   // in runs
  FastDivisor32 run;    // words of a run
  std::uint32_t pitch;  // words between rows of the buffer
  std::int64_t in_word_step;
  std::int64_t out_word_step;
  std::int64_t in_column_step;
  std::int64_t out_column_step;
  std::int64_t in_row_step;
  std::int64_t out_row_step;
  FastDivisor32 in_chunks;   // warp accesses of a line along i_1
  FastDivisor32 out_chunks;  // and along i_k
};

// Finds the lane's word of a warp's item, which is 32 words of one of `lines` lines of `runs` runs:
// visit(line, run, word of the run, whether it exists).
template <typename Context, typename Visit>
TTLG_DEVICE void with_word(const Context& context, std::uint32_t lines, std::uint32_t runs,
                           const FastDivisor32& run, const FastDivisor32& chunks,
                           std::uint32_t item, const Visit& visit) {
  const std::uint32_t line = chunks.quotient(item);
  const std::uint32_t word =
      (item - line * chunks.divisor()) * kWarpSize + context.thread() % kWarpSize;
  const std::uint32_t index = run.quotient(word);
  visit(line, index, word - index * run.divisor(), line < lines && index < runs);
}

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_small(const Grid<kModes>& grid, const MatchSmallArguments& p,
                                 const Context& context) {
  using Policy = FviMatchSmallPolicy;
  constexpr int kBatch = Policy::kBatch;
  constexpr int kWarps = Policy::kThreads / kWarpSize;
  const BlockOrigin origin = decode(grid, context.block());
  const std::uint32_t columns = p.shape.columns_at(origin);
  const std::uint32_t rows = p.shape.rows_at(origin);
  const std::uint32_t warp = context.thread() / kWarpSize;
  std::int64_t in = origin.in;
  std::int64_t out = origin.out;
  for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
    if (s > 0) context.barrier();
    const std::uint32_t in_items = rows * p.in_chunks.divisor();
    for (std::uint32_t first = warp; first < in_items; first += kWarps * kBatch) {
      Word<kWidth> held[kBatch];
      std::uint32_t to[kBatch];
      bool takes_part[kBatch];
      TTLG_UNROLL
      for (int b = 0; b < kBatch; ++b) {
        with_word(context, rows, columns, p.run, p.in_chunks, first + b * kWarps,
                  [&](std::uint32_t row, std::uint32_t column, std::uint32_t word, bool valid) {
                    takes_part[b] = valid;
                    to[b] = (row * p.pitch + column * p.run.divisor() + word) * kWidth;
                    held[b] = context.template load<Word<kWidth>>(
                        valid, in + row * p.in_row_step + column * p.in_column_step +
                                   word * p.in_word_step);
                  });
      }
      TTLG_UNROLL
      for (int b = 0; b < kBatch; ++b) context.shared_store(takes_part[b], to[b], held[b]);
    }
    context.barrier();
    const std::uint32_t out_items = columns * p.out_chunks.divisor();
    TTLG_UNROLL_BY(Policy::kDrainUnroll)
    for (std::uint32_t item = warp; item < out_items; item += kWarps) {
      with_word(
          context, columns, rows, p.run, p.out_chunks, item,
          [&](std::uint32_t column, std::uint32_t row, std::uint32_t word, bool valid) {
            context.store(
                valid,
                out + row * p.out_row_step + column * p.out_column_step + word * p.out_word_step,
                context.template shared_load<Word<kWidth>>(
                    valid, (row * p.pitch + column * p.run.divisor() + word) * kWidth));
          });
    }
    in += p.coarsening.in_step;
    out += p.coarsening.out_step;
  }
}

}  // namespace ttlg::cuda
