// Every kernel on tensors of more than 2^32 bytes, in slices whose elements lie gigabytes apart
// too: some blocks of each launch, on arrays that are not allocated.
#include <gtest/gtest.h>

#include <cstdint>
#include <variant>

#include "cuda/far_memory.hpp"
#include "cuda/lower.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum Schema;

// Where a byte of the output comes from, by modes that are contiguous there.
std::int64_t source_of(const Problem& problem, std::int64_t to) {
  std::int64_t from = 0;
  for (auto m = problem.perm.rbegin(); m != problem.perm.rend(); ++m) {
    const Mode& mode = problem.modes[static_cast<std::size_t>(*m)];
    from += to / mode.out_byte_stride * mode.in_byte_stride;
    to %= mode.out_byte_stride;
  }
  return from + to;
}

// The same with the input's strides multiplied.
Request with_gaps(Request request, std::int64_t factor) {
  for (std::int64_t& stride : request.in_byte_strides) stride *= factor;
  return request;
}

template <typename Arguments>
void expect_moved(const Request& request, const cuda::Parameters& parameters,
                  const Misalignments& misalignments = {}) {
  const cuda::Plan plan = built(request, alignment_of(misalignments), parameters);
  SCOPED_TRACE(describe(plan, misalignments));
  const LoweredPlan executable(plan);
  constexpr std::uintptr_t kAddress = 1 << 20;
  const auto at = [](std::size_t beyond) {
    return reinterpret_cast<const std::byte*>(kAddress + beyond);
  };
  const Launch launch = executable.bind(at(misalignments.in), at(misalignments.out));
  ASSERT_EQ(executable.grid.launches, 1);
  EXPECT_TRUE(std::holds_alternative<Arguments>(launch.arguments));
  // A slice for each block, of those that walk through several.
  const bool walks =
      parameters.schema == orthogonal_distinct || parameters.schema == orthogonal_arbitrary;
  const FarArrays arrays{.in_bytes = static_cast<std::int64_t>(in_span_of(request).bytes()),
                         .out_bytes = plan.problem.bytes(),
                         .source = [&](std::int64_t to) { return source_of(plan.recast, to); },
                         .in_misalignment = static_cast<std::int64_t>(misalignments.in),
                         .out_misalignment = static_cast<std::int64_t>(misalignments.out)};
  ASSERT_GT(arrays.in_bytes, kFar);
  EXPECT_EQ(run_far({walks ? executable.grid.grid.slices : launch.blocks, launch.threads,
                     launch.shared_bytes},
                    arrays, kernel_of(launch, executable.grid.grid)),
            Violations{});
}

