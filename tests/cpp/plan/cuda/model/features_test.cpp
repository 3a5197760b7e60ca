#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/planner.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::paper_problem;
using test::slice_extents;
using test::unfused_problem;

using enum Schema;

using Extents = std::vector<std::int64_t>;

double feature(const Problem& problem, const cuda::Parameters& parameters, std::string_view name) {
  for (const auto& [found, value] : features_of({problem, parameters})) {
    if (found == name) return value;
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

// All features of a plan, by name.
using Features = std::vector<std::pair<std::string_view, double>>;

Features features(const Problem& problem, const cuda::Parameters& parameters) {
  Features result;
  for (const auto& [name, value] : features_of({problem, parameters})) {
    result.emplace_back(name, value);
  }
  return result;
}

// For blocks that divide: C1, C2 and C3 of TTLG, Table I, by hand.
TEST(Transactions, FollowTableOne) {
  // N0 = 8, b = 4 on either side: ceil(32 / 32) * 20 * 40 * 3 / 4.
  const Problem match = unfused_problem({8, 20, 40, 3}, {0, 2, 1, 3}, 4);
  EXPECT_EQ(transactions({match, {fvi_match_small, {2, 2, 4, 4}}}),
            (Transactions{600, 600, 0, 600, 600, 0}));
  // The same block of 5 doubles' rows: ceil(40 / 16) * 20 * 40 * 3 / 5.
  EXPECT_EQ(transactions({unfused_problem({8, 20, 40, 3}, {0, 2, 1, 3}, 8),
                          {fvi_match_small, {2, 2, 5, 4}}}),
            (Transactions{1440, 1440, 0, 1200, 1200, 0}));
  // ceil(100 / 32) * 7 * 5.
  EXPECT_EQ(
      transactions({unfused_problem({100, 7, 5}, {0, 2, 1}, 4), {fvi_match_large, {1, 1, 100, 1}}}),
      (Transactions{140, 0, 0, 140, 0, 0}));
  // C3 = ceil(27 * 9 / 16) * 27^4 / 9 and C3' = ceil(27 / 16) * 27^4.
  const Problem cube = unfused_problem(Extents(5, 27), {4, 1, 2, 0, 3}, 8);
  EXPECT_EQ(transactions({cube, {orthogonal_distinct, {2, 1, 9, 27}}}),
            (Transactions{944784, 944784, 944784, 1062882, 1062882, 1062882}));
  // IS = {a, b, c}, OS = {c, b, d} with 4 of d: C3 = 128 / 32 * 8, C3' = 64 / 32 * 8 * 8 / 4.
  const Problem overlap = unfused_problem({8, 2, 8, 8}, {2, 1, 3, 0}, 4);
  EXPECT_EQ(transactions({overlap, {orthogonal_arbitrary, {3, 3, 8, 4}}}),
            (Transactions{32, 32, 32, 32, 32, 64}));
  EXPECT_EQ(transactions({paper_problem({1000}, {0}, 4), {}}), (Transactions{32, 0, 0, 32, 0, 0}));
}

// Those of the rows of every slice along an axis.
std::int64_t count_transactions(const Problem& problem, const Extents& extents,
                                const std::vector<int>& axis) {
  std::int64_t count = 0;
  test::for_each_row(problem, extents, axis, &Mode::in_byte_stride,
                     [&](std::int64_t, std::int64_t bytes) { count += ceil_div(bytes, 128); });
  return count;
}

// Also where blocks do not divide, which Table I leaves open.
TEST(Transactions, AreThoseOfEveryRow) {
  test::Random random(31);
  int checked = 0;
  test::for_random_candidates(
      random, 300, [&](const Problem& problem, const cuda::Parameters& parameters) {
        const Extents extents = slice_extents({problem, parameters});
        const Transactions counted = transactions({problem, parameters});
        std::vector<int> in_axis(static_cast<std::size_t>(parameters.slice.in_modes));
        std::iota(in_axis.begin(), in_axis.end(), 0);
        const std::vector<int> out_axis(problem.perm.begin(),
                                        problem.perm.begin() + parameters.slice.out_modes);
        EXPECT_EQ(counted.in_dram, count_transactions(problem, extents, in_axis));
        EXPECT_EQ(counted.out_dram, count_transactions(problem, extents, out_axis));
        ++checked;
      });
  EXPECT_GT(checked, 500);
}

// A warp instruction for every row of every tile on the way in, for every column on the way out.
double count_tile_instructions(std::int64_t in_length, std::int64_t out_length) {
  double count = 0;
  for (std::int64_t i = 0; i < in_length; i += 32) {
    for (std::int64_t j = 0; j < out_length; j += 32) {
      count += static_cast<double>(std::min<std::int64_t>(32, out_length - j) +
                                   std::min<std::int64_t>(32, in_length - i));
    }
  }
  return count;
}

TEST(DistinctCycles, AreTheInstructionsOfItsTiles) {
  test::Random random(32);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t in_extent = test::pick(random, 2, 150);
    const std::int64_t out_extent = test::pick(random, 2, 150);
    const std::int64_t in_block = test::pick(random, 1, in_extent);
    const std::int64_t out_block = test::pick(random, 1, out_extent);
    const Problem problem = unfused_problem({in_extent, 3, out_extent}, {2, 1, 0}, 4);
    double expected = 0;
    for (std::int64_t x = 0; x < in_extent; x += in_block) {
      for (std::int64_t y = 0; y < out_extent; y += out_block) {
        expected += 3 * count_tile_instructions(std::min(in_block, in_extent - x),
                                                std::min(out_block, out_extent - y));
      }
    }
    const cuda::Parameters parameters{orthogonal_distinct, {1, 1, in_block, out_block}};
    EXPECT_EQ(feature(problem, parameters, "Cycles"), expected);
  }
}

// 40 x 32 is one full tile and one with 8 columns left.
TEST(DistinctCycles, PairRemaindersWithTheOtherSide) {
  const cuda::Parameters parameters{orthogonal_distinct, {1, 1, 40, 32}};
  EXPECT_EQ(feature(unfused_problem({40, 32}, {1, 0}, 4), parameters, "Cycles"), 64 + (32 + 8));
}

TEST(Features, OfOrthogonalDistinctAreTableTwos) {
  const Problem problem = unfused_problem(Extents(5, 27), {4, 1, 2, 0, 3}, 8);
  const cuda::Parameters parameters{orthogonal_distinct, {2, 1, 7, 27}};
  EXPECT_EQ(features(problem, parameters),
            (Features{{"Volume", 8.0 * 27 * 27 * 27 * 27 * 27},
                      {"NumBlocks", 4 * 27 * 27},
                      {"Input slice", 189},
                      {"Output slice", 27},
                      {"Cycles", feature(problem, parameters, "Cycles")}}));
}

// The slice of TTLG, section IV, 63 x 64, moves in four phases of at most 32 x 32.
TEST(Features, OfTheWorkedSliceMakeFourPhases) {
  const Problem problem = unfused_problem({9, 7, 64}, {2, 1, 0}, 8);
  const cuda::Parameters parameters{orthogonal_distinct, {2, 1, 7, 64}};
  EXPECT_EQ(feature(problem, parameters, "Input slice"), 63);
  EXPECT_EQ(feature(problem, parameters, "Output slice"), 64);
  EXPECT_EQ(feature(problem, parameters, "Cycles"), 2 * 64 + 2 * 63);
}

TEST(Features, OfOrthogonalArbitraryAreTableTwos) {
  // Slices of 8 x 2 x 8 x 3 of 8: two whole ones and one of 2, all of one piece of memory.
  const Problem problem = unfused_problem({8, 2, 8, 8}, {2, 1, 3, 0}, 4);
  const cuda::Parameters parameters{orthogonal_arbitrary, {3, 3, 8, 3}};
  // C3 is 4 for each of 8 rows; C3' is 2 + 2 + 1 for each of the 8 of a.
  EXPECT_EQ(features(problem, parameters),
            (Features{{"Volume", 1024},
                      {"NumThreads", 3 * OrthogonalArbitraryPolicy::kThreads},
                      {"Total Slice", 384},
                      {"Input Stride", 384},
                      {"Output Stride", 48},
                      {"Special Instr", 2 * 384},
                      {"Cycles", 4 * 8 + 5 * 8}}));
}

// TTLG, section IV-A: "the slice size gets multiplied by the size of the coarsening dimension".
TEST(Features, CountTheRepetitionsOfATotalSlice) {
  const Problem problem = unfused_problem({64, 8, 64}, {2, 1, 0}, 4);
  const cuda::Parameters parameters{orthogonal_arbitrary, {1, 1, 32, 32}, 1};
  EXPECT_EQ(feature(problem, parameters, "Total Slice"), 8 * 32 * 32);
  EXPECT_EQ(feature(problem, parameters, "NumThreads"), 4 * OrthogonalArbitraryPolicy::kThreads);
}

TEST(Features, AreLengthsOfASliceOrGrowWithTheVolume) {
  const Slice slice{1, 1, 4, 4};
  const Problem problem = unfused_problem({32, 64, 16, 3}, {2, 1, 0, 3}, 8);
  const Problem match = unfused_problem({32, 64, 16, 3}, {0, 2, 1, 3}, 8);
  const Problem larger = unfused_problem({32, 64, 16, 6}, {2, 1, 0, 3}, 8);
  const Problem larger_match = unfused_problem({32, 64, 16, 6}, {0, 2, 1, 3}, 8);
  const auto check = [](const Problem& small, const Problem& large, const Parameters& parameters) {
    for (const auto& [name, value] : features(small, parameters)) {
      if (name == "Special Instr") continue;  // none here
      EXPECT_EQ(feature(large, parameters, name), is_of_slice(name) ? value : 2 * value) << name;
    }
  };
  check(problem, larger, {orthogonal_distinct, slice});
  check(problem, larger, {orthogonal_arbitrary, slice});
  check(match, larger_match, {fvi_match_large, {1, 1, 32, 1}});
  EXPECT_FALSE(is_of_slice("Special Instr"));
}

TEST(Features, CountDivisionsOnEverySideThatIsCutShort) {
  const Problem problem = unfused_problem({10, 3, 10}, {2, 1, 0}, 4);
  const auto divisions = [&](std::int64_t in_block, std::int64_t out_block) {
    return feature(problem, {orthogonal_arbitrary, {1, 1, in_block, out_block}}, "Special Instr");
  };
  EXPECT_EQ(divisions(5, 5), 0);
  EXPECT_EQ(divisions(4, 5), 2 * 3 * 2 * 20);
  EXPECT_EQ(divisions(5, 4), 2 * 3 * 2 * 20);
  EXPECT_EQ(divisions(4, 4), 2 * 3 * (3 + 3) * 16);
  // One mode that both sides cut is short once.
  const Problem match = unfused_problem({10, 5, 4}, {0, 2, 1}, 4);
  EXPECT_EQ(feature(match, {orthogonal_arbitrary, {1, 1, 4, 4}}, "Special Instr"), 2 * 20 * 4);
}

TEST(Features, CountTheBlocksThatCoarseningLeaves) {
  const Problem problem = unfused_problem({64, 8, 64}, {2, 1, 0}, 4);
  EXPECT_EQ(feature(problem, {orthogonal_distinct, {1, 1, 32, 32}}, "NumBlocks"), 32);
  EXPECT_EQ(feature(problem, {orthogonal_distinct, {1, 1, 32, 32}, 1}, "NumBlocks"), 4);
}

TEST(Features, OfMatchingRunsAreTheirSlices) {
  const Problem problem = unfused_problem({8, 20, 40}, {0, 2, 1}, 4);
  const cuda::Parameters parameters{fvi_match_small, {2, 2, 4, 8}};
  EXPECT_EQ(feature(problem, parameters, "NumBlocks"), 25);
  EXPECT_EQ(feature(problem, parameters, "FVI"), 8);
  EXPECT_EQ(feature(problem, parameters, "Input slice"), 32);
  EXPECT_EQ(feature(problem, parameters, "Output slice"), 64);
  EXPECT_EQ(feature(problem, parameters, "Cycles"), 200 + 200);
  EXPECT_EQ(feature(paper_problem({10}, {0}, 4), {}, "Volume"), 40);
}

}  // namespace
}  // namespace ttlg::cuda
