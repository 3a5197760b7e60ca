// Square matrices in place whose elements are runs of any length (the involution T_xzy of Gorawski
// and Lorek, section 7): a group of lanes exchanges a pair of runs, or a chunk of them, in words. A
// thread stores what it has loaded itself, so there is no need of shared memory. With words for
// runs and a lane for a group this is the thread-wise kernel TW.
#pragma once

#include <algorithm>

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/inplace/schemes.hpp"

namespace ttlg::cuda {

struct RunsArguments {
  SquareMatrices matrices;
  std::int64_t items;  // chunks of all pairs of a launch
  FastDivisor pairs;   // of a matrix
  FastDivisor chunks;  // of a run
  Enumeration<std::int64_t> scheme;
  std::int64_t words;         // of a run
  std::uint32_t chunk_words;  // those of a chunk
  std::uint32_t lane_words;   // those of a lane, at most
  std::uint32_t group_lanes;  // a power of two: those of a block are whole groups
  std::uint32_t group_shift;  // its logarithm
  std::uint32_t threads;      // of a block
};

template <int kWidth, typename Context>
TTLG_DEVICE void runs(const RunsArguments& p, const Context& context) {
  constexpr int kBatch = RunsPolicy::kBatch;
  const std::int64_t thread = std::int64_t{context.block()} * p.threads + context.thread();
  const std::int64_t item = thread >> p.group_shift;
  const bool exists = item < p.items;
  const std::int64_t number = p.chunks.quotient(exists ? item : 0);
  const std::int64_t chunk = (exists ? item : 0) - number * p.chunks.divisor();
  const std::int64_t matrix = p.pairs.quotient(number);
  // [budget: 0 times] The estimate of the row is right.
  const auto [x, y] = p.scheme.at<Scheme::v1b>(number - matrix * p.pairs.divisor());
  const std::int64_t begin = chunk * p.chunk_words + (thread & (p.group_lanes - 1));
  const auto left = static_cast<std::uint32_t>(
      exists ? std::max<std::int64_t>(std::min<std::int64_t>(p.words - begin, p.chunk_words), 0)
             : 0);
  const std::int64_t run = p.words * kWidth;
  const std::int64_t origin = p.matrices.offset(matrix) + begin * kWidth;
  const Context below = context.at(origin + y * p.matrices.row_stride + x * run,
                                   origin + y * p.matrices.row_stride + x * run);
  const Context above = context.at(origin + x * p.matrices.row_stride + y * run,
                                   origin + x * p.matrices.row_stride + y * run);
  const std::uint32_t step = p.group_lanes;
  Word<kWidth> low[kBatch];
  Word<kWidth> high[kBatch];
  TTLG_UNROLL
  for (std::uint32_t b = 0; b < kBatch; ++b) {
    if (b >= p.lane_words) break;
    const bool valid = b * step < left;
    low[b] = below.template load<Word<kWidth>>(valid, std::int64_t{b * step} * kWidth);
    high[b] = above.template load<Word<kWidth>>(valid, std::int64_t{b * step} * kWidth);
  }
  TTLG_UNROLL
  for (std::uint32_t b = 0; b < kBatch; ++b) {
    if (b >= p.lane_words) break;
    const bool valid = b * step < left;
    below.store(valid, std::int64_t{b * step} * kWidth, high[b]);
    above.store(valid, std::int64_t{b * step} * kWidth, low[b]);
  }
}

}  // namespace ttlg::cuda
