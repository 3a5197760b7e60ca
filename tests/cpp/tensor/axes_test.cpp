// Permutations as callers write them, and what is wrong with those that are none.
#include "tensor/axes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace ttlg {
namespace {

struct Read {
  AxesError error;
  std::size_t position;
  std::vector<int> axes;

  bool operator==(const Read&) const = default;
};

Read read(const std::vector<std::int64_t>& given, std::size_t rank) {
  std::vector<int> axes(rank, -1);
  const AxesCheck check = normalize_axes(given, axes);
  return {check.error, check.position, axes};
}

TEST(NormalizeAxes, CountsNegativeNumbersFromTheEnd) {
  EXPECT_EQ(read({}, 0), (Read{AxesError::none, 0, {}}));
  EXPECT_EQ(read({2, 0, 1}, 3), (Read{AxesError::none, 3, {2, 0, 1}}));
  EXPECT_EQ(read({-1, 0, -2}, 3), (Read{AxesError::none, 3, {2, 0, 1}}));
}

TEST(NormalizeAxes, TakesTheHighestRank) {
  std::vector<std::int64_t> given(kMaxRank);
  std::iota(given.rbegin(), given.rend(), 0);
  const Read all = read(given, kMaxRank);
  EXPECT_EQ(all.error, AxesError::none);
  EXPECT_EQ(all.axes.front(), kMaxRank - 1);
  EXPECT_EQ(all.axes.back(), 0);
}

TEST(NormalizeAxes, SaysWhichAxisIsWrong) {
  const auto fault = [](const std::vector<std::int64_t>& given, std::size_t rank) {
    const Read result = read(given, rank);
    return std::pair{result.error, result.position};
  };
  using enum AxesError;
  EXPECT_EQ(fault({0, 3, 1}, 3), std::pair(out_of_range, std::size_t{1}));
  EXPECT_EQ(fault({0, 1, -4}, 3), std::pair(out_of_range, std::size_t{2}));
  EXPECT_EQ(fault({INT64_MAX}, 1), std::pair(out_of_range, std::size_t{0}));
  EXPECT_EQ(fault({INT64_MIN}, 1), std::pair(out_of_range, std::size_t{0}));
  EXPECT_EQ(fault({0, 1, 0}, 3), std::pair(repeated, std::size_t{2}));
  EXPECT_EQ(fault({1, -2}, 3), std::pair(repeated, std::size_t{1}));
  EXPECT_EQ(fault({0, 1}, 3), std::pair(missing, std::size_t{2}));
  EXPECT_EQ(fault({}, 1), std::pair(missing, std::size_t{0}));
}

// More axes than there are name one of them twice, and nothing is written behind the last.
TEST(NormalizeAxes, IsNotOverrun) {
  EXPECT_EQ(read({0}, 0).error, AxesError::out_of_range);
  EXPECT_EQ(read({1, 0, 1, 0}, 2), (Read{AxesError::repeated, 2, {1, 0}}));
}

}  // namespace
}  // namespace ttlg
