#include "plan/cuda/slice/packed_slice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/layout/choose_layout.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::unfused_problem;

using enum Schema;

PackedSlice slice_of(const Problem& problem, const Slice& slice, std::int64_t alignment = 16) {
  return packed_slice({problem, {orthogonal_arbitrary, slice}, alignment});
}

TEST(PackedSlice, CountsTheWordsThatRunsMayTouch) {
  const Problem problem = unfused_problem({7, 5, 9}, {2, 0, 1}, 1);
  const PackedSlice slice = slice_of(problem, {2, 1, 5, 4});
  // The whole of the input's first two modes, 35 bytes: at most 10 words, wherever they begin.
  EXPECT_EQ(slice.in.modes, 2);
  EXPECT_EQ(slice.in.bytes, 35);
  EXPECT_EQ(slice.in.words, 10);
  EXPECT_EQ(slice.in.all_words, 4 * 10);
  // The output's first mode is cut: runs of 4 bytes, which touch one word or two.
  EXPECT_EQ(slice.out.modes, 1);
  EXPECT_EQ(slice.out.bytes, 4);
  EXPECT_EQ(slice.out.words, 2);
  EXPECT_EQ(slice.out.all_words, 35 * 2);
  EXPECT_EQ(slice.access(), VectorAccess{});
  // Pairs begin at two bytes of a word.
  const Problem pairs = unfused_problem({7, 5, 9}, {2, 0, 1}, 2);
  EXPECT_EQ(slice_of(pairs, {1, 1, 7, 9}).in.words, 4);
  EXPECT_EQ(slice_of(pairs, {1, 1, 7, 9}).out.bytes, 2 * 9 * 7) << "its second mode is whole too";
}

TEST(PackedSlice, HasWholeWordsOnlyWhereRunsBeginAndEndAtThem) {
  const Problem problem = unfused_problem({8, 5, 12}, {2, 0, 1}, 1);
  const PackedSlice slice = slice_of(problem, {1, 1, 8, 12});
  EXPECT_EQ(slice.access(), (VectorAccess{true, true}));
  EXPECT_EQ(slice.idle_lanes(), 0);
  EXPECT_EQ(slice.in.words, 2);
  EXPECT_EQ(slice.out.words, 3 * 8);
  const PackedSlice beside = slice_of(problem, {1, 1, 8, 12}, 2);
  EXPECT_EQ(beside.access(), VectorAccess{}) << "pointers within words";
  EXPECT_EQ(beside.idle_lanes(), 1);
  EXPECT_EQ(beside.in.words, 3);
  EXPECT_EQ(beside.out.words, 3 * 8 + 1);
  EXPECT_EQ(slice_of(problem, {1, 1, 8, 12}, 4).access(), (VectorAccess{true, true}));
  EXPECT_FALSE(slice_of(problem, {1, 1, 6, 12}).in.is_aligned) << "cut within a word";
  EXPECT_FALSE(slice_of(problem, {1, 1, 8, 10}).out.is_aligned);
  // The distance of rows is a whole number of words, their length is not.
  Problem gaps = problem;
  gaps.modes[0].extent = 7;
  EXPECT_FALSE(slice_of(gaps, {1, 1, 7, 12}).in.is_aligned);
}

TEST(PackedSlice, HasRunsOfSingleElementsWhereThereAreGaps) {
  Problem problem = unfused_problem({8, 5, 12}, {2, 0, 1}, 1);
  problem.modes[0].in_byte_stride = 3;
  const PackedSlice slice = slice_of(problem, {1, 1, 8, 12});
  EXPECT_EQ(slice.in.modes, 0);
  EXPECT_EQ(slice.in.bytes, 1);
  EXPECT_EQ(slice.in.words, 1);
  EXPECT_EQ(slice.in.all_words, 8 * 12);
}

TEST(PackedSteps, AgreeWithTheInputModuloAWord) {
  EXPECT_EQ(packed_step(7, 1, 15), 7);
  EXPECT_EQ(packed_step(8, 1, 15), 11);
  EXPECT_EQ(packed_step(8, 1, -1), 11);
  EXPECT_EQ(packed_step(5, 2, 12), 6);
  EXPECT_EQ(packed_step(5, 2, 14), 5);
}

// Where the runs of a slice begin on the input's side, in bytes: in the tensor and in shared
// memory.
struct Begin {
  std::int64_t in = 0;
  std::int64_t slot = 0;
};

std::vector<Begin> begins_of(const SlicedProblem& sliced, const PackedRuns& runs) {
  const SliceModes modes = in_input_order(slice_in_output_order(sliced));
  std::vector<Begin> begins(1);
  for (const SliceMode& mode : std::span(modes).subspan(static_cast<std::size_t>(runs.modes))) {
    const std::vector<Begin> before = begins;
    for (std::int64_t i = 1; i < mode.extent; ++i) {
      for (const auto& [in, slot] : before) {
        begins.push_back({in + i * sliced.mode(mode.mode).in_byte_stride,
                          slot + i * mode.step * sliced.problem.element_bytes()});
      }
    }
  }
  return begins;
}

TEST(PackedSteps, LeaveEveryRunWordsOfItsOwnAsTheyLieInTheInput) {
  test::Random random(47);
  int runs_seen = 0;
  test::for_random_candidates(
      random, 600, [&](const Problem& problem, const cuda::Parameters& parameters) {
        if (parameters.schema != orthogonal_arbitrary || problem.element_bytes() >= kBankBytes)
          return;
        const SlicedProblem sliced(problem, parameters);
        const PackedRuns runs = packed_slice(sliced).in;
        std::vector<Begin> begins = begins_of(sliced, runs);
        ASSERT_EQ(std::ssize(begins) * runs.words, runs.all_words);
        runs_seen += begins.size() > 1;
        std::ranges::sort(begins, {}, &Begin::slot);
        for (std::size_t i = 0; i < begins.size(); ++i) {
          ASSERT_EQ((begins[i].slot - begins[i].in) % kBankBytes, 0);
          ASSERT_TRUE(!runs.is_aligned || begins[i].in % kBankBytes == 0);
          if (i == 0) continue;
          ASSERT_GE(begins[i].slot - begins[i - 1].slot, runs.words * kBankBytes);
        }
        // In the worst case a run begins at the last element of a word.
        const std::int64_t before = runs.is_aligned ? 0 : kBankBytes - problem.element_bytes();
        ASSERT_EQ(runs.words, ceil_div(before + runs.bytes, kBankBytes));
      });
  EXPECT_GT(runs_seen, 50) << "too few cases to say anything";
}

}  // namespace
}  // namespace ttlg::cuda
