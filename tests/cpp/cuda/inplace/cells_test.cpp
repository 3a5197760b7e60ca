// Large elements that move along the cycles of the permutation.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <variant>
#include <vector>

#include "combinations.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "tensor/integer.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

InplaceStep cells_of(std::int64_t rows, std::int64_t columns, std::int64_t bytes,
                     std::int64_t spacing, std::int64_t batch = 1) {
  return {InplaceKernel::cells, batch, rows, 1, columns, bytes, spacing};
}

TEST(Cells, TransposesEverySize) {
  for (std::int64_t rows = 1; rows <= 14; ++rows) {
    for (std::int64_t columns = 1; columns <= 14; ++columns) {
      // All cells of a cycle, some of them, and hardly any may be saved.
      for (const std::int64_t spacing : {2, 8, 256}) {
        expect_transposed(cells_of(rows, columns, 32, spacing));
      }
    }
  }
}

TEST(Cells, TransposesCellsOfAnySize) {
  for (const auto& [bytes, misalignment] :
       combinations({33, 64, 100, 128, 511, 512, 520, 2000, 5004}, {0, 1, 4})) {
    expect_transposed(cells_of(11, 6, bytes, 4, 3), misalignment);
  }
}

TEST(Cells, TransposesLongCycles) {
  expect_transposed(cells_of(61, 40, 32, 64));
  expect_transposed(cells_of(500, 3, 48, 64, 2));
  expect_transposed(cells_of(3, 500, 48, 16));
}

// Besides what is saved, every sector is read once and written once.
TEST(Cells, TouchesEverySectorOnce) {
  const InplaceStep step = cells_of(48, 20, 256, 64, 2);
  const Report report = run_step(step);
  const std::int64_t saved = 2 * ceil_div(48 * 20, 64) * 256 / kSectorBytes;
  // Cells that stay, the first and the last, are saved and restored, or left alone.
  const std::int64_t sectors = step.bytes() / kSectorBytes;
  EXPECT_LE(report.counts.load.sectors, sectors + saved);
  EXPECT_GE(report.counts.load.sectors, sectors + saved - 2 * 256 / kSectorBytes);
  EXPECT_EQ(report.counts.load.sectors, report.counts.store.sectors);
}

TEST(Cells, LaunchesAGroupForEveryPartAndEveryCellThatMayLeadACycle) {
  // Groups of 8 lanes, 32 of a block.
  const std::vector<InplaceLaunch> launches = lower_cells(cells_of(100, 64, 128, 64), 0);
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].launch.blocks, 4U);  // 100 cells
  EXPECT_EQ(launches[1].launch.blocks, ceil_div(100 + 6400, 32));
  EXPECT_EQ(launches[2].launch.blocks, 4U);
  EXPECT_TRUE(launches[0].to.in_workspace);
  EXPECT_TRUE(launches[2].from.in_workspace);
  // Whole warps take what is longer: four words of a lane to the workspace, one of a cell.
  const std::vector<InplaceLaunch> large = lower_cells(cells_of(10, 5, 4096, 64), 0);
  EXPECT_EQ(std::get<CutCellsArguments>(large[0].launch.arguments).groups.items, 2);
  EXPECT_EQ(std::get<CellsArguments>(large[1].launch.arguments).groups.items, 51 * 8);
}

// 8 groups of a block: elements of 33 bytes are moved by single ones.
TEST(Cells, RefusesMoreBlocksThanCudaCanNumber) {
  const auto lower = [](std::int64_t batch) {
    return lower_cells(cells_of(1 << 10, 1 << 10, 33, 64, batch), 0);
  };
  EXPECT_GT(lower(8000)[1].launch.blocks, 2'000'000'000U);
  EXPECT_THROW(lower(8192), std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::test
