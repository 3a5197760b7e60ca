#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "plan/sparse/plan.hpp"

namespace ttlg::sparse {
namespace {

using Coordinates = std::vector<std::int64_t>;

std::vector<int> all_modes(std::size_t rank) {
  std::vector<int> modes(rank);
  std::iota(modes.begin(), modes.end(), 0);
  return modes;
}

std::uint64_t value_of(const Key& key, const Coordinates& in) {
  std::uint64_t value = 0;
  for (const Field& field : key.fields) {
    value |= static_cast<std::uint64_t>(in[static_cast<std::size_t>(field.in_mode)]) << field.shift;
  }
  return value;
}

// All coordinates in lexicographic order.
std::vector<Coordinates> full_tensor(const Coordinates& extents) {
  std::vector<Coordinates> all{{}};
  for (const std::int64_t extent : extents) {
    std::vector<Coordinates> longer;
    for (const Coordinates& outer : all) {
      for (std::int64_t i = 0; i < extent; ++i) {
        longer.push_back(outer);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// Whether sorting by these bits, within what is equal above them where it stands, gives the order
// of the whole key.
bool brings_into_order(const Key& key, SortedBits bits, const std::vector<Coordinates>& input) {
  std::vector<std::uint64_t> keys;
  for (const Coordinates& each : input) keys.push_back(value_of(key, each));
  const auto part = [&](std::uint64_t value) {
    const std::uint64_t below =
        bits.high < 64 ? value & ((std::uint64_t{1} << bits.high) - 1) : value;
    return bits.low < bits.high ? below >> bits.low : 0;
  };
  for (auto begin = keys.begin(); begin != keys.end();) {
    const auto end = std::find_if(begin, keys.end(), [&](std::uint64_t value) {
      return bits.high < 64 && value >> bits.high != *begin >> bits.high;
    });
    std::stable_sort(begin, end, [&](auto x, auto y) { return part(x) < part(y); });
    begin = end;
  }
  return std::ranges::is_sorted(keys);
}

TEST(SparseKey, HoldsEachModeWhereTheOutputComparesIt) {
  const Problem problem{.extents = {5, 1, 1000, 2}, .perm = {2, 0, 1, 3}};
  const Key key = key_of(problem, all_modes(4));
  ASSERT_EQ(key.fields.size(), 3u);  // a mode of one coordinate needs no bits
  EXPECT_EQ(key.bits, 10 + 3 + 1);
  EXPECT_EQ(key.fields[0].in_mode, 2);
  EXPECT_EQ(key.fields[0].shift, 4);
  EXPECT_EQ(key.fields[2].out_mode, 3);
  EXPECT_EQ(key.max, (std::uint64_t{999} << 4) | (4 << 1) | 1);
  EXPECT_EQ(value_of(key, {4, 0, 999, 1}), key.max);
}

TEST(SparseKey, BitsOfExtents) {
  EXPECT_EQ(bits_of(0), 0);
  EXPECT_EQ(bits_of(1), 0);
  EXPECT_EQ(bits_of(2), 1);
  EXPECT_EQ(bits_of(1024), 10);
  EXPECT_EQ(bits_of(1025), 11);
  EXPECT_EQ(bits_of(std::int64_t{1} << 62), 62);
}

TEST(SparseKey, FewestBitsForEveryPermutation) {
  Problem problem{.extents = {3, 2, 3, 4}, .perm = all_modes(4)};
  const std::vector<Coordinates> input = full_tensor(problem.extents);
  do {
    const Key key = key_of(problem, all_modes(4));
    const SortedBits bits = bits_to_sort(key, 4);
    ASSERT_TRUE(brings_into_order(key, bits, input));
    if (bits.high <= bits.low) {
      EXPECT_TRUE(std::ranges::is_sorted(problem.perm));
      continue;
    }
    // One mode less on either side is too few.
    for (const Field& field : key.fields) {
      if (field.shift == bits.low) {
        EXPECT_FALSE(brings_into_order(key, {field.shift + field.bits, bits.high}, input));
      }
      if (field.shift + field.bits == bits.high) {
        EXPECT_FALSE(brings_into_order(key, {bits.low, field.shift}, input));
      }
    }
  } while (std::ranges::next_permutation(problem.perm).found);
}

TEST(SparseKey, InputInOrderByItsFirstModes) {
  Problem problem{.extents = {3, 2, 3, 4}, .perm = all_modes(4)};
  for (int sorted_modes = 0; sorted_modes <= 4; ++sorted_modes) {
    std::vector<Coordinates> input = full_tensor(problem.extents);
    // The other modes the other way round.
    std::ranges::stable_sort(input, [&](const Coordinates& x, const Coordinates& y) {
      const auto middle = sorted_modes;
      const Coordinates x_first(x.begin(), x.begin() + middle);
      const Coordinates y_first(y.begin(), y.begin() + middle);
      return x_first != y_first ? x_first < y_first : x > y;
    });
    std::ranges::sort(problem.perm);
    do {
      const Key key = key_of(problem, all_modes(4));
      EXPECT_TRUE(brings_into_order(key, bits_to_sort(key, sorted_modes), input));
    } while (std::ranges::next_permutation(problem.perm).found);
  }
}

TEST(SparseKey, CompressedMatrixIsSortedByItsColumnsAlone) {
  const Problem problem{.extents = {1000, 500}, .perm = {1, 0}};
  const Key key = key_of(problem, all_modes(2));
  const SortedBits bits = bits_to_sort(key, 1);
  EXPECT_EQ(bits.low, 10);
  EXPECT_EQ(bits.high, 19);
}

}  // namespace
}  // namespace ttlg::sparse
