// Every kernel on tensors of more than 2^32 bytes, in slices whose elements lie gigabytes apart
// too: some blocks of each launch, on arrays that are not allocated.
#include <gtest/gtest.h>

#include <cstdint>
#include <variant>

#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum Schema;

// By modes that are contiguous in the output.
Source problem_source(const Problem& problem) {
  return {1, [&problem](std::int64_t to) {
            std::int64_t from = 0;
            for (auto m = problem.perm.rbegin(); m != problem.perm.rend(); ++m) {
              const Mode& mode = problem.modes[static_cast<std::size_t>(*m)];
              from += to / mode.out_byte_stride * mode.in_byte_stride;
              to %= mode.out_byte_stride;
            }
            return from + to;
          }};
}

// Modes in the papers' order, in the input `gaps` times as far apart as they would be without any.
template <typename Arguments>
void move_far(const std::vector<std::int64_t>& extents, const std::vector<int>& perm,
              std::int64_t itemsize, const cuda::Parameters& parameters,
              const Misalignments& misalignments = {}, std::int64_t gaps = 1) {
  Request request = paper_request(extents, perm, itemsize);
  for (std::int64_t& stride : request.in_byte_strides) stride *= gaps;
  const cuda::Plan plan = built(request, alignment_of(misalignments), parameters);
  SCOPED_TRACE(describe(plan, misalignments));
  const LoweredPlan lowered(plan);
  Launch launch = bound(lowered, misalignments);
  ASSERT_EQ(lowered.grid.launches, 1);
  EXPECT_TRUE(std::holds_alternative<Arguments>(launch.arguments));
  // A slice for each block, of those that walk through several.
  if (parameters.schema == orthogonal_distinct || parameters.schema == orthogonal_arbitrary) {
    launch.blocks = lowered.grid.grid.slices;
  }
  expect_permuted_far({launch},
                      {.in_bytes = in_span_of(request).last,
                       .out_bytes = plan.problem.bytes(),
                       .in_misalignment = misalignments.in,
                       .out_misalignment = misalignments.out},
                      problem_source(plan.recast), {.grid = lowered.grid.grid});
}

TEST(Far, Copies) {
  for (const auto& misalignments : {Misalignments{0, 0}, {5, 5}, {3, 8}}) {
    move_far<CopyArguments>({5'000'000'000}, {0}, 1, {}, misalignments);
  }
}

TEST(Far, MovesLongRuns) {
  using Wide = MatchLargeArguments;
  using Shifted = MatchLargeShiftedArguments;
  for (const std::int64_t itemsize : kWidths) {
    const std::int64_t run = 4400 / itemsize + 1;
    // Runs of narrow elements would be shifted if they had no gaps.
    move_far<Wide>({run, 1100, 1000}, {0, 2, 1}, itemsize, {fvi_match_large, {1, 1, run, 1}}, {},
                   itemsize < 4 ? 2 : 1);
  }
  // Elements 100 MB apart.
  move_far<Wide>({60, 8}, {0, 1}, 4, {fvi_match_large, {1, 1, 60, 1}}, {}, 25'000'000);
  // Along a coarsened mode and in chunks.
  move_far<Wide>({9000, 20, 7000}, {0, 2, 1}, 4, {fvi_match_large, {1, 1, 1024, 1}, 1});
  move_far<Wide>({9000, 7000, 20}, {0, 2, 1}, 4, {fvi_match_large, {1, 1, 1024, 1}, 2});
  // A mode that does not follow its neighbour in memory.
  move_far<Shifted>({1101, 2000, 2100}, {0, 2, 1}, 1, {fvi_match_large, {1, 1, 1101, 1}}, {1, 2});
  move_far<Shifted>({9001, 70000, 8}, {0, 2, 1}, 1, {fvi_match_large, {1, 1, 2048, 1}, 2});
}

TEST(Far, MovesShortRuns) {
  using Small = MatchSmallArguments;
  const Slice slice{2, 2, 16, 16};
  for (const std::int64_t size : kWidths) {
    move_far<Small>({7, 16000 / size, 45000}, {0, 2, 1}, size, {fvi_match_small, slice});
    // Rows 640 MB apart on either side.
    move_far<Small>({5, 40, 4000000 / size, 40}, {0, 3, 2, 1}, size, {fvi_match_small, slice});
  }
  move_far<Small>({5, 40, 30, 30000, 40}, {0, 4, 3, 2, 1}, 4, {fvi_match_small, slice, 2});
}

TEST(Far, MovesTiles) {
  using Tiles = DistinctArguments;
  for (const std::int64_t size : kWidths) {
    for (const int stages : {1, 2}) {
      for (const std::int64_t odd : {0, 1}) {
        move_far<Tiles>({70400 + odd, 81920 / size + odd}, {1, 0}, size,
                        {orthogonal_distinct, {1, 1, 64, 64}, -1, stages});
        // Rows and columns 300 MB apart.
        move_far<Tiles>({128 + odd, 2400000 / size, 64 + odd}, {2, 1, 0}, size,
                        {orthogonal_distinct, {1, 1, 128, 64}, -1, stages});
      }
    }
  }
  // Along a coarsened mode, with modes combined that do not fuse.
  const std::vector<int> perm{3, 1, 0, 4, 2};
  move_far<Tiles>({64, 8, 2000, 64, 20}, perm, 4, {orthogonal_distinct, {1, 2, 64, 8}, 4});
  move_far<Tiles>({64, 6000, 4, 64, 20}, {3, 2, 1, 0, 4}, 4,
                  {orthogonal_distinct, {1, 2, 64, 4}, 4});
}

TEST(Far, MovesSlicesOfAnyModes) {
  using Arbitrary = ArbitraryArguments;
  for (const int stages : {1, 2}) {
    for (const std::int64_t size : {4, 8, 16}) {
      // Elements up to 2^31 of them apart.
      move_far<Arbitrary>({32, 2000000, 32}, {2, 1, 0}, size,
                          {orthogonal_arbitrary, {1, 1, 32, 32}, -1, stages});
      move_far<Arbitrary>({9, 11, 700000, 7, 23}, {3, 1, 4, 0, 2}, size,
                          {orthogonal_arbitrary, {1, 2, 9, 11}, -1, stages});
    }
    for (const std::int64_t size : {1, 2}) {
      for (const std::int64_t extent : {32, 31}) {
        // Bytes up to 2^31 apart.
        move_far<PackedArguments>({extent, 60000000 / extent / size * 2, 32, 10 * size},
                                  {2, 1, 0, 3}, size,
                                  {orthogonal_arbitrary, {1, 1, 16, 16}, -1, stages});
      }
    }
  }
  move_far<Arbitrary>({30, 100000, 20, 30}, {3, 2, 1, 0}, 4,
                      {orthogonal_arbitrary, {1, 1, 30, 30}, 2});
}

}  // namespace
}  // namespace ttlg::test
