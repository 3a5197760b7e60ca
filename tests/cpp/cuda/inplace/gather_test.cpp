// Passes of C2R and R2C through a workspace, for rows and columns that exceed shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "combinations.hpp"
#include "cuda/inplace/c2r_cases.hpp"
#include "requests.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

TEST(Gather, TransposesEverySmallSize) {
  std::size_t number = 0;
  for (std::int64_t rows = 1; rows <= 16; ++rows) {
    for (std::int64_t columns = 1; columns <= 16; ++columns) {
      for (const bool forward : {false, true}) {
        const std::int64_t bytes = kElementBytes[number++ % std::size(kElementBytes)];
        expect_transposed({forward, rows, columns, bytes, 1 + columns % 3, rows % 5},
                          {.workspace_parts = 1 + columns % 4});
      }
    }
  }
}

class GatherElements : public testing::TestWithParam<std::int64_t> {};

// Columns of several tiles, and of more than two groups.
TEST_P(GatherElements, EveryColumnPassIsThatOfThePaper) {
  const std::int64_t columns = 2 * 128 / GetParam();
  for (const auto& [forward, pass, rows] :
       combinations({false, true}, {C2rPass::rotation, C2rPass::shuffle},
                    {6 * columns + 600, std::int64_t{801}})) {
    expect_pass({forward, rows, columns + rows % 3 * 3, GetParam()}, pass, {.workspace_parts = 2});
  }
}

// Rows of several pieces.
TEST_P(GatherElements, EveryRowPassIsThatOfThePaper) {
  for (const bool forward : {false, true}) {
    for (const auto& [rows, columns] : {std::pair{3, 6001}, {6, 2304}, {14, 2100}}) {
      expect_pass({forward, rows, columns, GetParam(), 1, 20}, C2rPass::rows,
                  {.workspace_parts = 2});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GatherElements, testing::ValuesIn(kElementBytes));

TEST(Gather, TakesAsManyLaunchesAsTheWorkspaceAsksFor) {
  const C2rCase c{.rows = 1000, .columns = 320, .element_bytes = 4, .batch = 3};
  EXPECT_EQ(workspace_bytes(c, C2rPass::shuffle, 1), 1000 * 128);
  EXPECT_EQ(lower_in_workspace(c, C2rPass::shuffle, 1000 * 128 * 7).size(), 2u * 5);
  EXPECT_EQ(lower_in_workspace(c, C2rPass::rows, 320 * 4 * 1000).size(), 2u * 3);
  EXPECT_THROW(lower_in_workspace(c, C2rPass::shuffle, 1000 * 128 - 1), std::invalid_argument);
  EXPECT_THROW(lower_in_workspace(c, C2rPass::rows, 320 * 4 - 1), std::invalid_argument);
}

// Besides its own rows, a tile reads those among which its columns are rotated. Rotations by the
// same number of rows, and the way back, read none.
TEST(Gather, ReadsFewSectorsTwice) {
  for (const bool forward : {false, true}) {
    const C2rCase c{.forward = forward, .rows = 1664, .columns = 64};  // tiles of 333 rows
    const std::int64_t sectors = c.bytes() / kSectorBytes;
    Counts counts = expect_pass(c, C2rPass::shuffle, {.workspace_parts = 2});
    EXPECT_EQ(counts.load.sectors, 2 * sectors + 5 * 2 * 31 * 4);
    EXPECT_EQ(counts.store.sectors, 2 * sectors);
    EXPECT_EQ(counts.bank_conflicts, 0);
    const C2rCase wide{.forward = forward, .rows = 1664, .columns = 96};  // b = 3
    EXPECT_EQ(wide.matrices().c2r.b, 3);
    counts = expect_pass(wide, C2rPass::rotation, {.workspace_parts = 3});
    EXPECT_LE(counts.load.sectors, 2 * wide.bytes() / kSectorBytes + 5 * 3 * 11 * 4);
    EXPECT_EQ(counts.store.sectors, 2 * wide.bytes() / kSectorBytes);
  }
}

// The products of Eqs. 31 and 34 exceed 32 bits long before places do.
TEST(Gather, FindsPlacesBeyond32Bits) {
  Random random(7);
  constexpr std::int64_t kMax = INT32_MAX;
  for (const std::int64_t length : {kMax, kMax - 7, INT64_C(2000000000), INT64_C(10000000)}) {
    for (const std::int64_t other : {1, 12, 31, 640}) {
      const C2rCase wide{.rows = other, .columns = length};
      const auto launches =
          lower_in_workspace(wide, C2rPass::rows, workspace_bytes(wide, C2rPass::rows, other));
      const auto& rows = std::get<RowGatherArguments>(launches.front().launch.arguments);
      const C2r c2r(other, length);
      const C2rCase tall{.rows = length, .columns = other};
      const auto groups =
          lower_in_workspace(tall, C2rPass::shuffle, workspace_bytes(tall, C2rPass::shuffle, 1));
      const auto& columns = std::get<ColumnGatherArguments>(groups.front().launch.arguments);
      const std::uint32_t step = columns.drain.rows.divisor();
      for (int n = 0; n < 100; ++n) {
        const auto i = static_cast<std::uint32_t>(pick(random, 0, other - 1));
        const auto j = static_cast<std::uint32_t>(pick(random, 0, length - 1));
        const std::int64_t to = (((i + j / c2r.b) % other) + j * (other % length)) % length;
        ASSERT_EQ(ShuffledRow(rows, i)(j), to) << other << " x " << length;
        ASSERT_EQ(UnshuffledRow(rows, i)(static_cast<std::uint32_t>(to)), j)
            << other << " x " << length;
        InverseCursor cursor(columns.drain.order, j);
        for (std::int64_t row = j; row < std::min<std::int64_t>(length, j + 3 * step);
             row += step) {
          ASSERT_EQ(C2r(length, other).q(cursor.row()), row) << length << " x " << other;
          cursor.advance();
        }
      }
    }
  }
}

TEST(Gather, TransposesLargeElements) {
  for (const C2rCase& c : cases_of_large_elements()) expect_transposed(c, {.workspace_parts = 2});
}

}  // namespace
}  // namespace ttlg::test
