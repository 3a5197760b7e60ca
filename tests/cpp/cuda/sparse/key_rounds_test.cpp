// Which bits the nonzeros are sorted by.
#include "cuda/sparse/key_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace ttlg::cuda::sparse {
namespace {

using Extents = std::vector<std::int64_t>;
using Perm = std::vector<int>;
using Rounds = std::vector<KeyRound>;

constexpr std::int64_t two_to(int n) { return std::int64_t{1} << n; }

KeyRounds unsorted(const Extents& extents, const Perm& perm, int index_bytes = 8) {
  return key_rounds(extents, perm, index_bytes, false);
}

KeyRounds sorted(const Extents& extents, const Perm& perm, int index_bytes = 8) {
  return key_rounds(extents, perm, index_bytes, true);
}

TEST(KeyRounds, CountsTheBitsOfCoordinates) {
  EXPECT_EQ(unsorted({0, 1, 2, 3, 4, 5, 256, 257}, {0, 1, 2, 3, 4, 5, 6, 7}).bits,
            (std::vector{0, 0, 1, 2, 2, 3, 8, 9}));
  EXPECT_EQ(unsorted({two_to(31), two_to(31) + 1, INT64_MAX}, {2, 1, 0}).bits,
            (std::vector{63, 32, 31}));
}

TEST(KeyRounds, SortsByNoBitsThatCoordinatesDoNotHave) {
  EXPECT_EQ(unsorted({two_to(40), 5}, {1, 0}, 4).bits, (std::vector{3, 31}));
}

TEST(KeyRounds, SortsByAllModesWhereTheInputIsInAnyOrder) {
  EXPECT_EQ(unsorted({100, 200, 300}, {0, 1, 2}).rounds, (Rounds{{0, 3, 0, 24}}));
  EXPECT_EQ(unsorted({100, 200, 300}, {2, 0, 1}).rounds, (Rounds{{0, 3, 0, 24}}));
}

TEST(KeyRounds, LeavesAscendingLastModesOfASortedInputAlone) {
  const Extents extents{100, 200, 300};  // 7, 8 and 9 bits
  EXPECT_EQ(sorted(extents, {0, 1, 2}).rounds, Rounds{});
  EXPECT_EQ(sorted(extents, {2, 0, 1}).rounds, (Rounds{{0, 3, 15, 24}}));
  EXPECT_EQ(sorted(extents, {1, 0, 2}).rounds, (Rounds{{0, 3, 16, 24}}));
  EXPECT_EQ(sorted(extents, {0, 2, 1}).rounds, (Rounds{{0, 3, 8, 24}}));
  EXPECT_EQ(sorted(extents, {2, 1, 0}).rounds, (Rounds{{0, 3, 7, 24}}));
}

TEST(KeyRounds, DoesNotSortByModesOfExtent1) {
  EXPECT_EQ(sorted({1, 100, 1, 200}, {1, 2, 3, 0}).rounds, Rounds{});
  EXPECT_EQ(sorted({1, 100, 1, 200}, {2, 3, 0, 1}).rounds, (Rounds{{0, 4, 7, 15}}));
  EXPECT_EQ(unsorted({1, 1}, {1, 0}).rounds, Rounds{});
  EXPECT_EQ(unsorted({7, 1}, {0, 1}).rounds, (Rounds{{0, 2, 0, 3}}));
}

TEST(KeyRounds, FillsTheKeysOfTheLastRound) {
  const std::int64_t wide = two_to(30);
  EXPECT_EQ(unsorted({wide, wide, wide, wide, 16}, {0, 1, 4, 2, 3}).rounds,
            (Rounds{{3, 5, 0, 60}, {0, 3, 0, 64}}));
  EXPECT_EQ(unsorted({wide, wide, wide}, {0, 1, 2}).modes_in_keys(), 2);
  EXPECT_EQ(unsorted({INT64_MAX, INT64_MAX, INT64_MAX}, {2, 1, 0}).rounds,
            (Rounds{{2, 3, 0, 63}, {1, 2, 0, 63}, {0, 1, 0, 63}}));
}

TEST(KeyRounds, NeedsOneRoundWhereTheSortedModesFitInAKey) {
  const Extents extents{two_to(30), two_to(30), two_to(30), two_to(30)};
  const KeyRounds keys = sorted(extents, {2, 0, 1, 3});
  EXPECT_EQ(keys.rounds, (Rounds{{0, 2, 30, 60}}));
  EXPECT_EQ(keys.modes_in_keys(), 2);
  EXPECT_EQ(sorted(extents, {1, 2, 3, 0}).rounds, (Rounds{{2, 4, 30, 60}, {0, 2, 0, 60}}));
}

TEST(KeyRounds, TakesTensorsOfNoAndOfManyModes) {
  EXPECT_EQ(unsorted({}, {}), KeyRounds{});
  Perm reversed(64);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  EXPECT_EQ(sorted(Extents(64, 2), reversed).rounds, (Rounds{{0, 64, 1, 64}}));
  EXPECT_EQ(unsorted(Extents(64, 5), reversed).rounds,
            (Rounds{{63, 64, 0, 3}, {42, 63, 0, 63}, {21, 42, 0, 63}, {0, 21, 0, 63}}));
}

// Every mode that needs sorting is in one round, and the rounds follow each other without a gap.
TEST(KeyRounds, CoversTheSortedModes) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    Extents extents(1 + random() % 8);
    for (std::int64_t& extent : extents) extent = two_to(static_cast<int>(random() % 60));
    Perm perm(extents.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::ranges::shuffle(perm, random);
    const KeyRounds keys = key_rounds(extents, perm, 8, random() % 2 == 0);
    for (std::size_t i = 0; i < keys.rounds.size(); ++i) {
      const KeyRound& round = keys.rounds[i];
      const bool is_last = i + 1 == keys.rounds.size();
      EXPECT_EQ(round.first_mode, is_last ? 0 : keys.rounds[i + 1].end_mode);
      EXPECT_EQ(std::accumulate(keys.bits.begin() + round.first_mode,
                                keys.bits.begin() + round.end_mode, 0),
                round.end_bit);
      EXPECT_LE(round.end_bit, kKeyBits);
      EXPECT_LT(round.begin_bit, round.end_bit);
      // Only the least significant round has modes that need no sorting.
      if (i > 0) {
        EXPECT_EQ(round.begin_bit, 0);
      }
    }
  }
}

}  // namespace
}  // namespace ttlg::cuda::sparse