TEST(Far, Copies) {
  const Request request = paper_request({5'000'000'000}, {0}, 1);
  for (const auto& misalignments : {Misalignments{0, 0}, {5, 5}, {3, 8}}) {
    expect_moved<CopyArguments>(request, {}, misalignments);
  }
}

TEST(Far, MovesLongRuns) {
  for (const std::int64_t itemsize : kWidths) {
    const std::int64_t run = 4400 / itemsize + 1;
    // Runs of narrow elements would be shifted if they had no gaps.
    const Request request = paper_request({run, 1100, 1000}, {0, 2, 1}, itemsize);
    expect_moved<MatchLargeArguments>(with_gaps(request, itemsize < 4 ? 2 : 1),
                                      {fvi_match_large, {1, 1, run, 1}});
  }
  // Elements 100 MB apart.
  expect_moved<MatchLargeArguments>(with_gaps(paper_request({60, 8}, {0, 1}, 4), 25'000'000),
                                    {fvi_match_large, {1, 1, 60, 1}});
  // Along a coarsened mode and in chunks.
  expect_moved<MatchLargeArguments>(paper_request({9000, 20, 7000}, {0, 2, 1}, 4),
                                    {fvi_match_large, {1, 1, 1024, 1}, 1});
  expect_moved<MatchLargeArguments>(paper_request({9000, 7000, 20}, {0, 2, 1}, 4),
                                    {fvi_match_large, {1, 1, 1024, 1}, 2});
  // A mode that does not follow its neighbour in memory.
  expect_moved<MatchLargeShiftedArguments>(paper_request({1101, 2000, 2100}, {0, 2, 1}, 1),
                                           {fvi_match_large, {1, 1, 1101, 1}}, {1, 2});
  expect_moved<MatchLargeShiftedArguments>(paper_request({9001, 70000, 8}, {0, 2, 1}, 1),
                                           {fvi_match_large, {1, 1, 2048, 1}, 2});
}

TEST(Far, MovesShortRuns) {
  const cuda::Parameters parameters{fvi_match_small, {2, 2, 16, 16}};
  for (const std::int64_t itemsize : kWidths) {
    expect_moved<MatchSmallArguments>(
        paper_request({7, 16000 / itemsize, 45000}, {0, 2, 1}, itemsize), parameters);
    // Rows 640 MB apart on either side.
    expect_moved<MatchSmallArguments>(
        paper_request({5, 40, 4000000 / itemsize, 40}, {0, 3, 2, 1}, itemsize), parameters);
  }
  expect_moved<MatchSmallArguments>(paper_request({5, 40, 30, 30000, 40}, {0, 4, 3, 2, 1}, 4),
                                    {fvi_match_small, {2, 2, 16, 16}, 2});
}

TEST(Far, MovesTiles) {
  for (const std::int64_t itemsize : kWidths) {
    for (const int stages : {1, 2}) {
      for (const std::int64_t odd : {0, 1}) {
        expect_moved<DistinctArguments>(
            paper_request({70400 + odd, 81920 / itemsize + odd}, {1, 0}, itemsize),
            {orthogonal_distinct, {1, 1, 64, 64}, -1, stages});
        // Rows and columns 300 MB apart.
        expect_moved<DistinctArguments>(
            paper_request({128 + odd, 2400000 / itemsize, 64 + odd}, {2, 1, 0}, itemsize),
            {orthogonal_distinct, {1, 1, 128, 64}, -1, stages});
      }
    }
  }
  // Along a coarsened mode, with modes combined that do not fuse.
  expect_moved<DistinctArguments>(paper_request({64, 8, 2000, 64, 20}, {3, 1, 0, 4, 2}, 4),
                                  {orthogonal_distinct, {1, 2, 64, 8}, 4});
  expect_moved<DistinctArguments>(paper_request({64, 6000, 4, 64, 20}, {3, 2, 1, 0, 4}, 4),
                                  {orthogonal_distinct, {1, 2, 64, 4}, 4});
}

TEST(Far, MovesSlicesOfAnyModes) {
  for (const int stages : {1, 2}) {
    for (const std::int64_t itemsize : {4, 8, 16}) {
      // Elements up to 2^31 of them apart.
      expect_moved<ArbitraryArguments>(paper_request({32, 2000000, 32}, {2, 1, 0}, itemsize),
                                       {orthogonal_arbitrary, {1, 1, 32, 32}, -1, stages});
      expect_moved<ArbitraryArguments>(
          paper_request({9, 11, 700000, 7, 23}, {3, 1, 4, 0, 2}, itemsize),
          {orthogonal_arbitrary, {1, 2, 9, 11}, -1, stages});
    }
    for (const std::int64_t itemsize : {1, 2}) {
      for (const std::int64_t extent : {32, 31}) {
        // Bytes up to 2^31 apart.
        expect_moved<PackedArguments>(
            paper_request({extent, 60000000 / extent / itemsize * 2, 32, 10 * itemsize},
                          {2, 1, 0, 3}, itemsize),
            {orthogonal_arbitrary, {1, 1, 16, 16}, -1, stages});
      }
    }
  }
  expect_moved<ArbitraryArguments>(paper_request({30, 100000, 20, 30}, {3, 2, 1, 0}, 4),
                                   {orthogonal_arbitrary, {1, 1, 30, 30}, 2});
}

}  // namespace
}  // namespace ttlg::test
