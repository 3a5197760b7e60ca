#include "plan/cuda/grid_loops.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "moves.hpp"
#include "plan/cuda/cases.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::slice_extents;
using test::unfused_problem;

using enum Schema;

using Extents = std::vector<std::int64_t>;

TEST(SliceExtents, TakeTheLargerOfBothSides) {
  const Problem problem = unfused_problem({8, 2, 8, 8}, {2, 1, 3, 0}, 4);
  EXPECT_EQ(slice_extents({problem, {orthogonal_arbitrary, {3, 2, 3, 1}}}), (Extents{8, 2, 8, 1}));
  EXPECT_EQ(slice_extents({problem, {orthogonal_arbitrary, {3, 1, 3, 5}}}), (Extents{8, 2, 5, 1}));
  EXPECT_EQ(slice_extents({problem, {orthogonal_distinct, {1, 2, 4, 1}}}), (Extents{4, 1, 8, 1}));
  const Problem match = unfused_problem({5, 20, 30, 40}, {0, 2, 1, 3}, 4);
  EXPECT_EQ(slice_extents({match, {fvi_match_small, {2, 2, 8, 16}}}), (Extents{5, 8, 16, 1}));
  EXPECT_EQ(slice_extents({match, {fvi_match_large, {1, 1, 3, 1}}}), (Extents{3, 1, 1, 1}));
}

TEST(GridLoops, BeginWithTheModesThatAreCut) {
  const Problem problem = unfused_problem({8, 2, 10, 9}, {2, 1, 3, 0}, 4);
  const auto loop = [&](std::size_t m, std::int64_t block) {
    const Mode& mode = problem.modes[m];
    return GridLoop{ceil_div(mode.extent, block), block * mode.in_byte_stride,
                    block * mode.out_byte_stride};
  };
  const GridLoop none{1, 0, 0};
  using Loops = std::vector<GridLoop>;
  const cuda::Parameters distinct{orthogonal_distinct, {1, 1, 4, 3}};
  EXPECT_EQ(grid_loops({problem, distinct}),
            (Loops{loop(2, 3), loop(0, 4), loop(1, 1), loop(3, 1)}));
  EXPECT_EQ(grid_blocks({problem, distinct}), 4 * 2 * 2 * 9);
  const cuda::Parameters both{orthogonal_arbitrary, {3, 1, 3, 5}};
  EXPECT_EQ(grid_loops({problem, both}), (Loops{none, loop(2, 5), loop(3, 1)}));
  const cuda::Parameters coarse{orthogonal_distinct, {1, 1, 4, 3}, 3};
  EXPECT_EQ(grid_blocks({problem, coarse}), 4 * 2 * 2);
  EXPECT_EQ(SlicedProblem(problem, coarse).repeats(), 9);
  EXPECT_EQ(SlicedProblem(problem, distinct).repeats(), 1);
  const Problem match = unfused_problem({50, 20, 30}, {0, 2, 1}, 4);
  EXPECT_EQ(grid_loops({match, {fvi_match_large, {1, 1, 20, 1}}}),
            (Loops{none, GridLoop{3, 80, 80}, GridLoop{30, 4000, 200}, GridLoop{20, 200, 6000}}));
  EXPECT_TRUE(grid_loops({match, {}}).empty());
}

TEST(BlockDistance, IsThatOfNeighboursInTheGridsOrder) {
  const Problem problem = unfused_problem({8, 2, 10, 9}, {2, 1, 3, 0}, 4);
  // The grid has modes 2 (4 blocks), 0 (2), 1 (2) and 3 (9), the fastest first.
  const cuda::Parameters distinct{orthogonal_distinct, {1, 1, 4, 3}};
  const std::vector<std::int64_t> expected{4, 8, 1, 16};
  for (int m = 0; m < 4; ++m) {
    EXPECT_EQ(block_distance({problem, distinct}, m), expected[static_cast<std::size_t>(m)]) << m;
  }
  EXPECT_EQ(block_distance({problem, {orthogonal_distinct, {1, 1, 4, 3}, 3}}, 3), 0) << "coarsened";
  EXPECT_EQ(block_distance({problem, {orthogonal_arbitrary, {3, 1, 3, 5}}}, 0), 0) << "whole";
  EXPECT_EQ(block_distance({problem, {}}, 0), 0);
}

// Where slices begin, by the grid's loops and by the modes themselves.
test::Moves slices_by_loops(const Problem& problem, const cuda::Parameters& parameters) {
  std::vector<Mode> steps;
  for (const GridLoop& loop : grid_loops({problem, parameters})) {
    steps.push_back({loop.count, loop.in_byte_step, loop.out_byte_step});
  }
  if (parameters.coarsened_mode >= 0) {
    steps.push_back(problem.modes[static_cast<std::size_t>(parameters.coarsened_mode)]);
  }
  test::Moves starts;
  test::append_moves(starts, steps, 1, 0, 0);
  return test::sorted(std::move(starts));
}

test::Moves slices_by_modes(const Problem& problem, const Extents& extents) {
  std::vector<Mode> steps;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    const Mode& mode = problem.modes[m];
    steps.push_back({ceil_div(mode.extent, extents[m]), extents[m] * mode.in_byte_stride,
                     extents[m] * mode.out_byte_stride});
  }
  test::Moves starts;
  test::append_moves(starts, steps, 1, 0, 0);
  return test::sorted(std::move(starts));
}

TEST(GridLoops, VisitEverySliceOnce) {
  test::Random random(22);
  std::map<Schema, int> seen;
  test::for_random_candidates(
      random, 300, [&](const Problem& problem, const cuda::Parameters& parameters) {
        const auto expected = slices_by_modes(problem, slice_extents({problem, parameters}));
        EXPECT_EQ(slices_by_loops(problem, parameters), expected);
        EXPECT_EQ(grid_blocks({problem, parameters}) * SlicedProblem(problem, parameters).repeats(),
                  std::ssize(expected));
        ++seen[parameters.schema];
      });
  EXPECT_EQ(seen.size(), 4U);
}

// TTLG, section IV-A.
TEST(CoarsenedMode, IsTheFirstOfMiddlingExtentOutsideTheSlice) {
  const cuda::Parameters slice{orthogonal_distinct, {1, 1, 32, 32}};
  const auto mode_for = [&](const Extents& extents) {
    return choose_coarsened_mode({unfused_problem(extents, {4, 3, 2, 1, 0}, 4), slice});
  };
  EXPECT_EQ(mode_for({64, 8, 8, 8, 64}), 1);
  EXPECT_EQ(mode_for({64, 3, 33, 32, 128}), 3);
  EXPECT_EQ(mode_for({64, 3, 4, 33, 128}), 2);
  EXPECT_EQ(mode_for({64, 33, 3, 33, 128}), -1);
  EXPECT_EQ(mode_for({64, 4, 2, 8, 64}), -1) << "a megabyte";
  EXPECT_EQ(mode_for({64, 4, 2, 16, 64}), -1) << "two megabytes exactly";
  const Problem problem = unfused_problem({64, 8, 8, 8, 64}, {4, 3, 2, 1, 0}, 4);
  EXPECT_EQ(choose_coarsened_mode({problem, {orthogonal_distinct, {1, 4, 32, 1}}}), -1);
  EXPECT_EQ(choose_coarsened_mode({problem, {}}), -1);
}

}  // namespace
}  // namespace ttlg::cuda
