// When threads may move 16 bytes at once.
#include "plan/cuda/slice/access_width.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::extents_of;
using test::slice_extents;
using test::unfused_problem;

using enum Schema;

using Extents = std::vector<std::int64_t>;

VectorAccess access(const Problem& problem, const cuda::Parameters& parameters) {
  return planned_access({problem, parameters, 16});
}

TEST(VectorAccess, OfOrthogonalDistinctFollowsEachSideAlone) {
  const cuda::Parameters square{orthogonal_distinct, {1, 1, 32, 32}};
  EXPECT_EQ(access(unfused_problem({64, 64}, {1, 0}, 4), square), (VectorAccess{true, true}));
  EXPECT_EQ(access(unfused_problem({64, 62}, {1, 0}, 4), square), (VectorAccess{true, false}));
  EXPECT_EQ(access(unfused_problem({62, 64}, {1, 0}, 4), square), (VectorAccess{false, true}));
  EXPECT_EQ(access(unfused_problem({64, 64}, {1, 0}, 4), {orthogonal_distinct, {1, 1, 30, 32}}),
            (VectorAccess{false, true}));
  EXPECT_EQ(aligned_access(access(unfused_problem({64, 64}, {1, 0}, 4), square),
                           orthogonal_distinct, 4, 8, 16),
            (VectorAccess{false, true}));
  EXPECT_EQ(aligned_access(access(unfused_problem({64, 64}, {1, 0}, 4), square),
                           orthogonal_distinct, 4, 16, 4),
            (VectorAccess{true, false}));
  EXPECT_EQ(access(unfused_problem({5, 7}, {1, 0}, 16), {orthogonal_distinct, {1, 1, 3, 3}}),
            (VectorAccess{true, true}));
}

TEST(VectorAccess, OfBytesReadsVectorsWhereItWritesThem) {
  const cuda::Parameters square{orthogonal_distinct, {1, 1, 64, 64}};
  const VectorAccess both = access(unfused_problem({64, 64}, {1, 0}, 1), square);
  EXPECT_EQ(both, (VectorAccess{true, true}));
  EXPECT_EQ(access(unfused_problem({64, 62}, {1, 0}, 1), square), VectorAccess{});
  EXPECT_EQ(access(unfused_problem({64, 60}, {1, 0}, 2), square), (VectorAccess{true, false}));
  EXPECT_EQ(access(unfused_problem({62, 64}, {1, 0}, 1), square), (VectorAccess{false, true}));
  EXPECT_EQ(aligned_access(both, orthogonal_distinct, 1, 16, 8), VectorAccess{});
  EXPECT_EQ(aligned_access(both, orthogonal_distinct, 2, 16, 8), (VectorAccess{true, false}));
}

TEST(VectorAccess, JoinsTheModesOfAnAxis) {
  const Problem problem = unfused_problem({6, 10, 64}, {2, 1, 0}, 4);
  EXPECT_EQ(access(problem, {orthogonal_distinct, {2, 1, 10, 64}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(problem, {orthogonal_distinct, {2, 1, 5, 64}}), (VectorAccess{false, true}));
  EXPECT_EQ(access(problem, {orthogonal_distinct, {1, 1, 6, 64}}), (VectorAccess{false, true}));
}

TEST(VectorAccess, OfOrthogonalArbitraryNeedsTheOutputsFirstModeAlone) {
  const Problem problem = unfused_problem({8, 6, 10}, {1, 0, 2}, 4);
  EXPECT_EQ(access(problem, {orthogonal_arbitrary, {2, 1, 6, 6}}), (VectorAccess{true, false}));
  const Problem whole = unfused_problem({6, 8, 10}, {1, 0, 2}, 4);
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 8, 8}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 4, 4}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 2, 2}}), (VectorAccess{true, false}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 3, 3}}), (VectorAccess{false, false}));
}

TEST(RunWordBytes, DivideRunsPiecesStridesAndPointers) {
  const auto width = [](std::int64_t run, const cuda::Parameters& parameters,
                        std::int64_t alignment) {
    return run_word_bytes({unfused_problem({run, 6, 10}, {0, 2, 1}, 4), parameters}, alignment);
  };
  const cuda::Parameters small{fvi_match_small, {2, 2, 5, 3}};
  EXPECT_EQ(width(12, small, 16), 16);
  EXPECT_EQ(width(12, small, 8), 8);
  EXPECT_EQ(width(13, small, 16), 4);
  EXPECT_EQ(width(12, {fvi_match_large, {1, 1, 12, 1}}, 16), 16);
  EXPECT_EQ(width(12, {fvi_match_large, {1, 1, 10, 1}}, 16), 8);
}

