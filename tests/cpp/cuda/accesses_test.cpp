// Toy kernels whose traffic is known by hand.
#include "cuda/accesses.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/kernels/context.hpp"
#include "cuda/toy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::test {
namespace {

using cuda::Word16;

template <typename T>
void copy_rows(const HostContext& context) {
  const std::int64_t thread = 64 * std::int64_t{context.block()} + context.thread();
  const std::int64_t offset = std::int64_t{sizeof(T)} * thread;
  context.store(true, offset, context.load<T>(true, offset));
}

// Three blocks of two warps.
template <typename T>
Counts count_rows(std::size_t misalignment = 0) {
  Toy toy(3 * 64 * sizeof(T), misalignment);
  const Report report = toy.run({.blocks = 3, .threads = 64}, copy_rows<T>);
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_TRUE(std::ranges::equal(toy.in.bytes(), toy.out.bytes()));
  return report.counts;
}

template <typename T>
void expect_coalesced() {
  const Counts counts = count_rows<T>();
  for (const SideCounts& side : {counts.load, counts.store}) {
    EXPECT_EQ(side.accesses, 6);
    EXPECT_EQ(side.sectors, 6 * std::int64_t{sizeof(T)});
    EXPECT_EQ(side.sectors_of_block, side.sectors);
    EXPECT_EQ(side.sectors_of_run, side.sectors);
    EXPECT_EQ(side.lines_of_block, 3 * ceil_div(64 * sizeof(T), kLineBytes));
  }
  EXPECT_EQ(counts.barriers, 0);
}

TEST(Sectors, OfCoalescedRows) {
  expect_coalesced<std::uint8_t>();
  expect_coalesced<std::uint16_t>();
  expect_coalesced<std::uint32_t>();
  expect_coalesced<std::uint64_t>();
  expect_coalesced<Word16>();
}

// 4 bytes off, a row of 128 bytes touches five sectors and shares the fifth with the next row.
TEST(Sectors, OfMisalignedRows) {
  const Counts counts = count_rows<std::uint32_t>(4);
  for (const SideCounts& side : {counts.load, counts.store}) {
    EXPECT_EQ(side.accesses, 6);
    EXPECT_EQ(side.sectors, 6 * 5);
    EXPECT_EQ(side.sectors_of_block, 3 * 9);
    EXPECT_EQ(side.sectors_of_run, 6 * 4 + 1);
    EXPECT_EQ(side.lines_of_block, 3 * 3);
  }
}

// Blocks of 64 bytes from byte 96 on: the first and the third cross into another line.
TEST(Sectors, OfRowsInTheMiddleOfALine) {
  const Counts counts = count_rows<std::uint8_t>(96);
  EXPECT_EQ(counts.load.sectors, 6);
  EXPECT_EQ(counts.load.lines_of_block, 2 + 1 + 2);
}

TEST(Sectors, OfEverySecondWord) {
  Toy toy(256);
  for (std::size_t i = 0; i < 256; ++i) toy.expected_writes[i] = i % 8 < 4;
  const Report report = toy.run({}, [](const HostContext& context) {
    const std::int64_t offset = 8 * context.thread();
    context.store(true, offset, context.load<std::uint32_t>(true, offset));
  });
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_EQ(report.counts.load.sectors, 8);
  EXPECT_EQ(report.counts.store.sectors, 8);
}

TEST(Sectors, OfOneWordForAll) {
  Toy toy(0);
  AlignedBytes in(256);
  const Report report =
      run_kernel({.blocks = 2}, {in.bytes(), {}, {}}, [](const HostContext& context) {
        context.load<std::uint32_t>(true, 64);
        context.load<std::uint32_t>(context.thread() == 3, 68);
        context.load<std::uint32_t>(false, 128);
      });
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_EQ(report.counts.load.accesses, 4) << "not those without a valid lane";
  EXPECT_EQ(report.counts.load.sectors, 4);
  EXPECT_EQ(report.counts.load.sectors_of_block, 2);
  EXPECT_EQ(report.counts.load.sectors_of_run, 1);
}

// Alg. 2's tile of 32 x 32 with eight warps, for rows of the buffer that are `pitch` words apart.
template <typename T>
Counts transpose_tile(std::uint32_t pitch) {
  constexpr std::uint32_t kBytes = sizeof(T);
  Toy toy(32 * 32 * kBytes);
  const Grid grid{.threads = 256, .shared_bytes = static_cast<int>(32 * pitch * kBytes)};
  const Report report = toy.run(grid, [pitch](const HostContext& context) {
    const std::uint32_t lane = context.thread() % 32;
    for (std::uint32_t row = context.thread() / 32; row < 32; row += 8) {
      context.shared_store(true, (row * pitch + lane) * kBytes,
                           context.load<T>(true, (32 * row + lane) * kBytes));
    }
    context.barrier();
    for (std::uint32_t row = context.thread() / 32; row < 32; row += 8) {
      context.store(true, (32 * row + lane) * kBytes,
                    context.shared_load<T>(true, (lane * pitch + row) * kBytes));
    }
  });
  EXPECT_EQ(report.violations, Violations{});
  for (std::size_t i = 0; i < 32 * 32; ++i) {
    const std::size_t from = i % 32 * 32 + i / 32;
    EXPECT_TRUE(std::ranges::equal(toy.out.bytes().subspan(i * kBytes, kBytes),
                                   toy.in.bytes().subspan(from * kBytes, kBytes)));
  }
  EXPECT_EQ(report.counts.shared_loads, 32);
  EXPECT_EQ(report.counts.shared_stores, 32);
  EXPECT_EQ(report.counts.barriers, 1);
  EXPECT_EQ(report.counts.load.sectors, 32 * kBytes);
  EXPECT_EQ(report.counts.store.sectors, 32 * kBytes);
  return report.counts;
}

// TTLG, Alg. 2: a column of 32 x 33 touches 32 banks, one of 32 x 32 a single one.
TEST(BankConflicts, OfAColumn) {
  EXPECT_EQ(transpose_tile<std::uint32_t>(32).bank_conflicts, 32 * 31);
  EXPECT_EQ(transpose_tile<std::uint32_t>(33).bank_conflicts, 0);
}

// Wide words go by half and quarter warps; rows of narrow ones are fewer words apart.
TEST(BankConflicts, OfOtherWidths) {
  EXPECT_EQ(transpose_tile<std::uint64_t>(32).bank_conflicts, 32 * 2 * 15);
  EXPECT_EQ(transpose_tile<std::uint64_t>(33).bank_conflicts, 0);
  EXPECT_EQ(transpose_tile<Word16>(32).bank_conflicts, 32 * 4 * 7);
  EXPECT_EQ(transpose_tile<Word16>(33).bank_conflicts, 0);
  EXPECT_EQ(transpose_tile<std::uint16_t>(32).bank_conflicts, 32 * 15);
  EXPECT_EQ(transpose_tile<std::uint16_t>(34).bank_conflicts, 0);
  EXPECT_EQ(transpose_tile<std::uint8_t>(32).bank_conflicts, 32 * 7);
  EXPECT_EQ(transpose_tile<std::uint8_t>(36).bank_conflicts, 0);
}

TEST(BankConflicts, NotOfEqualWordsNorOfLanesThatAreNotValid) {
  const auto conflicts = [](const Kernel& kernel) {
    Toy toy(0);
    const Report report = toy.run({.shared_bytes = 4096}, [&](const HostContext& context) {
      for (std::uint32_t i = 0; i < 32; ++i) {
        context.shared_store(true, 4 * (32 * i + context.thread()), i);
      }
      context.barrier();
      kernel(context);
    });
    EXPECT_EQ(report.violations, Violations{});
    return report.counts.bank_conflicts;
  };
  const auto conflicts_at = [&](const auto& offset, std::uint32_t lanes = 32) {
    return conflicts([=](const HostContext& context) {
      const std::uint32_t lane = context.thread();
      context.shared_load<std::uint32_t>(lane < lanes, offset(lane));
    });
  };
  EXPECT_EQ(conflicts_at([](std::uint32_t) { return 64; }), 0);
  EXPECT_EQ(conflicts_at([](std::uint32_t lane) { return 128 * lane; }, 3), 2);
  EXPECT_EQ(conflicts_at([](std::uint32_t lane) { return 128 * (lane / 8); }), 3);
}

}  // namespace
}  // namespace ttlg::test
