// Every kernel on tensors of more than 2^32 bytes, in slices whose elements lie gigabytes apart
// too: some blocks of each launch, on arrays that nobody has allocated.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/far_memory.hpp"
#include "cuda/kernel_runs.hpp"
#include "cuda/lower.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum Schema;
using Violations = std::vector<std::string>;

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

struct Case {
  std::vector<std::int64_t> extents;
  std::vector<int> perm;
  std::int64_t itemsize;
  cuda::Parameters parameters;
  std::size_t kernel;  // the index of its arguments
  Misalignments misalignments{};
  // Of every how many elements of the fastest mode the input is, where there are gaps.
  std::int64_t every = 1;
};

template <typename Arguments>
constexpr std::size_t kIndexOf = [] {
  return []<typename... Each>(const std::variant<Each...>*) {
    std::size_t index = 0;
    const bool found = ((std::is_same_v<Arguments, Each> || (++index, false)) || ...);
    return found ? index : SIZE_MAX;
  }(static_cast<const KernelArguments*>(nullptr));
}();

void expect_moved(const Case& each) {
  Request request = paper_request(each.extents, each.perm, each.itemsize);
  for (std::int64_t& stride : request.in_byte_strides) stride *= each.every;
  const cuda::Plan plan = built(request, alignment_of(each.misalignments), each.parameters);
  SCOPED_TRACE(describe(plan, each.misalignments));
  const Executable executable(plan);
  constexpr std::uintptr_t kAddress = 1 << 20;
  const auto at = [](std::size_t beyond) {
    return reinterpret_cast<const std::byte*>(kAddress + beyond);
  };
  const Launch launch = executable.bind(at(each.misalignments.in), at(each.misalignments.out));
  ASSERT_EQ(executable.grid.launches, 1);
  EXPECT_EQ(launch.arguments.index(), each.kernel);
  // A slice for each block, of those that walk through several.
  const bool walks = each.parameters.schema == orthogonal_distinct ||
                     each.parameters.schema == orthogonal_arbitrary;
  const FarArrays arrays{.in_bytes = plan.problem.bytes() * each.every,
                         .out_bytes = plan.problem.bytes(),
                         .source = [&](std::int64_t to) { return source_of(plan.recast, to); },
                         .in_misalignment = static_cast<std::int64_t>(each.misalignments.in),
                         .out_misalignment = static_cast<std::int64_t>(each.misalignments.out)};
  ASSERT_GT(arrays.in_bytes, kFar);
  EXPECT_EQ(run_far({walks ? executable.grid.grid.slices : launch.blocks, launch.threads,
                     launch.shared_bytes},
                    arrays, kernel_of(launch, executable.grid.grid)),
            Violations{});
}

TEST(Far, Copies) {
  const std::int64_t bytes = 5'000'000'000;
  for (const auto& [in, out] : {std::pair{0, 0}, {5, 5}, {3, 8}}) {
    expect_moved({{bytes},
                  {0},
                  1,
                  {},
                  kIndexOf<CopyArguments>,
                  {static_cast<std::size_t>(in), static_cast<std::size_t>(out)}});
  }
}

TEST(Far, MovesLongRuns) {
  for (const std::int64_t itemsize : {1, 2, 4, 8, 16}) {
    const std::int64_t run = 4400 / itemsize + 1;
    const cuda::Parameters parameters{fvi_match_large, {1, 1, run, 1}};
    // Runs of narrow elements would be shifted if they had no gaps.
    expect_moved({{run, 1100, 1000},
                  {0, 2, 1},
                  itemsize,
                  parameters,
                  kIndexOf<MatchLargeArguments>,
                  {},
                  itemsize < 4 ? 2 : 1});
  }
  // Elements 100 MB apart.
  expect_moved({{60, 8},
                {0, 1},
                4,
                {fvi_match_large, {1, 1, 60, 1}},
                kIndexOf<MatchLargeArguments>,
                {},
                25'000'000});
  // Along a coarsened mode and in chunks.
  expect_moved({{9000, 20, 7000},
                {0, 2, 1},
                4,
                {fvi_match_large, {1, 1, 1024, 1}, 1},
                kIndexOf<MatchLargeArguments>});
  expect_moved({{9000, 7000, 20},
                {0, 2, 1},
                4,
                {fvi_match_large, {1, 1, 1024, 1}, 2},
                kIndexOf<MatchLargeArguments>});
  // A mode that does not follow its neighbour in memory.
  expect_moved({{1101, 2000, 2100},
                {0, 2, 1},
                1,
                {fvi_match_large, {1, 1, 1101, 1}},
                kIndexOf<MatchLargeShiftedArguments>,
                {1, 2}});
  expect_moved({{9001, 70000, 8},
                {0, 2, 1},
                1,
                {fvi_match_large, {1, 1, 2048, 1}, 2},
                kIndexOf<MatchLargeShiftedArguments>});
}