TEST(VectorAccess, OfOrthogonalArbitraryTakesNarrowElementsByBanks) {
  const Problem problem = unfused_problem({6, 10, 8}, {1, 0, 2}, 2);
  EXPECT_EQ(access(problem, {orthogonal_arbitrary, {2, 1, 10, 10}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(problem, {orthogonal_distinct, {2, 1, 10, 8}}), (VectorAccess{false, false}));
  // Blocks of five pairs begin and end within words.
  EXPECT_EQ(access(problem, {orthogonal_arbitrary, {1, 1, 6, 5}}), (VectorAccess{true, false}));
  const Problem odd = unfused_problem({7, 3, 8}, {1, 0, 2}, 2);
  EXPECT_EQ(access(odd, {orthogonal_arbitrary, {1, 1, 7, 3}}), (VectorAccess{false, false}));
  EXPECT_EQ(wide_bytes(orthogonal_arbitrary, 1), 4);
  EXPECT_EQ(wide_bytes(orthogonal_arbitrary, 4), 16);
  EXPECT_EQ(wide_bytes(orthogonal_distinct, 1), 16);
}

// Whether each row of a slice's axis begins and ends at a multiple of `wide` bytes.
bool has_vector_rows(const Problem& problem, const Extents& extents, const std::vector<int>& axis,
                     std::int64_t Mode::* stride, std::int64_t wide) {
  bool all = true;
  test::for_each_row(problem, extents, axis, stride, [&](std::int64_t start, std::int64_t bytes) {
    all = all && start % wide == 0 && bytes % wide == 0;
  });
  return all;
}

TEST(VectorAccess, IsVectorisedOnlyWhereEveryRowIs) {
  test::Random random(23);
  int vectors = 0;
  test::for_random_candidates(
      random, 400, [&](const Problem& problem, const cuda::Parameters& parameters) {
        const Extents extents = slice_extents({problem, parameters});
        if (parameters.schema != orthogonal_distinct && parameters.schema != orthogonal_arbitrary) {
          return;
        }
        const VectorAccess found = access(problem, parameters);
        const auto in_modes = static_cast<std::size_t>(parameters.slice.in_modes);
        const auto out_modes = static_cast<std::size_t>(parameters.slice.out_modes);
        const std::vector<int> first_in(identity_order(problem.modes.size()).begin(),
                                        identity_order(problem.modes.size()).begin() + in_modes);
        const std::vector<int> first_out(problem.perm.begin(), problem.perm.begin() + out_modes);
        if (found.vector_in) {
          EXPECT_TRUE(has_vector_rows(problem, extents, first_in, &Mode::in_byte_stride,
                                      wide_bytes(parameters.schema, problem.element_bytes())));
        }
        if (found.vector_out) {
          EXPECT_TRUE(has_vector_rows(problem, extents, first_out, &Mode::out_byte_stride,
                                      wide_bytes(parameters.schema, problem.element_bytes())));
        }
        vectors += problem.element_bytes() < 16 && (found.vector_in || found.vector_out);
      });
  EXPECT_GT(vectors, 50) << "too few cases to say anything";
}

TEST(RunLanes, MoveALineSideBySideAndAFewWordsEach) {
  EXPECT_EQ(run_lanes(20, 4, 1), 32);
  EXPECT_EQ(run_lanes(128, 4, 1), 32);
  EXPECT_EQ(run_lanes(512, 4, 1), 128);
  EXPECT_EQ(run_lanes(1024, 4, 1), 256);
  EXPECT_EQ(run_lanes(256, 16, 1), 64);
}

// Whose set-up then serves 64 bytes of a lane.
TEST(RunLanes, TakeMoreWordsWhereThereAreBlocksEnough) {
  EXPECT_EQ(run_lanes(512, 4, 100'000), 32);
  EXPECT_EQ(run_lanes(511, 4, 100'000), 32);
  EXPECT_EQ(run_lanes(1024, 4, 100'000), 64);
  EXPECT_EQ(run_lanes(4096, 4, 100'000), 256);
  EXPECT_EQ(run_lanes(4096, 1, 100'000), 128);
  EXPECT_EQ(run_lanes(512, 8, 100'000), 64);
  EXPECT_EQ(run_lanes(256, 16, 100'000), 64) << "64 bytes already";
}

TEST(RunLanes, LeaveBlocksForALargeDevice) {
  for (const std::int64_t words : {300, 512, 1000, 1024, 4096}) {
    const auto blocks = [&](std::int64_t chunks, int lanes) {
      return ceil_div(chunks * lanes, FviMatchLargePolicy::kThreads);
    };
    for (std::int64_t chunks = 1; chunks < 1 << 20; chunks += chunks / 3 + 1) {
      const std::int64_t most = blocks(chunks, run_lanes(words, 4, 1));
      EXPECT_GE(blocks(chunks, run_lanes(words, 4, chunks)),
                std::min(most, FviMatchLargePolicy::kMinBlocks))
          << words << " words, " << chunks << " chunks";
    }
  }
}

}  // namespace
}  // namespace ttlg::cuda
