// FVI-Match-Small (TTLG, Alg. 6, its indices corrected): the fastest mode is the same
// on both sides and short. A slice is rows x columns runs of that mode: the columns along i_1, the
// input's second mode, the rows along i_k, the output's. Warps bring in lines of runs along i_1 and
// write out lines of runs along i_k.
//
// Words: the widest access that divides runs, strides and pointers. Filling writes a line of words
// in a row. Draining reads runs from successive rows; the pitch exceeds a multiple of the banks by
// one run (TTLG, Fig. 4), so that its banks, too, follow one another: no access conflicts.
#pragma once

#include "cuda/kernels/cursors.hpp"
#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

// The lines of runs of one side: along i_1 in the input, along i_k in the output.
struct MatchSmallSide {
  std::uint32_t chunks;       // warp accesses of a line
  FastDivisor32 last_chunks;  // those that are left to the warps' last pass, one for each at most
  std::uint32_t last_warps;   // that share one of these
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

// A lane's words of some lines, at the same place in each. Lanes beyond a line's end have a place
// in its last run, from which they may load like the others.
struct MatchSmallColumn {
  bool exists;  // whether the lane is not beyond
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
    const std::uint32_t step = shared ? side.last_warps : 1;
    const std::uint32_t own_chunk = chunk + warp - first * side.last_chunks.divisor();
    const std::uint32_t own_word = own_chunk * kWarpSize + context.thread() % kWarpSize;
    const std::uint32_t word = std::min(own_word, runs * run.divisor() - 1);
    const std::uint32_t index = run.quotient(word);
    const std::uint32_t rest = word - index * run.divisor();
    visit(MatchSmallColumn{
        .exists = word == own_word,
        .line = first < step ? first : lines,
        .step = step,
        .offset = first * side.line_step + index * side.run_step + rest * side.word_step,
        .shared = first * side.shared_line_step + index * side.shared_run_step + rest * kWidth});
  }
}

// Goes along a column in batches.
template <int kWidth, typename From, typename To, typename FromStep, typename ToStep>
TTLG_DEVICE void move_column(const MatchSmallColumn& column, std::uint32_t lines, From& from,
                             FromStep from_step, To& to, ToStep to_step) {
  constexpr int kBatch = FviMatchSmallPolicy::batch(kWidth);
  constexpr int kRest = kBatch / 2;
  // Lanes beyond a line load, but do not store.
  const auto stored = [&](const auto& within) {
    return [&](int b) { return column.exists && within(b); };
  };
  std::uint32_t line = column.line;
  for (; line + (kBatch - 1) * column.step < lines; line += kBatch * column.step) {
    const auto all = [](int) { return true; };
    move_batch<kWidth, kBatch>(from, from_step, all, to, to_step, stored(all));
  }
  for (; line < lines; line += kRest * column.step) {
    const auto remains = [&](int b) { return line + b * column.step < lines; };
    // [budget: rare] The end of a slice cuts a batch short.
    move_batch<kWidth, kRest>(from, from_step, remains, to, to_step, stored(remains));
  }
}

template <int kWidth, int kModes, typename Context>
TTLG_DEVICE void fvi_match_small(const Grid<kModes>& grid, const MatchSmallArguments& p,
                                 const Context& context) {
  const BlockOrigin origin = decode(grid, context.block());
  const std::uint32_t columns = p.shape.columns_at(origin);
  const std::uint32_t rows = p.shape.rows_at(origin);
  std::int64_t in = origin.in;
  std::int64_t out = origin.out;
  for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
    if (s > 0) context.barrier();
    for_columns<kWidth>(context, p.run, p.in, columns, rows, [&](const MatchSmallColumn& column) {
      Source from(context, in + column.offset);
      SharedCursor to(context, column.shared);
      move_column<kWidth>(column, rows, from, opaque(column.step * p.in.line_step), to,
                          column.step * p.in.shared_line_step);
    });
    context.barrier();
    for_columns<kWidth>(context, p.run, p.out, rows, columns, [&](const MatchSmallColumn& column) {
      SharedCursor from(context, column.shared);
      Target to(context, out + column.offset);
      move_column<kWidth>(column, columns, from, column.step * p.out.shared_line_step, to,
                          opaque(column.step * p.out.line_step));
    });
    in += p.coarsening.in_step;
    out += p.coarsening.out_step;
  }
}

}  // namespace ttlg::cuda
