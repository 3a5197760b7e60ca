#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "moves.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/plan.hpp"
#include "plan/cuda/taxonomy.hpp"

namespace ttlg::cuda {
namespace {

using test::extents_of;
using test::paper_problem;
using test::paper_request;

using enum Schema;

using Extents = std::vector<std::int64_t>;

TEST(RecastProblem, FoldsRunsThatAThreadMoves) {
  const auto recast_of = [](std::int64_t run, std::int64_t itemsize) {
    return paper_problem({run, 5, 7}, {0, 2, 1}, itemsize);
  };
  EXPECT_EQ(recast_of(4, 4).element_bytes(), 16);
  EXPECT_EQ(extents_of(recast_of(4, 4)), (Extents{5, 7}));
  EXPECT_EQ(recast_of(4, 4).perm, (std::vector{1, 0}));
  EXPECT_EQ(recast_of(2, 1).element_bytes(), 2);
  EXPECT_EQ(extents_of(recast_of(16, 4)), (Extents{16, 5, 7})) << "no thread moves 64 bytes";
  EXPECT_EQ(extents_of(recast_of(3, 8)), (Extents{3, 5, 7}));
}

TEST(RecastProblem, CutsOtherElementsIntoWords) {
  const Problem wide = paper_problem({5, 7}, {1, 0}, 24);
  EXPECT_EQ(wide.element_bytes(), 8);
  EXPECT_EQ(extents_of(wide), (Extents{3, 5, 7}));
  EXPECT_EQ(wide.perm, (std::vector{0, 2, 1}));
  EXPECT_EQ(paper_problem({5, 7}, {1, 0}, 3).element_bytes(), 1);
  EXPECT_EQ(extents_of(paper_problem({4, 5, 7}, {0, 2, 1}, 3)), (Extents{3, 5, 7}))
      << "four pixels of three bytes are three words of four";
  EXPECT_EQ(paper_problem({40, 5, 7}, {0, 2, 1}, 1).element_bytes(), 4);
  EXPECT_EQ(paper_problem({42, 5, 7}, {0, 2, 1}, 1).element_bytes(), 2);
}

TEST(RecastProblem, GoesDownToWhatIsAligned) {
  const Problem problem = make_problem(paper_request({6, 10}, {1, 0}, 16));
  for (const std::int64_t alignment : {1, 2, 4, 8, 16, 256}) {
    const Problem recast = recast_problem(problem, alignment);
    EXPECT_EQ(recast.element_bytes(), std::min<std::int64_t>(alignment, 16));
    EXPECT_EQ(recast.modes.size(), alignment < 16 ? 3U : 2U);
  }
  Request odd = paper_request({6, 10}, {1, 0}, 4);
  odd.in_byte_strides = {26, 4};
  EXPECT_EQ(recast_problem(make_problem(odd), 16).element_bytes(), 2);
}

TEST(RecastProblem, LeavesNothingOfEmptyProblems) {
  for (const Request& request :
       {paper_request({0, 4}, {1, 0}, 4), paper_request({3, 4}, {1, 0}, 0)}) {
    const Problem recast = recast_problem(make_problem(request), 16);
    EXPECT_EQ(recast.bytes(), 0);
    EXPECT_TRUE(applies(copy, recast));
  }
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
    EXPECT_TRUE(is_word(recast.element_bytes(), alignment, recast)) << recast.element_bytes();
    EXPECT_EQ(test::moves_of(recast), test::moves_of(problem));
  }
}

}  // namespace
}  // namespace ttlg::cuda
