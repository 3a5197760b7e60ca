// Which shares a thread takes, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/threads/team.hpp"

namespace ttlg::cpu {
namespace {

// Where the shares of 0 to 800 begin that one thread of a call takes alone.
std::vector<std::int64_t> begins_of(int queues, int number, const GroupOfCores& here) {
  Shares shares(queues, 800, 10);
  std::vector<std::int64_t> begins;
  const auto note = [&](std::int64_t begin, std::int64_t) { begins.push_back(begin); };
  const std::int64_t taken = shares.take(number, here, note, [] {});
  EXPECT_EQ(taken, std::ssize(begins));
  return begins;
}

TEST(Shares, EachThreadBeginsWithItsOwnQueue) {
  for (int number = 0; number < 4; ++number) {
    const std::vector<std::int64_t> begins = begins_of(4, number, GroupOfCores{});
    ASSERT_EQ(begins.size(), 40U);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(begins[static_cast<std::size_t>(i)], (200 * number + 20 * i) % 800);
    }
  }
}

TEST(Shares, EachGroupOfCoresBeginsWithItsOwnPart) {
  for (int number = 0; number < 8; ++number) {
    for (int group = 0; group < 4; ++group) {
      std::vector<std::int64_t> begins = begins_of(8, number, {.number = group, .count = 4});
      ASSERT_EQ(begins.size(), 80U);
      EXPECT_EQ(begins.front(), 200 * group + 100 * (number % 2));
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(begins[i] / 200, group);
      std::ranges::sort(begins);
      for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(begins[i], 10 * i);
    }
  }
}

TEST(Shares, MoreGroupsThanQueues) {
  for (int group = 0; group < 16; ++group) {
    Shares shares(2, 10, 1);
    std::int64_t covered = 0;
    const auto add = [&](std::int64_t begin, std::int64_t end) { covered += end - begin; };
    shares.take(1, {.number = group, .count = 16}, add, [] {});
    EXPECT_EQ(covered, 10);
  }
}

TEST(CoreGroups, UnknownProcessorsAreInTheFirst) {
  const CoreGroups groups({0, 0, 1, 1, 2});
  EXPECT_EQ(groups.of(3).number, 1);
  EXPECT_EQ(groups.of(4).number, 2);
  EXPECT_EQ(groups.of(4).count, 3);
  EXPECT_EQ(groups.of(5).number, 0);
  EXPECT_EQ(groups.of(-1).number, 0);
  EXPECT_EQ(CoreGroups({}).of(0).count, 1);
  const GroupOfCores here = CoreGroups::of_this_machine().here();
  EXPECT_LT(here.number, here.count);
}

}  // namespace
}  // namespace ttlg::cpu
