#include "plan/cuda/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::extents_of;
using test::paper_problem;
using test::paper_request;
using test::slice_extents;
using test::unfused_problem;

using enum Schema;

using Extents = std::vector<std::int64_t>;
using Offsets = std::pair<std::int64_t, std::int64_t>;

TEST(SchemaName, ReadsBackWhatItPrints) {
  for (const Schema schema :
       {copy, fvi_match_large, fvi_match_small, orthogonal_distinct, orthogonal_arbitrary}) {
    EXPECT_EQ(schema_from_name(schema_name(schema)), schema);
  }
  EXPECT_EQ(schema_from_name("tile"), std::nullopt);
}

TEST(RecastProblem, FoldsRunsThatAThreadMoves) {
  const auto recast_of = [](std::int64_t run, std::int64_t itemsize) {
    return paper_problem({run, 5, 7}, {0, 2, 1}, itemsize);
  };
  EXPECT_EQ(recast_of(4, 4).element_bytes, 16);
  EXPECT_EQ(extents_of(recast_of(4, 4)), (Extents{5, 7}));
  EXPECT_EQ(recast_of(4, 4).perm, (std::vector{1, 0}));
  EXPECT_EQ(recast_of(2, 1).element_bytes, 2);
  EXPECT_EQ(extents_of(recast_of(16, 4)), (Extents{16, 5, 7})) << "no thread moves 64 bytes";
  EXPECT_EQ(extents_of(recast_of(3, 8)), (Extents{3, 5, 7}));
}

TEST(RecastProblem, CutsOtherElementsIntoWords) {
  const Problem wide = paper_problem({5, 7}, {1, 0}, 24);
  EXPECT_EQ(wide.element_bytes, 8);
  EXPECT_EQ(extents_of(wide), (Extents{3, 5, 7}));
  EXPECT_EQ(wide.perm, (std::vector{0, 2, 1}));
  EXPECT_EQ(paper_problem({5, 7}, {1, 0}, 3).element_bytes, 1);
  EXPECT_EQ(extents_of(paper_problem({4, 5, 7}, {0, 2, 1}, 3)), (Extents{3, 5, 7}))
      << "four pixels of three bytes are three words of four";
  EXPECT_EQ(paper_problem({40, 5, 7}, {0, 2, 1}, 1).element_bytes, 4);
  EXPECT_EQ(paper_problem({42, 5, 7}, {0, 2, 1}, 1).element_bytes, 2);
}

TEST(RecastProblem, GoesDownToWhatIsAligned) {
  const Problem problem = make_problem(paper_request({6, 10}, {1, 0}, 16));
  for (const std::int64_t alignment : {1, 2, 4, 8, 16, 256}) {
    const Problem recast = recast_problem(problem, alignment);
    EXPECT_EQ(recast.element_bytes, std::min<std::int64_t>(alignment, 16));
    EXPECT_EQ(recast.modes.size(), alignment < 16 ? 3U : 2U);
  }
  Request odd = paper_request({6, 10}, {1, 0}, 4);
  odd.in_byte_strides = {26, 4};
  EXPECT_EQ(recast_problem(make_problem(odd), 16).element_bytes, 2);
}

TEST(RecastProblem, LeavesNothingOfEmptyProblems) {
  for (const Request& request :
       {paper_request({0, 4}, {1, 0}, 4), paper_request({3, 4}, {1, 0}, 0)}) {
    const Problem recast = recast_problem(make_problem(request), 16);
    EXPECT_EQ(recast.bytes(), 0);
    EXPECT_TRUE(is_admissible(copy, recast));
  }
}

// Where every byte comes from and goes to.
std::vector<Offsets> byte_moves(const Problem& problem) {
  std::vector<Offsets> moves;
  test::for_each_point(extents_of(problem), [&](const Extents& point) {
    Offsets at{problem.in_byte_offset, problem.out_byte_offset};
    for (std::size_t m = 0; m < point.size(); ++m) {
      at.first += point[m] * problem.modes[m].in_byte_stride;
      at.second += point[m] * problem.modes[m].out_byte_stride;
    }
    for (std::int64_t byte = 0; byte < problem.element_bytes; ++byte) {
      moves.emplace_back(at.first + byte, at.second + byte);
    }
  });
  std::ranges::sort(moves);
  return moves;
}

bool is_word(std::int64_t bytes, std::int64_t alignment, const Problem& recast) {
  const bool width = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
  return width && alignment % bytes == 0 &&
         std::ranges::all_of(recast.modes, [&](const Mode& mode) {
           return mode.in_byte_stride % bytes == 0 && mode.out_byte_stride % bytes == 0;
         });
}

