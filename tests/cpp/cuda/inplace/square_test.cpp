// Square matrices in place: every kernel and scheme, sizes around those of tiles, and what they
// cost.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <variant>

#include "combinations.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

constexpr InplaceKernel kSquareKernels[] = {InplaceKernel::square_v1b, InplaceKernel::square_v1,
                                            InplaceKernel::square_v1r, InplaceKernel::square_v2,
                                            InplaceKernel::square_ip,  InplaceKernel::square_sg,
                                            InplaceKernel::square_tw};

InplaceStep square(InplaceKernel kernel, std::int64_t order, std::int64_t element_bytes,
                   std::int64_t width = 2) {
  return {kernel, 1, order, 1, order, element_bytes, width};
}

class Square : public testing::TestWithParam<std::int64_t> {};

TEST_P(Square, TransposesByEveryKernel) {
  const std::int64_t tile = SquarePolicy(GetParam()).tile_order;
  for (const InplaceKernel kernel : kSquareKernels) {
    for (const std::int64_t order : {tile - 1, 3 * tile, 5 * tile + 1}) {
      expect_transposed(square(kernel, order, GetParam()));
    }
  }
}

TEST_P(Square, TransposesEverySize) {
  const std::int64_t most = 200;
  for (std::int64_t order = 1; order <= most; order += order < 40 ? 1 : 7) {
    expect_transposed(square(InplaceKernel::square_v1b, order, GetParam(), 1 + order % 3));
  }
}

TEST_P(Square, TransposesBatchesAndModesBetween) {
  const std::int64_t tile = SquarePolicy(GetParam()).tile_order;
  for (const auto& [order, kernel] :
       combinations({std::int64_t{5}, tile, tile + 3},
                    {InplaceKernel::square_v1b, InplaceKernel::square_sg})) {
    expect_transposed({kernel, 2, order, 3, order, GetParam(), 1});
  }
}

TEST_P(Square, TransposesAtEveryAddress) {
  const std::int64_t tile = SquarePolicy(GetParam()).tile_order;
  for (std::int64_t misalignment = 1; misalignment < 16; misalignment += 2) {
    expect_transposed(square(InplaceKernel::square_v1b, tile + 16, GetParam()),
                      misalignment * GetParam() % 256);
    expect_transposed(square(InplaceKernel::square_v1b, 19, GetParam()), misalignment);
  }
}

// Rows of narrow elements that begin within a word, which has elements of other blocks' tiles too,
// or of another matrix.
TEST(Square, LoadsNoByteThatAnotherBlockStores) {
  for (const std::int64_t bytes : {1, 2}) {
    for (const auto& [order, misalignment] :
         combinations({5, SquarePolicy(bytes).tile_order + 7}, {0, 2})) {
      expect_transposed({InplaceKernel::square_v1b, 1, order, 3, order, bytes, 2}, misalignment);
    }
  }
}

// Fewer threads than a tile's take the shares of several, more of them its parts or other tiles.
TEST_P(Square, TransposesByBlocksOfAnyNumberOfThreads) {
  const std::int64_t tile = SquarePolicy(GetParam()).tile_order;
  for (const auto& [threads, kernel] : combinations(
           {64, 128, 512, 1024},
           {InplaceKernel::square_v1b, InplaceKernel::square_sg, InplaceKernel::square_tw})) {
    expect_transposed({kernel, 1, tile + 5, 1, tile + 5, GetParam(), 2, threads});
    const int width = kernel == InplaceKernel::square_tw ? 0 : 1;
    expect_transposed({kernel, 3, 19, 1, 19, GetParam(), width, threads}, GetParam());
  }
}

