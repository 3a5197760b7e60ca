// Runs that lie differently in the input and in the output, at every alignment, on the host
// executor: the bytes are the oracle's, nothing outside the arrays is touched, and few sectors are
// moved twice.
#include "cuda/kernels/shifted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <variant>

#include "combinations.hpp"
#include "cuda/lowered_plan.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum Schema;

void expect_few_sectors(const Counts& counts) {
  for (const SideCounts& side : {counts.load, counts.store}) {
    EXPECT_LE(side.sectors, side.sectors_of_run * 3 / 2);
  }
}

template <typename Arguments>
bool is_bound_to(const cuda::Plan& plan, const Misalignments& misalignments) {
  const Launch launch = bound(LoweredPlan(plan), misalignments);
  return std::holds_alternative<Arguments>(launch.arguments);
}

TEST(Shifted, CutsWordsOutOfTwo) {
  EXPECT_EQ(cut_out(0x33221100U, 0x77665544U, 0), 0x33221100U);
  EXPECT_EQ(cut_out(0x33221100U, 0x77665544U, 1), 0x44332211U);
  EXPECT_EQ(cut_out(0x33221100U, 0x77665544U, 3), 0x66554433U);
  const Word16 low{{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}};
  const Word16 high{{0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c}};
  for (std::uint32_t from = 0; from < 16; ++from) {
    const Word16 word = cut_out(low, high, from);
    for (std::uint32_t i = 0; i < 16; ++i) {
      ASSERT_EQ(word.part[i / 4] >> (8 * (i % 4)) & 0xff, from + i) << from;
    }
  }
}

// Every word and all words that it is cut out of are inside the bytes, and few bytes are left.
TEST(Shifted, WordsLieInsideTheBytes) {
  constexpr int kWidth = 4;
  for (std::int64_t bytes = 0; bytes < 40; ++bytes) {
    for (std::uint32_t i = 0; i < kWidth * kWidth; ++i) {
      const std::uint32_t in = i / kWidth;
      const std::uint32_t out = i % kWidth;
      const ShiftedWords<kWidth> words(bytes, in, out);
      const std::int64_t left = bytes - words.count * kWidth;
      ASSERT_LT(left, 3 * kWidth);
      if (words.count == 0) continue;
      const std::int64_t low = std::int64_t{words.head} - words.shift;
      ASSERT_EQ((out + words.head) % kWidth, 0U);
      ASSERT_EQ((in + low) % kWidth, 0);
      ASSERT_GE(low, 0);
      ASSERT_LE(low + (words.count + 1) * kWidth, bytes);
      ASSERT_EQ(words.left(static_cast<std::uint32_t>(left)), bytes);
    }
  }
}

// Copies of a few bytes, of several warps, and of several blocks, the last of them incomplete.
TEST(Shifted, CopiesAtAllAlignments) {
  for (std::int64_t i = 0; i < 16 * 16; ++i) {
    for (const std::int64_t bytes : {1 + i % 48, 49 + i % 700, 16384 + i}) {
      const cuda::Plan plan = built(contiguous_request({bytes}, {0}, 1), 1, {});
      const Counts counts = expect_moved(plan, {i / 16, i % 16});
      ASSERT_FALSE(HasFailure());
      if (bytes >= 16384) expect_few_sectors(counts);
    }
  }
}

// Runs of any length, whole and cut into chunks the last of which is shorter, in blocks that go on
// to other runs and in blocks that do not.
TEST(Shifted, MovesRunsAtAllAlignments) {
  int i = 0;
  for (const std::int64_t run : {2, 3, 5, 7, 11, 15, 33, 63, 129, 1027}) {
    for (int end = i + 16; i < end; ++i) {
      const Misalignments misalignments{i / 4 % 4, i % 4};
      const std::int64_t chunk = i % 3 == 0 ? (run + 1) / 2 : run;
      const Request request = contiguous_request({3, 5, run}, {1, 0, 2}, 1);
      const int coarsened = i % 2 == 0 ? -1 : 1;
      const cuda::Plan plan = built(request, 1, {fvi_match_large, {1, 1, chunk, 1}, coarsened});
      if (run % 2 != 0) {
        ASSERT_TRUE(is_bound_to<MatchLargeShiftedArguments>(plan, misalignments));
      }
      expect_moved(plan, misalignments);
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Elements of two bytes, whose runs end in the middle of a word. Long runs take several batches.
TEST(Shifted, MovesLongRunsInFewSectors) {
  for (const auto& [run, out] : combinations({8191, 20001}, {0, 2})) {
    const cuda::Plan plan = built(contiguous_request({2, 3, run}, {1, 0, 2}, 2), 2,
                                  {fvi_match_large, {1, 1, std::min(run, 8001), 1}});
    ASSERT_TRUE(is_bound_to<MatchLargeShiftedArguments>(plan, {0, out}));
    expect_few_sectors(expect_moved(plan, {0, out}));
  }
}

// Where there are many runs, a lane takes twice the words that it takes of few.
TEST(Shifted, SharesTheSetUpAmongTheWordsOfManyRuns) {
  const auto lanes_of = [](const cuda::Plan& plan) {
    const Launch launch = bound(LoweredPlan(plan), {});
    return 1 << std::get<MatchLargeShiftedArguments>(launch.arguments).group_shift;
  };
  const auto plan_of = [](std::int64_t runs) {
    const Request request = contiguous_request({3, runs, 2047}, {1, 0, 2}, 1);
    return built(request, 1, {fvi_match_large, {1, 1, 2047, 1}});
  };
  EXPECT_EQ(lanes_of(plan_of(5)), 128);
  const cuda::Plan many = plan_of(700);
  EXPECT_EQ(lanes_of(many), 64);
  expect_few_sectors(expect_moved(many));
}

TEST(Shifted, LeavesWideWordsAndStridedRunsAsTheyAre) {
  const cuda::Plan wide =
      built(contiguous_request({3, 5, 64}, {1, 0, 2}, 1), 1, {fvi_match_large, {1, 1, 64, 1}});
  EXPECT_TRUE(is_bound_to<MatchLargeArguments>(wide, {4, 8}));
  EXPECT_TRUE(is_bound_to<MatchLargeShiftedArguments>(wide, {4, 2}));
  Request every_other = contiguous_request({3, 5, 65}, {1, 0, 2}, 1);
  every_other.in_byte_strides = {650, 130, 2};
  const cuda::Plan strided = built(every_other, 1, {fvi_match_large, {1, 1, 65, 1}});
  ASSERT_TRUE(is_bound_to<MatchLargeArguments>(strided, {}));
  expect_moved(strided, {1, 2});
}

}  // namespace
}  // namespace ttlg::test