TEST(RecastProblem, MovesTheSameBytes) {
  test::Random random(21);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = make_problem(test::random_request(random));
    if (problem.bytes() == 0) continue;
    const std::int64_t alignment = std::int64_t{1} << (i % 6);
    const Problem recast = recast_problem(problem, alignment);
    EXPECT_TRUE(is_word(recast.element_bytes, alignment, recast)) << recast.element_bytes;
    EXPECT_EQ(byte_moves(recast), byte_moves(problem));
  }
}

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

// Where slices begin, by the grid's loops and by the modes themselves.
std::vector<Offsets> slices_by_loops(const Problem& problem, const cuda::Parameters& parameters) {
  std::vector<GridLoop> loops = grid_loops({problem, parameters});
  if (parameters.coarsened_mode >= 0) {
    const Mode& mode = problem.modes[static_cast<std::size_t>(parameters.coarsened_mode)];
    loops.push_back({mode.extent, mode.in_byte_stride, mode.out_byte_stride});
  }
  Extents counts;
  for (const GridLoop& loop : loops) counts.push_back(loop.count);
  std::vector<Offsets> starts;
  test::for_each_point(counts, [&](const Extents& point) {
    Offsets at{0, 0};
    for (std::size_t i = 0; i < point.size(); ++i) {
      at.first += point[i] * loops[i].in_byte_step;
      at.second += point[i] * loops[i].out_byte_step;
    }
    starts.push_back(at);
  });
  std::ranges::sort(starts);
  return starts;
}

std::vector<Offsets> slices_by_modes(const Problem& problem, const Extents& extents) {
  Extents counts;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    counts.push_back(ceil_div(problem.modes[m].extent, extents[m]));
  }
  std::vector<Offsets> starts;
  test::for_each_point(counts, [&](const Extents& point) {
    Offsets at{0, 0};
    for (std::size_t m = 0; m < point.size(); ++m) {
      at.first += point[m] * extents[m] * problem.modes[m].in_byte_stride;
      at.second += point[m] * extents[m] * problem.modes[m].out_byte_stride;
    }
    starts.push_back(at);
  });
  std::ranges::sort(starts);
  return starts;
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

TEST(BuildCudaPlan, RefusesWhatKernelsCannotDo) {
  const Request matrix = paper_request({100, 200}, {1, 0}, 4);
  const Request match = paper_request({5, 20, 30}, {0, 2, 1}, 4);
  const Request many = paper_request(Extents(12, 2), {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 4);
  const std::vector<std::pair<Request, cuda::Parameters>> wrong{
      {matrix, {copy}},
      {matrix, {fvi_match_large, {1, 1, 100, 1}}},
      {matrix, {orthogonal_distinct, {2, 1, 200, 32}}},
      {matrix, {orthogonal_distinct, {0, 1, 1, 32}}},
      {matrix, {orthogonal_distinct, {1, 1, 101, 32}}},
      {matrix, {orthogonal_distinct, {1, 1, 32, 32}, 1}},
      {matrix, {orthogonal_distinct, {1, 1, 32, 32}, 2}},
      {matrix, {orthogonal_arbitrary, {1, 1, 100, 41}}},
      {many, {orthogonal_arbitrary, {5, 4, 2, 2}}},
      {match, {fvi_match_small, {2, 2, 20, 33}}},
      {match, {fvi_match_small, {1, 1, 5, 1}}},
      {match, {fvi_match_large, {1, 1, 5, 2}}},
      {match, {orthogonal_distinct, {1, 1, 5, 5}}},
      {paper_request({30, 40, 40}, {0, 2, 1}, 16), {fvi_match_small, {2, 2, 32, 32}}},
      {paper_request({5000, 4, 4}, {0, 2, 1}, 4), {fvi_match_large, {1, 1, 5000, 1}}},
      {paper_request({4, 5}, {0, 1}, 4), {copy, {1, 1, 1, 1}}}};
  for (const auto& [request, parameters] : wrong) {
    EXPECT_THROW(test::built(request, 16, parameters), std::invalid_argument)
        << schema_name(parameters.schema);
  }
  const DeviceModel model = test::k40c_model();
  const cuda::Parameters good{orthogonal_arbitrary, {1, 1, 100, 40}};
  const cuda::Plan plan = test::built(matrix, 16, good, model);
  EXPECT_EQ(plan.recast, paper_problem({100, 200}, {1, 0}, 4));
  EXPECT_EQ(plan.out_shape, (Extents{100, 200}));
  EXPECT_EQ(*plan.model, model);
  EXPECT_EQ(plan.predicted_seconds, predict_seconds(model, plan.sliced()));
}

}  // namespace
}  // namespace ttlg::cuda
