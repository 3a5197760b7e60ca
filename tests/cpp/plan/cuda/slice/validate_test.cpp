// Each limit of a plan by itself: what it admits, and what breaks this rule alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/slice/slices.hpp"

namespace ttlg::cuda {
namespace {

using test::unfused_problem;

using enum Schema;

using Extents = std::vector<std::int64_t>;

// `good` are parameters at the limit, and `bad` beyond it for this reason.
struct Limit {
  Problem problem;
  cuda::Parameters good;
  cuda::Parameters bad;
  std::string reason;
  std::int64_t alignment = kMaxAccessBytes;
};

void expect_limits(const std::vector<Limit>& limits) {
  for (const auto& [problem, good, bad, reason, alignment] : limits) {
    EXPECT_EQ(obstacle(problem, good, alignment), "") << "where refused: " << reason;
    EXPECT_EQ(obstacle(problem, bad, alignment), reason);
  }
}

const Problem kMatrix = unfused_problem({100, 200}, {1, 0}, 4);

TEST(RejectionReason, KeepsModesAndBlocksInTheProblem) {
  const cuda::Parameters good{orthogonal_distinct, {1, 1, 100, 200}};
  const std::string in = "a slice combines from 1 to 8 modes of the input";
  const std::string out = "a slice combines from 1 to 8 modes of the output";
  const std::string in_block =
      "the block of the input's last mode must be from 1 to its extent, 100";
  const std::string out_block =
      "the block of the output's last mode must be from 1 to its extent, 200";
  const Problem many = unfused_problem(Extents(10, 2), {0, 1, 2, 3, 4, 5, 7, 6, 9, 8}, 4);
  expect_limits({
      {kMatrix, good, {orthogonal_distinct, {0, 1, 100, 200}}, in},
      {kMatrix, good, {orthogonal_distinct, {-1, 1, 100, 200}}, in},
      {kMatrix, {orthogonal_arbitrary, {2, 1, 5, 5}}, {orthogonal_arbitrary, {3, 1, 5, 5}}, in},
      {many, {orthogonal_arbitrary, {8, 1, 2, 2}}, {orthogonal_arbitrary, {9, 1, 1, 2}}, in},
      {kMatrix, good, {orthogonal_distinct, {1, 0, 100, 200}}, out},
      {kMatrix, {orthogonal_arbitrary, {1, 2, 5, 5}}, {orthogonal_arbitrary, {1, 3, 5, 5}}, out},
      {many, {orthogonal_arbitrary, {1, 8, 2, 2}}, {orthogonal_arbitrary, {1, 9, 2, 1}}, out},
      {kMatrix, good, {orthogonal_distinct, {1, 1, 101, 200}}, in_block},
      {kMatrix, good, {orthogonal_distinct, {1, 1, 0, 200}}, in_block},
      {kMatrix, good, {orthogonal_distinct, {1, 1, 100, 201}}, out_block},
      {kMatrix, good, {orthogonal_distinct, {1, 1, 100, 0}}, out_block},
  });
}

TEST(RejectionReason, KeepsLongRunsInChunks) {
  const Problem problem = unfused_problem({4100, 20, 30}, {0, 2, 1}, 4);
  const Problem small = unfused_problem({100, 20, 30}, {0, 2, 1}, 4);
  const cuda::Parameters good{fvi_match_large, {1, 1, 100, 1}};
  const std::string alone = "it cuts the first mode alone";
  expect_limits({
      {problem,
       {fvi_match_large, {1, 1, 4096, 1}},
       {fvi_match_large, {1, 1, 4097, 1}},
       "the bytes of a chunk may be at most 16384"},
      {small, good, {fvi_match_large, {2, 1, 1, 1}}, alone},
      {small, good, {fvi_match_large, {1, 2, 100, 1}}, alone},
      {small, good, {fvi_match_large, {1, 1, 100, 2}}, alone},
  });
}

TEST(RejectionReason, KeepsShortRunsInSlices) {
  const Problem problem = unfused_problem({5, 40, 50}, {0, 2, 1}, 4);
  const Problem longer = unfused_problem({9, 40, 50}, {0, 2, 1}, 4);
  const cuda::Parameters good{fvi_match_small, {2, 2, 32, 32}};
  const std::string two = "it cuts two modes";
  const std::string block = "a block may be at most 32";
  expect_limits({
      {problem, good, {fvi_match_small, {2, 2, 33, 32}}, block},
      {problem, good, {fvi_match_small, {2, 2, 32, 33}}, block},
      {problem, good, {fvi_match_small, {1, 2, 5, 32}}, two},
      {problem, good, {fvi_match_small, {3, 2, 2, 1}}, two},
      {problem, good, {fvi_match_small, {2, 1, 32, 5}}, two},
      {problem, good, {fvi_match_small, {2, 3, 1, 2}}, two},
      {longer,
       {fvi_match_small, {2, 2, 28, 32}},
       {fvi_match_small, {2, 2, 29, 32}},
       "the bytes of a slice may be at most 32768"},
  });
}

TEST(RejectionReason, KeepsDistinctSlicesDistinct) {
  expect_limits({
      {unfused_problem({1 << 16, 1 << 15}, {1, 0}, 4),
       {orthogonal_distinct, {1, 1, (1 << 16) - 1, 1 << 15}},
       {orthogonal_distinct, {1, 1, 1 << 16, 1 << 15}},
       "the elements of a slice may be at most 2147483647"},
      {unfused_problem({8, 8, 8}, {1, 0, 2}, 4),
       {orthogonal_distinct, {1, 1, 8, 8}},
       {orthogonal_distinct, {2, 1, 1, 8}},
       "the modes of the input and of the output in a slice must be distinct"},
  });
}

// Where mode 0 has `near` elements and mode 2 `far`, elements of a slice of 2 x 2 lie 1 + near * n
// apart in the input and 1 + far * n in the output.
Problem far_apart(std::int64_t near, std::int64_t n, std::int64_t far, std::int64_t itemsize) {
  return unfused_problem({near, n, far}, {2, 1, 0}, itemsize);
}

TEST(RejectionReason, KeepsOffsetsOfASliceIn32Bits) {
  const cuda::Parameters pair{orthogonal_arbitrary, {1, 1, 2, 2}};
  const std::string elements = "the distance of two elements of a slice may be at most 2147483647";
  const std::string bytes = "the distance of two bytes of a slice may be at most 2147483639";
  for (const bool in : {false, true}) {
    const auto reason = [&](std::int64_t n, std::int64_t itemsize) {
      return obstacle(far_apart(in ? 3 : 2, n, in ? 2 : 3, itemsize), pair);
    };
    for (const std::int64_t itemsize : {4, 16}) {
      EXPECT_EQ(reason(INT32_MAX / 3, itemsize), "");
      EXPECT_EQ(reason(INT32_MAX / 3 + 1, itemsize), elements);
    }
    EXPECT_EQ(reason((INT32_MAX - 9) / 3, 1), "");
    EXPECT_EQ(reason((INT32_MAX - 9) / 3 + 1, 1), bytes);
    EXPECT_EQ(reason((INT32_MAX - 10) / 6, 2), "");
    EXPECT_EQ(reason((INT32_MAX - 10) / 6 + 1, 2), bytes);
  }
}

TEST(RejectionReason, KeepsSlicesInRegisters) {
  const auto matrix = [](std::int64_t itemsize) {
    return unfused_problem({128, 400}, {1, 0}, itemsize);
  };
  const auto slice = [](std::int64_t rows) {
    return cuda::Parameters{orthogonal_arbitrary, {1, 1, 64, rows}};
  };
  const auto most = [](std::int64_t elements) {
    return "the elements of a slice may be at most " + std::to_string(elements);
  };
  const std::vector<int> halves{5, 6, 7, 8, 0, 1, 2, 3, 4};
  expect_limits({
      {matrix(4), slice(64), slice(65), most(4096)},
      {matrix(8), slice(64), slice(65), most(4096)},
      {matrix(16), slice(32), slice(33), most(2048)},
      {matrix(2), slice(128), slice(129), most(8192)},
      {matrix(1), slice(256), slice(257), most(16384)},
      // Runs of 64 elements that begin anywhere, and a lane of each warp idle.
      {matrix(2), slice(120), slice(124), "the words of a slice may be at most 3968", 2},
      {unfused_problem(Extents(9, 2), halves, 4),
       {orthogonal_arbitrary, {4, 4, 2, 2}},
       {orthogonal_arbitrary, {5, 4, 1, 2}},
       "the modes of a slice may be at most 8"},
  });
}

TEST(RejectionReason, CoarsensModesOutsideTheSlice) {
  const Problem problem = unfused_problem({32, 20, 40, 50}, {2, 1, 0, 3}, 4);
  const auto along = [](int mode) {
    return cuda::Parameters{orthogonal_distinct, {1, 1, 32, 32}, mode};
  };
  const std::string outside = "the coarsened mode must lie outside the slice";
  const auto long_mode = [](std::int64_t extent) {
    return unfused_problem({32, extent, 32}, {2, 1, 0}, 4);
  };
  expect_limits({
      {problem, along(1), along(0), outside},
      {problem, along(3), along(2), outside},
      {problem, along(-1), along(-2), outside},
      {problem, along(3), along(4), outside},
  });
  EXPECT_EQ(obstacle(long_mode(INT32_MAX), along(1)), "");
  EXPECT_EQ(obstacle(long_mode(std::int64_t{INT32_MAX} + 1), along(1)),
            "the extent of the coarsened mode may be at most 2147483647");
}

TEST(RejectionReason, HasBandsOfOrthogonalDistinctAlone) {
  const std::string reason =
      "the width of a band must be at least 1 slice of orthogonal_distinct, or 0 for none";
  const auto in_bands = [](Schema schema, std::int64_t width) {
    return cuda::Parameters{.schema = schema, .slice = {1, 1, 32, 32}, .band_width = width};
  };
  expect_limits(
      {{kMatrix, in_bands(orthogonal_distinct, 0), in_bands(orthogonal_distinct, -1), reason},
       {kMatrix, in_bands(orthogonal_distinct, INT64_MAX), in_bands(orthogonal_arbitrary, 1),
        reason}});
}

TEST(RejectionReason, BuffersOrthogonalKernelsAlone) {
  const std::string reason = "stages must be 1, or up to 2 of an orthogonal kernel";
  const auto with = [](cuda::Parameters parameters, int stages) {
    parameters.stages = stages;
    return parameters;
  };
  const Problem match = unfused_problem({20, 40, 50}, {0, 2, 1}, 4);
  for (const cuda::Parameters& each : {cuda::Parameters{orthogonal_distinct, {1, 1, 32, 32}},
                                       {orthogonal_arbitrary, {1, 1, 32, 32}}}) {
    expect_limits({{kMatrix, with(each, 2), with(each, 3), reason},
                   {kMatrix, with(each, 1), with(each, 0), reason}});
  }
  for (const cuda::Parameters& each :
       {cuda::Parameters{fvi_match_large, {1, 1, 20, 1}}, {fvi_match_small, {2, 2, 8, 8}}}) {
    expect_limits({{match, with(each, 1), with(each, 2), reason}});
  }
}

TEST(RejectionReason, LeavesACopyAsItIs) {
  const Problem run = unfused_problem({100}, {0}, 4);
  const std::string reason = "it has neither slice nor coarsened mode";
  expect_limits({{run, {copy}, {copy, {1, 0, 1, 1}}, reason},
                 {run, {copy}, {copy, {0, 1, 1, 1}}, reason},
                 {run, {copy}, {copy, {0, 0, 2, 1}}, reason},
                 {run, {copy}, {copy, {0, 0, 1, 2}}, reason},
                 {run, {copy}, {copy, {}, 0}, reason},
                 {run, {copy}, {copy, {}, -1, 2}, reason}});
}

}  // namespace
}  // namespace ttlg::cuda
