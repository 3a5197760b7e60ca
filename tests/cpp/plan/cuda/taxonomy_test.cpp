#include "plan/cuda/taxonomy.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/cuda/cases.hpp"

namespace ttlg::cuda {
namespace {

using test::paper_problem;
using test::unfused_problem;

using enum Schema;

Schema branch(const Problem& problem) { return classify(problem).schemas.front(); }

// TTLG, section VI: the published branches of all permutations of six modes.
TEST(Taxonomy, CountsThePublishedBranches) {
  const std::map<Schema, int> published{{copy, 1},
                                        {fvi_match_large, 23},
                                        {fvi_match_small, 96},
                                        {orthogonal_distinct, 288},
                                        {orthogonal_arbitrary, 312}};
  for (const std::int64_t extent : {15, 16, 17}) {
    for (const std::int64_t itemsize : {4, 8}) {
      std::map<Schema, int> counts;
      test::for_each_permutation(6, [&](const std::vector<int>& perm) {
        ++counts[branch(paper_problem(std::vector<std::int64_t>(6, extent), perm, itemsize))];
      });
      EXPECT_EQ(counts, published) << extent << " of " << itemsize << " bytes";
    }
  }
}

// The worked examples of TTLG, sections III and IV.
TEST(Taxonomy, DecidesTheWorkedExamples) {
  EXPECT_EQ(branch(paper_problem({128, 128}, {1, 0}, 4)), orthogonal_distinct);
  EXPECT_EQ(branch(unfused_problem({16, 2, 32, 32}, {3, 2, 1, 0}, 4)), orthogonal_distinct);
  EXPECT_EQ(branch(unfused_problem({9, 7, 64}, {2, 1, 0}, 8)), orthogonal_distinct);
  EXPECT_EQ(branch(unfused_problem({8, 2, 8, 8}, {2, 1, 3, 0}, 4)), orthogonal_arbitrary);
}

TEST(Taxonomy, SaysWhyACaseDoesNotApply) {
  const auto obstacles = [](const Problem& problem) {
    std::vector<std::string> found;
    for (const TaxonomyRule& rule : taxonomy()) {
      if (&rule == &classify(problem)) break;
      found.push_back(rule.obstacle(problem));
    }
    return found;
  };
  using Obstacles = std::vector<std::string>;
  EXPECT_EQ(obstacles(paper_problem({10, 10}, {0, 1}, 4)), Obstacles{});
  EXPECT_EQ(obstacles(paper_problem({40, 40}, {1, 0}, 4)), Obstacles{"2 modes are left"});
  EXPECT_EQ(
      obstacles(unfused_problem({2, 3, 4}, {2, 1, 0}, 4)),
      (Obstacles{"3 modes are left", "both sides need the same mode, of 4 elements, to fill a warp",
                 "different fastest modes", "different fastest modes", "different fastest modes",
                 "different fastest modes"}));
  EXPECT_EQ(obstacles(unfused_problem({3, 4, 5}, {0, 2, 1}, 4)),
            (Obstacles{
                "3 modes are left", "both sides need the same mode, of 3 elements, to fill a warp",
                "the fastest mode has 3 elements, not 32 or more", "different second-fastest modes",
                "the two fastest modes of a side have 12 elements, not 32 or more"}));
}

TEST(Taxonomy, ReachesEveryRule) {
  std::set<std::string_view> reached;
  const auto reach = [&](const Problem& problem) { reached.insert(classify(problem).name); };
  reach(paper_problem({10, 10}, {0, 1}, 4));
  reach(paper_problem({40, 40}, {1, 0}, 4));
  reach(paper_problem({40, 3, 3}, {0, 2, 1}, 4));
  reach(paper_problem({15, 3, 3}, {0, 2, 1}, 4));
  reach(paper_problem({3, 3, 3}, {0, 2, 1}, 4));
  reach(paper_problem({3, 3, 3}, {2, 1, 0}, 4));
  Request strided = test::contiguous_request({30, 20}, {0, 1}, 4);
  strided.in_byte_strides = {100, 4};
  reach(recast_problem(make_problem(strided), 16));
  EXPECT_EQ(reached.size(), taxonomy().size());
}

// B is 32 elements, inclusive, where TTLG, Alg. 1, leaves out 32 itself.
TEST(Taxonomy, CountsAWarpInclusively) {
  EXPECT_EQ(branch(paper_problem({32, 3, 3}, {0, 2, 1}, 4)), fvi_match_large);
  EXPECT_EQ(branch(paper_problem({31, 3, 3}, {0, 2, 1}, 4)), fvi_match_small);
  EXPECT_EQ(branch(unfused_problem({8, 4, 4}, {0, 2, 1}, 8)), fvi_match_small);
  EXPECT_EQ(branch(unfused_problem({9, 3, 8}, {0, 2, 1}, 8)), orthogonal_arbitrary);
  EXPECT_EQ(branch(unfused_problem({32, 32}, {1, 0}, 4)), orthogonal_distinct);
  EXPECT_EQ(branch(unfused_problem({31, 32}, {1, 0}, 4)), orthogonal_arbitrary);
}

}  // namespace
}  // namespace ttlg::cuda
