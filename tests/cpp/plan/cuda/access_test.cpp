// When threads may move 16 bytes at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/plan.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::unfused_words;
using test::word_extents;

using enum Schema;

using Extents = std::vector<std::int64_t>;

VectorAccess access(const Problem& words, const cuda::Parameters& parameters) {
  return vector_access_of(words, parameters, 16, 16);
}

TEST(VectorAccess, OfOrthogonalDistinctFollowsEachSideAlone) {
  const cuda::Parameters square{orthogonal_distinct, {1, 1, 32, 32}};
  EXPECT_EQ(access(unfused_words({64, 64}, {1, 0}, 4), square), (VectorAccess{true, true}));
  EXPECT_EQ(access(unfused_words({64, 62}, {1, 0}, 4), square), (VectorAccess{true, false}));
  EXPECT_EQ(access(unfused_words({62, 64}, {1, 0}, 4), square), (VectorAccess{false, true}));
  EXPECT_EQ(access(unfused_words({64, 64}, {1, 0}, 4), {orthogonal_distinct, {1, 1, 30, 32}}),
            (VectorAccess{false, true}));
  EXPECT_EQ(vector_access_of(unfused_words({64, 64}, {1, 0}, 4), square, 8, 16),
            (VectorAccess{false, true}));
  EXPECT_EQ(vector_access_of(unfused_words({64, 64}, {1, 0}, 4), square, 16, 4),
            (VectorAccess{true, false}));
  EXPECT_EQ(access(unfused_words({5, 7}, {1, 0}, 16), {orthogonal_distinct, {1, 1, 3, 3}}),
            (VectorAccess{true, true}));
}

TEST(VectorAccess, JoinsTheModesOfAnAxis) {
  const Problem words = unfused_words({6, 10, 64}, {2, 1, 0}, 4);
  EXPECT_EQ(access(words, {orthogonal_distinct, {2, 1, 10, 64}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(words, {orthogonal_distinct, {2, 1, 5, 64}}), (VectorAccess{false, true}));
  EXPECT_EQ(access(words, {orthogonal_distinct, {1, 1, 6, 64}}), (VectorAccess{false, true}));
}

TEST(VectorAccess, OfOrthogonalArbitraryNeedsTheOutputsFirstModeAlone) {
  const Problem words = unfused_words({8, 6, 10}, {1, 0, 2}, 4);
  EXPECT_EQ(access(words, {orthogonal_arbitrary, {2, 1, 6, 6}}), (VectorAccess{true, false}));
  const Problem whole = unfused_words({6, 8, 10}, {1, 0, 2}, 4);
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 8, 8}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 4, 4}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 2, 2}}), (VectorAccess{true, false}));
  EXPECT_EQ(access(whole, {orthogonal_arbitrary, {2, 1, 3, 3}}), (VectorAccess{false, false}));
}

TEST(VectorAccess, OfMatchingRunsIsTheSameOnBothSides) {
  const Problem words = unfused_words({12, 6, 10}, {0, 2, 1}, 4);
  EXPECT_EQ(access(words, {fvi_match_small, {2, 2, 5, 3}}), (VectorAccess{true, true}));
  EXPECT_EQ(access(words, {fvi_match_large, {1, 1, 12, 1}}), (VectorAccess{true, true}));
  EXPECT_EQ(vector_access_of(words, {fvi_match_small, {2, 2, 5, 3}}, 16, 8),
            (VectorAccess{false, false}));
  const Problem odd = unfused_words({13, 6, 10}, {0, 2, 1}, 4);
  EXPECT_EQ(access(odd, {fvi_match_small, {2, 2, 4, 4}}), (VectorAccess{false, false}));
}

// The rows of a slice's axis, clipped at the ends: each must begin and end at 16 bytes.
bool has_vector_rows(const Problem& words, const Extents& extents, const std::vector<int>& axis,
                     std::int64_t Mode::* stride) {
  bool all = true;
  Extents row_points = word_extents(words);
  for (const int m : axis) {
    const auto i = static_cast<std::size_t>(m);
    row_points[i] = ceil_div(row_points[i], extents[i]);
  }
  test::for_each_point(row_points, [&](Extents point) {
    std::int64_t length = words.element_bytes;
    std::int64_t start = 0;
    for (const int m : axis) {
      const auto i = static_cast<std::size_t>(m);
      point[i] *= extents[i];
      length *= std::min(extents[i], words.modes[i].extent - point[i]);
    }
    for (std::size_t m = 0; m < point.size(); ++m) start += point[m] * (words.modes[m].*stride);
    all = all && start % kVectorBytes == 0 && length % kVectorBytes == 0;
  });
  return all;
}

TEST(VectorAccess, IsVectorisedOnlyWhereEveryRowIs) {
  test::Random random(23);
  int vectors = 0;
  test::for_random_candidates(
      random, 400, [&](const Problem& words, const cuda::Parameters& parameters) {
        const Extents extents = slice_extents(words, parameters);
        const VectorAccess found = vector_access_of(words, parameters, 16, 16);
        const bool matching =
            parameters.schema == fvi_match_small || parameters.schema == fvi_match_large;
        const auto in_modes = static_cast<std::size_t>(matching ? 1 : parameters.slice.in_modes);
        const auto out_modes = static_cast<std::size_t>(matching ? 1 : parameters.slice.out_modes);
        const std::vector<int> sequence(identity_order(words.modes.size()).begin(),
                                        identity_order(words.modes.size()).begin() + in_modes);
        const std::vector<int> first_out(words.perm.begin(), words.perm.begin() + out_modes);
        if (found.vector_in) {
          EXPECT_TRUE(has_vector_rows(words, extents, sequence, &Mode::in_byte_stride));
        }
        if (found.vector_out) {
          EXPECT_TRUE(has_vector_rows(words, extents, first_out, &Mode::out_byte_stride));
        }
        vectors += words.element_bytes < 16 && (found.vector_in || found.vector_out);
      });
  EXPECT_GT(vectors, 50) << "too few cases to say anything";
}

}  // namespace
}  // namespace ttlg::cuda
