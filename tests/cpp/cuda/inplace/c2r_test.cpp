// C2R and R2C in place: every pass of both against the paper's equations, and all of them against
// transposition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "combinations.hpp"
#include "cuda/inplace/c2r_cases.hpp"
#include "requests.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

TEST(C2r, TransposesEverySmallSize) {
  std::size_t number = 0;
  for (std::int64_t rows = 1; rows <= 24; ++rows) {
    for (std::int64_t columns = 1; columns <= 24; ++columns) {
      for (const bool forward : {false, true}) {
        const std::int64_t bytes = kElementBytes[number++ % std::size(kElementBytes)];
        expect_transposed({forward, rows, columns, bytes, 1 + columns % 3});
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
    for (const auto& [forward, pass] :
         combinations({false, true}, {C2rPass::rotation, C2rPass::rows, C2rPass::shuffle})) {
      expect_pass({forward, rows, columns, GetParam()}, pass);
    }
  }
}

// On chips with little memory groups of columns are narrow, and rows move one at a time.
TEST_P(C2rElements, TransposesWithLittleSharedMemory) {
  for (const bool forward : {false, true}) {
    expect_transposed({forward, 60, 84, GetParam(), 2},
                      {.on_chip_bytes = std::max<std::int64_t>(60 * 40, 128 * GetParam())});
  }
}

TEST_P(C2rElements, TransposesAtEveryAddress) {
  for (std::int64_t misalignment = 1; misalignment < 32; misalignment += 3) {
    for (const auto& [forward, columns] : combinations({false, true}, {40, 33})) {
      expect_transposed({forward, 30, columns, GetParam(), 2, misalignment});
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
    const bool forward = pick(random, 0, 1) == 0;
    const std::int64_t rows = common * pick(random, 1, 160 / common);
    const std::int64_t columns = common * pick(random, 1, 160 / common);
    expect_transposed({forward, rows, columns, bytes, 1, 4 * pick(random, 0, 7)});
  }
}

// Rows of whole lines.
TEST_P(C2rElements, TouchesEverySectorOnce) {
  for (const bool forward : {false, true}) {
    for (const C2rPass pass : kC2rPasses) {
      const C2rCase c{forward, 120, 256, GetParam(), 1, 64};
      const Counts counts = expect_pass(c, pass);
      const std::int64_t sectors = c.bytes() / kSectorBytes;
      EXPECT_EQ(counts.load.sectors_of_block, sectors);
      EXPECT_EQ(counts.store.sectors_of_block, sectors);
      if (GetParam() % 3 == 0) continue;
      // A warp's accesses too, where elements are single words.
      EXPECT_EQ(counts.load.sectors, sectors);
      EXPECT_EQ(counts.store.sectors, sectors);
      // No conflicts of banks but in rows, where a warp comes to another block of b elements.
      const std::int64_t warps = c.bytes() / GetParam() / kLanes;
      const std::int64_t conflicts = pass == C2rPass::rows ? warps : 0;
      EXPECT_LE(counts.bank_conflicts, conflicts)
          << testing::PrintToString(c) << ", pass " << static_cast<int>(pass);
    }
  }
}

// Cycles for every 128 bytes that threads put to their positions in shared memory, or take from
// there, of which one is needed: of positions that lie an even number of elements apart, or an odd
// one, in rows of whole lines and in others.
TEST(C2r, MeetsFewBankConflictsInRows) {
  struct Size {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t element_bytes;
    double cycles;
  };
  for (const auto& [rows, columns, bytes, most_cycles] : {Size{682, 384, 8, 1},
                                                          {341, 384, 16, 1},
                                                          {384, 341, 16, 1.9},
                                                          {524, 1000, 4, 2.1},
                                                          {96, 2048, 8, 1},
                                                          {264, 1000, 2, 2.1},
                                                          {1000, 97, 1, 2.9}}) {
    for (const bool forward : {false, true}) {
      const C2rCase c{forward, rows, columns, bytes};
      const Counts counts = expect_pass(c, C2rPass::rows);
      const std::int64_t width = std::max<std::int64_t>(bytes, 4);
      const auto lines = static_cast<double>(rows * columns * width / kLineBytes);
      const double cycles = 1 + static_cast<double>(counts.bank_conflicts) / lines;
      EXPECT_LE(cycles, most_cycles) << testing::PrintToString(c);
    }
  }
}

// Rows of 120 bytes that begin at an odd sector: a group begins with a line wherever it can.
TEST(C2r, BeginsGroupsOfColumnsWithLines) {
  const C2rCase c{.rows = 500, .columns = 96, .misalignment = 32};
  const Launch launch = lower_on_chip(c, C2rPass::shuffle, kHopperBytes);
  EXPECT_EQ(std::get<ColumnShuffleArguments>(launch.arguments).first_column, -8);
  EXPECT_EQ(launch.blocks, 4u);
  const Counts counts = expect_pass(c, C2rPass::shuffle);
  EXPECT_EQ(counts.load.lines_of_block, 500 * 4);
}

TEST(C2r, FitsIntoSharedMemoryUpToItsSize) {
  for (const bool forward : {false, true}) {
    // 4 bytes are for a row that begins within a bank.
    const std::int64_t longest = (kHopperBytes - 4) / 4;
    const C2rCase rows{forward, 2, longest};
    EXPECT_TRUE(rows_fit(rows.matrices(), kHopperBytes));
    expect_pass(rows, C2rPass::rows);
    const C2rCase longer{forward, 2, longest + 1};
    EXPECT_FALSE(rows_fit(longer.matrices(), kHopperBytes));
    EXPECT_THROW(lower_on_chip(longer, C2rPass::rows, kHopperBytes), std::invalid_argument);

    const std::int64_t tallest = kHopperBytes / 32;
    const C2rCase columns{forward, tallest, 9};
    EXPECT_TRUE(columns_fit(columns.matrices(), kHopperBytes));
    expect_pass(columns, C2rPass::shuffle);
    const C2rCase taller{forward, tallest + 1, 9};
    EXPECT_FALSE(columns_fit(taller.matrices(), kHopperBytes));
    EXPECT_THROW(lower_on_chip(taller, C2rPass::shuffle, kHopperBytes), std::invalid_argument);
  }
}

TEST(C2r, FitsWhereThePlannerSays) {
  DeviceModel model;
  model.shared_bytes_per_multiprocessor = 100000;
  const std::int64_t on_chip = on_chip_bytes(model);
  for (const std::int64_t bytes : kElementBytes) {
    for (std::int64_t extra = -200; extra <= 200; ++extra) {
      const std::int64_t columns = on_chip / bytes + extra;
      const C2rCase wide{.rows = 2, .columns = columns, .element_bytes = bytes};
      const auto needs_workspace = [&](std::int64_t rows, std::int64_t count) {
        const InplaceStep step{
            .kernel = InplaceKernel::c2r, .rows = rows, .columns = count, .element_bytes = bytes};
        return min_workspace_bytes(step, model) > 0;
      };
      EXPECT_EQ(rows_fit(wide.matrices(), on_chip), !needs_workspace(2, columns));
      for (const std::int64_t count : {2, 50}) {
        const C2rCase tall{.rows = on_chip / std::max<std::int64_t>(bytes * 2, 32) + extra / 10,
                           .columns = count,
                           .element_bytes = bytes};
        const bool fits = !needs_workspace(tall.rows, count);
        EXPECT_EQ(columns_fit(tall.matrices(), on_chip), fits);
        if (fits) {
          EXPECT_LE(lower_on_chip(tall, C2rPass::shuffle, on_chip).shared_bytes, on_chip);
        }
      }
    }
  }
}

TEST(C2r, LaunchesABlockForEveryPieceOfRowsOrGroupOfColumns) {
  const C2rCase c{.rows = 1000, .columns = 320, .batch = 3};  // 25 rows in 32 KB
  EXPECT_EQ(lower_on_chip(c, C2rPass::rows, kHopperBytes).blocks, 120u);
  EXPECT_EQ(lower_on_chip(c, C2rPass::shuffle, kHopperBytes).blocks,
            3u * 14);  // groups of 96 bytes
  const C2rCase many{.rows = 2, .columns = 20000, .batch = std::int64_t{1} << 31};
  EXPECT_THROW(lower_on_chip(many, C2rPass::rows, kHopperBytes), std::invalid_argument);
  EXPECT_THROW(lower_on_chip(many, C2rPass::shuffle, kHopperBytes), std::invalid_argument);
}

// Steps along rows of matrices with about 2^31 of them, in the ninth one too.
TEST(C2r, CountsRowsBeyond32Bits) {
  constexpr std::uint32_t kBase = 48;
  for (const std::int64_t rows : {INT64_C(2147483647), INT64_C(2147483640), INT64_C(2147480000)}) {
    for (const std::int64_t columns : {7, 700, 6000}) {
      const C2rCase c{.rows = rows, .columns = columns};
      const Launch launch = lower_on_chip(c, C2rPass::rows, kHopperBytes);
      const auto& p = std::get<RowShuffleArguments>(launch.arguments);
      const C2r c2r(rows, columns);
      for (const std::int64_t first : {2 * rows - 9, rows - 3, 9 * rows - columns / 2}) {
        ElementCursor cursor(p, first, 5, kBase);
        for (std::int64_t element = 5; element < 9000; element += p.elements_at_once) {
          const std::int64_t row = element / columns;
          const std::int64_t j = element % columns;
          const std::int64_t rotated = ((first + row) % rows + j / c2r.b) % rows;
          const std::int64_t to = (rotated + multiply_mod(j, rows % columns, columns)) % columns;
          ASSERT_EQ(cursor.slot(),
                    p.swizzle(kBase + static_cast<std::uint32_t>(4 * (row * columns + to))))
              << rows << " x " << columns << ", row " << first << ", element " << element;
          cursor.advance(p.step);
        }
      }
    }
  }
}

TEST(C2r, TransposesLargeElements) {
  for (const C2rCase& c : cases_of_large_elements()) expect_transposed(c);
  EXPECT_FALSE(is_supported(C2rCase{.element_bytes = 1025}.matrices())) << "too many words";
}

}  // namespace
}  // namespace ttlg::test
