#include "tensor/contiguous_run.hpp"

#include <gtest/gtest.h>

#include "requests.hpp"

namespace ttlg {
namespace {

TEST(ContiguousRun, BeginsAsOneElement) { EXPECT_EQ(ContiguousRun(12).bytes(), 12); }

TEST(ContiguousRun, TakesModesThatFollowOnWhatLiesInsideThem) {
  ContiguousRun run(4);
  EXPECT_TRUE(run.extend(4, 5));
  EXPECT_TRUE(run.extend(20, 3));
  EXPECT_EQ(run.bytes(), 60);
}

TEST(ContiguousRun, EndsAtAGapForGood) {
  ContiguousRun run(4);
  EXPECT_TRUE(run.extend(4, 5));
  EXPECT_FALSE(run.is_continued_by(24));
  EXPECT_FALSE(run.extend(24, 3));
  EXPECT_FALSE(run.extend(20, 2)) << "a mode beyond the gap would have followed on";
  EXPECT_EQ(run.bytes(), 20);
}

TEST(ContiguousRun, EndsAfterACutMode) {
  ContiguousRun run(4);
  EXPECT_TRUE(run.extend(4, 3, 5));
  EXPECT_EQ(run.bytes(), 12);
  EXPECT_FALSE(run.is_continued_by(12)) << "even if strides overlap so that they meet";
  EXPECT_FALSE(run.extend(12, 2));
  EXPECT_EQ(run.bytes(), 12);
}

TEST(ContiguousRun, EndsWhereAStrideIsNegativeOrZero) {
  for (const std::int64_t stride : {-4, 0, 3}) {
    ContiguousRun run(4);
    EXPECT_FALSE(run.extend(stride, 5));
    EXPECT_EQ(run.bytes(), 4);
  }
}

TEST(ContiguousRun, LeavesOutSmallGapsWhereItMay) {
  for (const std::int64_t direction : {1, -1}) {
    ContiguousRun run(4, 32);
    EXPECT_TRUE(run.extend(direction * 8, 5));
    EXPECT_EQ(run.bytes(), 36) << "from the first byte to the last";
    EXPECT_TRUE(run.is_continued_by(direction * 68));
    EXPECT_FALSE(run.is_continued_by(direction * 69));
    EXPECT_TRUE(run.extend(direction * 40, 2, 3));
    EXPECT_EQ(run.bytes(), 76);
    EXPECT_FALSE(run.is_continued_by(direction * 80)) << "after a cut mode";
  }
}

// Against the definition: indices 0, 1, ... of the run's modes lie element by element one behind
// the other.
TEST(ContiguousRun, HoldsElementsOneBehindTheOther) {
  test::Random random(7);
  int longer = 0;
  for (int i = 0; i < 500; ++i) {
    const Problem problem = make_problem(test::random_request(random));
    ContiguousRun run(problem.element_bytes());
    std::vector<std::int64_t> offsets{0};
    for (const Mode& mode : problem.modes) {
      const std::int64_t count = test::pick(random, 1, mode.extent);
      if (!run.extend(mode.in_byte_stride, count, mode.extent)) break;
      const std::size_t inner = offsets.size();
      for (std::size_t k = inner; k < inner * static_cast<std::size_t>(count); ++k) {
        offsets.push_back(offsets[k - inner] + mode.in_byte_stride);
      }
    }
    ASSERT_EQ(run.bytes(), std::ssize(offsets) * problem.element_bytes());
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      ASSERT_EQ(offsets[k], static_cast<std::int64_t>(k) * problem.element_bytes());
    }
    longer += offsets.size() > 1;
  }
  EXPECT_GT(longer, 50) << "too few runs grew to say anything";
}

}  // namespace
}  // namespace ttlg
