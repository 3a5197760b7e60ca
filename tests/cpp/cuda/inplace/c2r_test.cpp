// C2R and R2C in place: every pass of both against the paper's equations, and all of them against
// transposition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cuda/inplace/c2r_runs.hpp"
#include "requests.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using Violations = std::vector<std::string>;

constexpr std::int64_t kHopperBytes = (227 << 10) - (1 << 10);
constexpr std::int64_t kElementBytes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};

Launch lower(const C2rCase& c, C2rPass pass, std::int64_t on_chip_bytes) {
  if (pass == C2rPass::rows) return lower_row_shuffle(c.matrices(), on_chip_bytes);
  return lower_column_shuffle(
      c.matrices(), pass == C2rPass::rotation ? ColumnPass::rotation : ColumnPass::shuffle,
      on_chip_bytes);
}

Counts expect_pass(const C2rCase& c, C2rPass pass, std::int64_t on_chip_bytes = kHopperBytes) {
  C2rArray array(c);
  const std::vector<std::byte> expected = array.expected(pass);
  const Report report = array.run(lower(c, pass, on_chip_bytes));
  EXPECT_EQ(report.violations, Violations{})
      << testing::PrintToString(c) << ", pass " << static_cast<int>(pass);
  EXPECT_TRUE(array.equals(expected))
      << testing::PrintToString(c) << ", pass " << static_cast<int>(pass);
  return report.counts;
}

void expect_transposed(const C2rCase& c, std::int64_t on_chip_bytes = kHopperBytes) {
  C2rArray array(c);
  const std::vector<std::byte> expected = array.expected_transpose();
  std::vector<C2rPass> passes{C2rPass::rotation, C2rPass::rows, C2rPass::shuffle};
  if (c.matrices().c2r.c == 1) passes.erase(passes.begin());
  if (!c.forward) std::ranges::reverse(passes);
  for (const C2rPass pass : passes) {
    EXPECT_EQ(array.run(lower(c, pass, on_chip_bytes), true).violations, Violations{})
        << testing::PrintToString(c) << ", pass " << static_cast<int>(pass);
  }
  EXPECT_TRUE(array.equals(expected)) << testing::PrintToString(c);
}

constexpr C2rPass kPasses[] = {C2rPass::rotation, C2rPass::rows, C2rPass::shuffle};

TEST(C2r, TransposesEverySmallSize) {
  std::size_t turn = 0;
  for (std::int64_t rows = 1; rows <= 24; ++rows) {
    for (std::int64_t columns = 1; columns <= 24; ++columns) {
      for (const bool forward : {false, true}) {
        expect_transposed({.forward = forward,
                           .rows = rows,
                           .columns = columns,
                           .element_bytes = kElementBytes[turn++ % std::size(kElementBytes)],
                           .batch = 1 + columns % 3});
      }
    }
  }
}

// Of coprime sizes, of those where one divides the other, primes, powers of two and multiples of
// them.
constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {
    {97, 101}, {101, 97}, {40, 200}, {200, 40}, {64, 256}, {96, 64}, {1, 500},
    {500, 1},  {2, 333},  {333, 2},  {90, 84},  {75, 300}, {37, 74}, {128, 128}};

class C2rElements : public testing::TestWithParam<std::int64_t> {};

TEST_P(C2rElements, EveryPassIsThatOfThePaper) {
  for (const auto& [rows, columns] : kSizes) {
    for (const bool forward : {false, true}) {
      const C2rCase c{
          .forward = forward, .rows = rows, .columns = columns, .element_bytes = GetParam()};
      for (const C2rPass pass : kPasses) expect_pass(c, pass);
    }
  }
}

// On chips with little memory groups of columns are narrow, and rows move one at a time.
TEST_P(C2rElements, TransposesWithLittleSharedMemory) {
  for (const bool forward : {false, true}) {
    const C2rCase c{
        .forward = forward, .rows = 60, .columns = 84, .element_bytes = GetParam(), .batch = 2};
    expect_transposed(c, std::max<std::int64_t>(60 * 40, 128 * GetParam()));
  }
}

TEST_P(C2rElements, TransposesAtEveryAddress) {
  for (std::int64_t misalignment = 1; misalignment < 32; misalignment += 3) {
    for (const bool forward : {false, true}) {
      for (const std::int64_t columns : {40, 33}) {
        expect_transposed({.forward = forward,
                           .rows = 30,
                           .columns = columns,
                           .element_bytes = GetParam(),
                           .batch = 2,
                           .misalignment = misalignment});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, C2rElements, testing::ValuesIn(kElementBytes));

TEST(C2r, TransposesRandomSizes) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const std::int64_t common = pick(random, 1, 16);
    const std::int64_t bytes =
        kElementBytes[static_cast<std::size_t>(pick(random, 0, std::ssize(kElementBytes) - 1))];
    expect_transposed({.forward = pick(random, 0, 1) == 0,
                       .rows = common * pick(random, 1, 160 / common),
                       .columns = common * pick(random, 1, 160 / common),
                       .element_bytes = bytes,
                       .misalignment = 4 * pick(random, 0, 7)});
  }
}

// Rows of whole lines.
TEST_P(C2rElements, TouchesEverySectorOnce) {
  for (const bool forward : {false, true}) {
    for (const C2rPass pass : kPasses) {
      const C2rCase c{.forward = forward,
                      .rows = 120,
                      .columns = 256,
                      .element_bytes = GetParam(),
                      .misalignment = 64};
      const Counts counts = expect_pass(c, pass);
      const std::int64_t sectors = c.bytes() / kSectorBytes;
      EXPECT_EQ(counts.load.sectors_of_block, sectors);
      EXPECT_EQ(counts.store.sectors_of_block, sectors);
      if (GetParam() % 3 == 0) continue;
      // A warp's accesses too, where elements are single words.
      EXPECT_EQ(counts.load.sectors, sectors);
      EXPECT_EQ(counts.store.sectors, sectors);
      // In columns, no conflicts of banks, and in rows fewer than four words in any.
      const std::int64_t conflicts = pass == C2rPass::rows ? 3 * c.bytes() / kLineBytes : 0;
      EXPECT_LE(counts.bank_conflicts, conflicts)
          << testing::PrintToString(c) << ", pass " << static_cast<int>(pass);
    }
  }
}

// Rows of 120 bytes that begin at an odd sector: a group begins with a line wherever it can.
TEST(C2r, BeginsGroupsOfColumnsWithLines) {
  const C2rCase c{.rows = 500, .columns = 96, .misalignment = 32};
  const Launch launch = lower(c, C2rPass::shuffle, kHopperBytes);
  EXPECT_EQ(std::get<ColumnShuffleArguments>(launch.arguments).first_column, -8);
  EXPECT_EQ(launch.blocks, 4u);
  const Counts counts = expect_pass(c, C2rPass::shuffle);
  EXPECT_EQ(counts.load.lines_of_block, 500 * 4);
}

}  // namespace
}  // namespace ttlg::test