TEST(Far, MovesShortRuns) {
  for (const std::int64_t itemsize : {1, 2, 4, 8, 16}) {
    const cuda::Parameters parameters{fvi_match_small, {2, 2, 16, 16}};
    expect_moved({{7, 16000 / itemsize, 45000},
                  {0, 2, 1},
                  itemsize,
                  parameters,
                  kIndexOf<MatchSmallArguments>});
    // Rows 640 MB apart on either side.
    expect_moved({{5, 40, 4000000 / itemsize, 40},
                  {0, 3, 2, 1},
                  itemsize,
                  parameters,
                  kIndexOf<MatchSmallArguments>});
  }
  expect_moved({{5, 40, 30, 30000, 40},
                {0, 4, 3, 2, 1},
                4,
                {fvi_match_small, {2, 2, 16, 16}, 2},
                kIndexOf<MatchSmallArguments>});
}

TEST(Far, MovesTiles) {
  for (const std::int64_t itemsize : {1, 2, 4, 8, 16}) {
    for (const int stages : {1, 2}) {
      const cuda::Parameters matrix{orthogonal_distinct, {1, 1, 64, 64}, -1, stages};
      const cuda::Parameters tensor{orthogonal_distinct, {1, 1, 128, 64}, -1, stages};
      for (const std::int64_t odd : {0, 1}) {
        expect_moved({{70400 + odd, 81920 / itemsize + odd},
                      {1, 0},
                      itemsize,
                      matrix,
                      kIndexOf<DistinctArguments>});
        // Rows and columns 300 MB apart.
        expect_moved({{128 + odd, 2400000 / itemsize, 64 + odd},
                      {2, 1, 0},
                      itemsize,
                      tensor,
                      kIndexOf<DistinctArguments>});
      }
    }
  }
  // Along a coarsened mode, with modes combined that do not fuse.
  expect_moved({{64, 8, 2000, 64, 20},
                {3, 1, 0, 4, 2},
                4,
                {orthogonal_distinct, {1, 2, 64, 8}, 4},
                kIndexOf<DistinctArguments>});
  expect_moved({{64, 6000, 4, 64, 20},
                {3, 2, 1, 0, 4},
                4,
                {orthogonal_distinct, {1, 2, 64, 4}, 4},
                kIndexOf<DistinctArguments>});
}

TEST(Far, MovesSlicesOfAnyModes) {
  for (const std::int64_t itemsize : {4, 8, 16}) {
    for (const int stages : {1, 2}) {
      // Elements up to 2^31 of them apart.
      expect_moved({{32, 2000000, 32},
                    {2, 1, 0},
                    itemsize,
                    {orthogonal_arbitrary, {1, 1, 32, 32}, -1, stages},
                    kIndexOf<ArbitraryArguments>});
      expect_moved({{9, 11, 700000, 7, 23},
                    {3, 1, 4, 0, 2},
                    itemsize,
                    {orthogonal_arbitrary, {1, 2, 9, 11}, -1, stages},
                    kIndexOf<ArbitraryArguments>});
    }
  }
  expect_moved({{30, 100000, 20, 30},
                {3, 2, 1, 0},
                4,
                {orthogonal_arbitrary, {1, 1, 30, 30}, 2},
                kIndexOf<ArbitraryArguments>});
  for (const std::int64_t itemsize : {1, 2}) {
    for (const int stages : {1, 2}) {
      for (const std::int64_t extent : {32, 31}) {
        // Bytes up to 2^31 apart.
        expect_moved({{extent, 60000000 / extent / itemsize * 2, 32, 10 * itemsize},
                      {2, 1, 0, 3},
                      itemsize,
                      {orthogonal_arbitrary, {1, 1, 16, 16}, -1, stages},
                      kIndexOf<PackedArguments>});
      }
    }
  }
}

}  // namespace
}  // namespace ttlg::test