// Blocks have as many threads as they are said to, and those of 1024 with tiles of one part take
// two pairs: as few blocks as hold them.
TEST_P(Square, LaunchesTheseThreads) {
  const SquarePolicy policy(GetParam());
  for (const int threads : {0, 64, 128, 256, 512, 1024}) {
    InplaceStep step = square(InplaceKernel::square_v1b, 3 * policy.tile_order, GetParam());
    step.threads = threads;
    const auto launches = lower_square(step, 0);
    ASSERT_EQ(launches.size(), 1U);
    const int pairs = threads == 1024 && GetParam() != 2 && GetParam() != 8 ? 2 : 1;
    EXPECT_EQ(launches[0].threads, threads == 0 ? 256 : threads);
    EXPECT_EQ(launches[0].shared_bytes, pairs * 2 * policy.tile_bytes);
    EXPECT_EQ(launches[0].blocks, 6 / pairs);
    const Report report = run_step(step);
    EXPECT_EQ(report.counts.load.sectors, step.bytes() / kSectorBytes) << threads;
    EXPECT_EQ(report.counts.store.sectors, step.bytes() / kSectorBytes) << threads;
    EXPECT_EQ(report.counts.bank_conflicts, 0) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Square, testing::ValuesIn(kWidths));

TEST(Runs, TransposesByBlocksOfAnyNumberOfThreads) {
  for (const auto& [threads, bytes] : combinations({64, 128, 512, 1024}, {6, 96, 1024, 40000})) {
    const InplaceStep step{InplaceKernel::runs, 2, 7, 1, 7, bytes, 0, threads};
    EXPECT_EQ(lower_square(step, 0)[0].threads, threads);
    expect_transposed(step, 4);
  }
}

TEST(Runs, TransposesElementsOfAnySize) {
  for (const auto& [bytes, order] :
       combinations({3, 6, 12, 20, 24, 48, 96, 100, 520, 1024, 5000}, {1, 2, 7, 20})) {
    expect_transposed(square(InplaceKernel::runs, order, bytes, 0));
    for (const std::int64_t misalignment : {4, 1}) {
      expect_transposed({InplaceKernel::runs, 2, order, 3, order, bytes, 0}, misalignment);
    }
  }
}

// The blocks of the papers' grids: all tiles of IP, the regions of SG, and those on and below the
// diagonal of the schemes alone (Gorawski and Lorek, section 3).
TEST(Square, LaunchesAsManyBlocksAsTheFormulasSay) {
  const auto blocks = [](const InplaceStep& step) {
    std::int64_t sum = 0;
    for (const Launch& launch : lower_square(step, 0)) sum += launch.blocks;
    return sum;
  };
  for (const std::int64_t tiles : {1, 2, 5, 8, 9}) {
    const std::int64_t order = tiles * 64 - 3;
    for (const InplaceKernel scheme : {InplaceKernel::square_v1b, InplaceKernel::square_v1,
                                       InplaceKernel::square_v1r, InplaceKernel::square_v2}) {
      EXPECT_EQ(blocks(square(scheme, order, 4)), tiles * (tiles + 1) / 2);
    }
    EXPECT_EQ(blocks(square(InplaceKernel::square_ip, order, 4)), tiles * tiles);
    for (const std::int64_t region : {1, 2, 4}) {
      const InplaceStep step = square(InplaceKernel::square_sg, order, 4, region);
      const std::int64_t regions = ceil_div(tiles, region);
      EXPECT_EQ(std::ssize(lower_square(step, 0)), regions * (regions + 1) / 2);
      EXPECT_EQ(blocks(step), region * region * regions * (regions + 1) / 2);
    }
    const std::int64_t pairs = order * (order - 1) / 2;
    EXPECT_EQ(blocks(square(InplaceKernel::square_tw, order, 4)), ceil_div(pairs, 256));
  }
}

// Any order of them gives the same result, so that only this tells.
TEST(Square, VisitsTilesInTheOrderOfItsScheme) {
  const std::int64_t tiles = 7;
  const std::int64_t width = 2;
  const std::pair<InplaceKernel, Scheme> schemes[] = {{InplaceKernel::square_v1, Scheme::v1},
                                                      {InplaceKernel::square_v1r, Scheme::v1r},
                                                      {InplaceKernel::square_v2, Scheme::v2},
                                                      {InplaceKernel::square_v1b, Scheme::v1b}};
  for (const auto& [kernel, scheme] : schemes) {
    const auto launches =
        lower_square(square(kernel, tiles * SquarePolicy(4).tile_order, 4, width), 0);
    ASSERT_EQ(launches.size(), 1U);
    const TileOrder& order = std::get<SquareArguments>(launches.front().arguments).tiles;
    const Enumeration<std::uint32_t> below(scheme, {.m = tiles + 1, .w = width});
    ASSERT_EQ(below.count(), tiles * (tiles + 1) / 2);
    for (std::uint32_t k = 0; k < below.count(); ++k) {
      const auto [x, y] = below.at(k);
      EXPECT_EQ(order.at(k), (Entry<std::uint32_t>{x, y - 1})) << kernel_name(kernel) << ' ' << k;
    }
  }
}

TEST(Square, TakesSeveralLaunchesBeyondTheLimitOfAGrid) {
  InplaceStep step = square(InplaceKernel::square_v1b, 640, 4);  // 55 blocks
  step.batch = std::int64_t{1} << 27;
  std::int64_t matrices = 0;
  for (const Launch& launch : lower_square(step, 0)) {
    const auto& p = std::get<SquareArguments>(launch.arguments);
    EXPECT_EQ(p.matrices.first, matrices);
    EXPECT_LE(launch.blocks, kMaxGridBlocks);
    EXPECT_EQ(launch.blocks % 55, 0);
    matrices += launch.blocks / 55;
  }
  EXPECT_EQ(matrices, step.batch);
}

// Rows of whole lines: every sector is moved once each way, and no access meets a bank conflict.
TEST_P(Square, TouchesEverySectorOnce) {
  const std::int64_t tile = SquarePolicy(GetParam()).tile_order;
  const InplaceStep step = square(InplaceKernel::square_v1b, 3 * tile, GetParam());
  const Report report = run_step(step);
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_EQ(report.counts.load.sectors, step.bytes() / kSectorBytes);
  EXPECT_EQ(report.counts.store.sectors, step.bytes() / kSectorBytes);
  EXPECT_EQ(report.counts.bank_conflicts, 0);
}

TEST(Runs, TakesSeveralLaunchesBeyondTheLimitOfAGrid) {
  const InplaceStep step{InplaceKernel::runs, 1 << 22, 60, 1, 60, 1 << 12, 0};
  std::int64_t matrices = 0;
  for (const Launch& launch : lower_square(step, 0)) {
    const auto& p = std::get<RunsArguments>(launch.arguments);
    const std::int64_t items = p.pairs.divisor() * p.chunks.divisor();  // of a matrix
    EXPECT_EQ(p.matrices.first, matrices);
    EXPECT_EQ(launch.blocks, ceil_div(p.items, RunsPolicy::kThreads / p.group_lanes));
    EXPECT_LE(launch.blocks, kMaxGridBlocks);
    EXPECT_EQ(p.items % items, 0);
    matrices += p.items / items;
  }
  EXPECT_EQ(matrices, step.batch);
  // A matrix is not divided.
  EXPECT_THROW(lower_square({InplaceKernel::runs, 1, 1 << 20, 1, 1 << 20, 1 << 20, 0}, 0),
               std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::test
