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

// The lines of runs of one side: along i_1 in the input, along i_k in the output.
struct MatchSmallSide {
  std::uint32_t chunks;       // warp accesses of a line
  FastDivisor32 last_chunks;  // those of them that are too few for all warps, or one for each
  std::int64_t word_step;     // in memory
  std::int64_t run_step;      // along a line
  std::int64_t line_step;
  std::uint32_t shared_run_step;  // in the buffer, in bytes
  std::uint32_t shared_line_step;
};

struct MatchSmallArguments {
  Coarsening coarsening;
  SliceExtents shape;  // in runs
  FastDivisor32 run;   // words of a run
  MatchSmallSide in;
  MatchSmallSide out;
};

// A lane's words of some lines, at the same place in each.
struct MatchSmallColumn {
  bool exists;  // whether a line has this place
  std::uint32_t line;
  std::uint32_t step;  // to the warp's next line
  std::int64_t offset;
  std::uint32_t shared;
};

// Each warp keeps to one chunk of the lines, where its lanes find their places once, and goes from
// line to line: visit(column). Where chunks are fewer than warps, several share one.
template <int kWidth, typename Context, typename Visit>
TTLG_DEVICE void for_columns(const Context& context, const FastDivisor32& run,
                             const MatchSmallSide& side, std::uint32_t runs, std::uint32_t lines,
                             const Visit& visit) {
  constexpr std::uint32_t kWarps = FviMatchSmallPolicy::kThreads / kWarpSize;
  const std::uint32_t warp = context.thread() / kWarpSize;
  for (std::uint32_t chunk = 0; chunk < side.chunks; chunk += kWarps) {
    const bool shared = chunk + kWarps > side.chunks;
    const std::uint32_t first = shared ? side.last_chunks.quotient(warp) : 0;
    const std::uint32_t step = shared ? kWarps / side.last_chunks.divisor() : 1;
    const std::uint32_t own_chunk = chunk + warp - first * side.last_chunks.divisor();
    const std::uint32_t word = own_chunk * kWarpSize + context.thread() % kWarpSize;
    const std::uint32_t index = run.quotient(word);
    const std::uint32_t rest = word - index * run.divisor();
    visit(MatchSmallColumn{
        .exists = index < runs,
        .line = first < step ? first : lines,
        .step = step,
        .offset = first * side.line_step + index * side.run_step + rest * side.word_step,
        .shared = first * side.shared_line_step + index * side.shared_run_step + rest * kWidth});
  }
}

template <int kWidth, typename Context, typename Valid>
TTLG_DEVICE void fill_batch(const Context& context, std::int64_t step, std::uint32_t shared_step,
                            Source<Context>& from, std::uint32_t& to, const Valid& valid) {
  constexpr int kBatch = FviMatchSmallPolicy::batch(kWidth);
  Word<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    held[b] = from.template load<Word<kWidth>>(valid(b));
    from.advance(step);
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    context.shared_store(valid(b), to, held[b]);
    to += shared_step;
  }
}

template <int kWidth, typename Context, typename Valid>
TTLG_DEVICE void drain_batch(const Context& context, std::uint32_t shared_step, std::int64_t step,
                             std::uint32_t& from, Target<Context>& to, const Valid& valid) {
  constexpr int kBatch = FviMatchSmallPolicy::batch(kWidth);
  Word<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    held[b] = context.template shared_load<Word<kWidth>>(valid(b), from);
    from += shared_step;
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    to.store(valid(b), held[b]);
    to.advance(step);
  }
}

// Goes along a column in batches: move(valid), which says whether the b-th line of a batch has the
// lane's word.
template <int kBatch, typename Move>
TTLG_DEVICE void for_batches(const MatchSmallColumn& column, std::uint32_t lines,
                             const Move& move) {
  std::uint32_t line = column.line;
  for (; line + (kBatch - 1) * column.step < lines; line += kBatch * column.step) {
    move([&](int) { return column.exists; });
  }
  for (; line < lines; line += kBatch * column.step) {
    move([&](int b) { return column.exists && line + b * column.step < lines; });
  }
}

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_small(const Grid<kModes>& grid, const MatchSmallArguments& p,
                                 const Context& context) {
  constexpr int kBatch = FviMatchSmallPolicy::batch(kWidth);
  const BlockOrigin origin = decode(grid, context.block());
  const std::uint32_t columns = p.shape.columns_at(origin);
  const std::uint32_t rows = p.shape.rows_at(origin);
  std::int64_t in = origin.in;
  std::int64_t out = origin.out;
  for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
    if (s > 0) context.barrier();
    for_columns<kWidth>(
        context, p.run, p.in, columns, rows, [&](const MatchSmallColumn& column) {
          Source from(context, in + column.offset);
          std::uint32_t to = column.shared;
          for_batches<kBatch>(column, rows, [&](const auto& valid) {
            fill_batch<kWidth>(context, column.step * p.in.line_step,
                               column.step * p.in.shared_line_step, from, to, valid);
          });
        });
    context.barrier();
    for_columns<kWidth>(
        context, p.run, p.out, rows, columns, [&](const MatchSmallColumn& column) {
          std::uint32_t from = column.shared;
          Target to(context, out + column.offset);
          for_batches<kBatch>(column, columns, [&](const auto& valid) {
            drain_batch<kWidth>(context, column.step * p.out.shared_line_step,
                                column.step * p.out.line_step, from, to, valid);
          });
        });
    in += p.coarsening.in_step;
    out += p.coarsening.out_step;
  }
}

}  // namespace ttlg::cuda
