#include <algorithm>
#include <bit>

#include "cuda/lower.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/slice/access_width.hpp"

namespace ttlg::cuda {

Launch lower_match_large(const SlicedProblem& sliced, std::int64_t runs, std::int64_t word_bytes) {
  using Policy = FviMatchLargePolicy;
  const Mode& run = sliced.mode(0);
  const std::int64_t per_word = word_bytes / sliced.problem.element_bytes();
  const std::int64_t words = sliced.extent(0) / per_word;
  const int shift = std::countr_zero(static_cast<unsigned>(run_lanes(words, word_bytes, runs)));
  const std::int64_t lanes = std::int64_t{1} << shift;
  const GroupSteps along_chunk{.count = narrow32(ceil_div(words, lanes)),
                               .in_step = lanes * run.in_byte_stride * per_word,
                               .out_step = lanes * run.out_byte_stride * per_word};
  const Coarsening coarsening = coarsening_steps(sliced);
  const GroupSteps across{
      .count = coarsening.count, .in_step = coarsening.in_step, .out_step = coarsening.out_step};
  const auto batches = [&](const GroupSteps& inner, const GroupSteps& outer) {
    return ceil_div(inner.count, Policy::batch(static_cast<int>(word_bytes))) * outer.count;
  };
  const bool inner_along_chunk = batches(along_chunk, across) <= batches(across, along_chunk);
  return {
      .word_bytes = static_cast<int>(word_bytes),
      .blocks = narrow32(ceil_div(runs, Policy::kThreads >> shift)),
      .threads = Policy::kThreads,
      .arguments = MatchLargeArguments{.runs = narrow32(runs),
                                       .group_shift = shift,
                                       .words = narrow32(words),
                                       .last_words = narrow32(last_extent(sliced, 0) / per_word),
                                       .in_word_step = run.in_byte_stride * per_word,
                                       .out_word_step = run.out_byte_stride * per_word,
                                       .inner_along_chunk = inner_along_chunk,
                                       .inner = inner_along_chunk ? along_chunk : across,
                                       .outer = inner_along_chunk ? across : along_chunk}};
}

Launch lower_match_large_shifted(const SlicedProblem& sliced, std::int64_t runs,
                                 std::int64_t in_address, std::int64_t out_address) {
  using Policy = FviMatchLargePolicy;
  using Shifted = FviMatchLargeShiftedPolicy;
  const std::int64_t element = sliced.problem.element_bytes();
  const std::int64_t words = ceil_div(sliced.extent(0) * element, Shifted::kWidth);
  const int lanes = std::max(run_lanes(words, Shifted::kWidth, runs), Shifted::kEnds);
  const int shift = std::countr_zero(static_cast<unsigned>(lanes));
  return {.word_bytes = Shifted::kWidth,
          .blocks = narrow32(ceil_div(runs, Policy::kThreads >> shift)),
          .threads = Policy::kThreads,
          .arguments =
              MatchLargeShiftedArguments{.coarsening = coarsening_steps(sliced),
                                         .runs = narrow32(runs),
                                         .group_shift = shift,
                                         .bytes = narrow32(sliced.extent(0) * element),
                                         .last_bytes = narrow32(last_extent(sliced, 0) * element),
                                         .steps = static_cast<int>(ceil_div(words, lanes)),
                                         .in = narrow32(in_address),
                                         .out = narrow32(out_address)}};
}

Launch lower_match_small(const SlicedProblem& sliced, std::int64_t blocks,
                         std::int64_t word_bytes) {
  const std::int64_t per_word = word_bytes / sliced.problem.element_bytes();
  const std::int64_t run = sliced.extent(0) / per_word;
  const int column = sliced.in_axis().back();
  const int row = sliced.out_axis().back();
  const std::int64_t columns = sliced.extent(column);
  const std::int64_t rows = sliced.extent(row);
  // The padding of TTLG, Fig. 4, for words of any width: modulo all banks, a row starts where a run
  // of the row before it ends; for words narrower than a bank, at the first bank that such a run
  // leaves free wherever it starts.
  const std::int64_t run_bytes =
      word_bytes < 4 ? ceil_div(run * word_bytes + 4 - word_bytes, 4) * 4 : run * word_bytes;
  const std::int64_t row_bytes = columns * run * word_bytes;
  const std::int64_t pad =
      (run_bytes + kSharedLineBytes - row_bytes % kSharedLineBytes) % kSharedLineBytes;
  const std::int64_t pitch = (row_bytes + pad) / word_bytes;
  const auto side = [&](int along, int across, std::int64_t Mode::* stride) {
    constexpr std::int64_t kWarps = FviMatchSmallPolicy::kThreads / kWarpSize;
    const std::int64_t chunks = ceil_div(sliced.extent(along) * run, kWarpSize);
    const std::int64_t last_chunks = chunks - (ceil_div(chunks, kWarps) - 1) * kWarps;
    const auto shared_step = [&](int m) {
      return narrow32((m == column ? run : pitch) * word_bytes);
    };
    return MatchSmallSide{.chunks = narrow32(chunks),
                          .last_chunks = FastDivisor32(last_chunks),
                          .last_warps = narrow32(kWarps / last_chunks),
                          .word_step = sliced.mode(0).*stride * per_word,
                          .run_step = sliced.mode(along).*stride,
                          .line_step = sliced.mode(across).*stride,
                          .shared_run_step = shared_step(along),
                          .shared_line_step = shared_step(across)};
  };
  return {.word_bytes = static_cast<int>(word_bytes),
          .blocks = narrow32(blocks),
          .threads = FviMatchSmallPolicy::kThreads,
          .shared_bytes = static_cast<int>(rows * pitch * word_bytes),
          .arguments =
              MatchSmallArguments{.coarsening = coarsening_steps(sliced),
                                  .shape = {.columns = narrow32(columns),
                                            .last_columns = narrow32(last_extent(sliced, column)),
                                            .rows = narrow32(rows),
                                            .last_rows = narrow32(last_extent(sliced, row))},
                                  .run = FastDivisor32(run),
                                  .in = side(column, row, &Mode::in_byte_stride),
                                  .out = side(row, column, &Mode::out_byte_stride)}};
}

}  // namespace ttlg::cuda
