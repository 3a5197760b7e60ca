// Orthogonal-Distinct on thread blocks that take several slices and tiles each, with one buffer and
// with two, lines that begin anywhere, and the order in which blocks take slices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "combinations.hpp"
#include "cuda/lower.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/planner.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/inplace/schemes.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

class Distinct : public testing::TestWithParam<std::tuple<std::int64_t, int>> {
 protected:
  static std::int64_t width() { return std::get<0>(GetParam()); }
  static int stages() { return std::get<1>(GetParam()); }
};

std::string name_of(const testing::TestParamInfo<Distinct::ParamType>& info) {
  return std::to_string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param));
}

// A matrix in slices of 2 x 3 tiles, and its rest, a few times over: `beyond` elements more than
// whole tiles on either side.
TEST_P(Distinct, BlocksTakeSeveralSlicesAndTiles) {
  const OrthogonalDistinctPolicy policy(width());
  const std::int64_t rows = 2 * policy.tile_rows;
  const std::int64_t columns = 3 * policy.tile_columns;
  for (const auto& [beyond_rows, beyond_columns] : combinations({0, 16, 21}, {0, 16, 21})) {
    const Request request =
        paper_request({columns + beyond_columns, 3, rows + beyond_rows}, {2, 1, 0}, width());
    const cuda::Plan plan =
        built(request, 256, {Schema::orthogonal_distinct, {1, 1, columns, rows}, -1, stages()},
              small_model());
    const std::int64_t slices = 3 * (1 + (beyond_rows > 0)) * (1 + (beyond_columns > 0));
    const KernelFigures& kernel = figures_of(Schema::orthogonal_distinct, static_cast<int>(width()),
                                             planned_access(plan.sliced()));
    const std::int64_t blocks =
        std::min(slices, resident_blocks(*plan.model, kernel, stages() * policy.buffer_bytes));
    const Launch launch = bound(LoweredPlan(plan), {});
    EXPECT_EQ(launch.blocks, blocks);
    EXPECT_EQ(launch.shared_bytes, kRingBytes + stages() * policy.buffer_bytes);
    const Counts counts = expect_moved_without_conflicts(plan);
    // A barrier lies between filling and draining. With one buffer they take turns, with two each
    // tile is filled while the one before it is drained.
    const std::int64_t tiles = 3 * (2 + (beyond_rows > 0)) * (3 + (beyond_columns > 0));
    EXPECT_EQ(counts.barriers, stages() == 1 ? 2 * tiles : tiles + blocks);
  }
}

// Every second element of lines on both sides, whose elements move one by one.
TEST_P(Distinct, TakesLinesWithGaps) {
  const OrthogonalDistinctPolicy policy(width());
  Request request = paper_request({policy.tile_columns + 7, policy.tile_rows + 5}, {1, 0}, width());
  request.out_byte_strides = request.resolved_out_byte_strides();
  for (std::int64_t& stride : request.in_byte_strides) stride *= 2;
  for (std::int64_t& stride : request.out_byte_strides) stride *= 2;
  expect_moved_without_conflicts(built(
      request, 256,
      {Schema::orthogonal_distinct, {1, 1, policy.tile_columns, policy.tile_rows}, -1, stages()},
      small_model()));
}

INSTANTIATE_TEST_SUITE_P(, Distinct,
                         testing::Combine(testing::ValuesIn(kWidths), testing::Values(1, 2)),
                         name_of);

// Elements of 1 and 2 bytes, whose lines begin anywhere, in words of 4 bytes.
class Narrow : public Distinct {
 protected:
  static Counts run(const Request& request, const Slice& slice, const Misalignments& misalignments,
                    int coarsened_mode = -1) {
    const cuda::Plan plan =
        built(request, alignment_of(misalignments),
              {Schema::orthogonal_distinct, slice, coarsened_mode, stages()}, small_model());
    EXPECT_EQ(plan.recast.element_bytes(), width());
    return expect_moved_without_conflicts(plan, misalignments);
  }

  static std::vector<Counts> run_at_any_addresses(const Request& request, const Slice& slice,
                                                  int coarsened_mode = -1) {
    std::vector<Counts> counts;
    for (std::int64_t i = 0; i < 16 && !HasFailure(); i += width()) {
      if (i / 4 % width() != 0) continue;
      counts.push_back(run(request, slice, {i / 4, i % 4}, coarsened_mode));
    }
    return counts;
  }

  static Slice tile(std::int64_t columns, std::int64_t rows) { return {1, 1, columns, rows}; }
};

// Whole tiles, whose lines all begin at the same place in a word or each at another one.
TEST_P(Narrow, BeginAnywhere) {
  const OrthogonalDistinctPolicy policy(width());
  for (const std::int64_t beyond : {0, 1, 2, 3}) {
    const std::int64_t columns = 2 * policy.tile_columns;
    const std::int64_t rows = 2 * policy.tile_rows;
    Request request = paper_request({columns, rows}, {1, 0}, width());
    request.in_byte_strides = {(columns + beyond) * width(), width()};
    request.out_byte_strides = {(rows + 4 - beyond) * width(), width()};
    for (const Counts& counts : run_at_any_addresses(request, tile(columns, rows))) {
      EXPECT_LE(counts.load.sectors * 10, counts.load.sectors_of_run * 15);
      EXPECT_LE(counts.store.sectors * 10, counts.store.sectors_of_run * 17);
    }
  }
}

// What is left of tiles after words, and tiles that are smaller than words.
TEST_P(Narrow, EndAnywhere) {
  const OrthogonalDistinctPolicy policy(width());
  for (const auto& [columns, rows] :
       combinations({2, 3, 4, 5, 18, 31, 127, 130}, {2, 3, 4, 5, 6, 7, 61, 127, 131})) {
    run(paper_request({columns, 2, rows}, {2, 1, 0}, width()),
        tile(std::min(columns, 126), std::min(rows, 125)),
        {columns * width() % 4, rows / 2 * width() % 4});
    if (HasFailure()) return;
  }
}

// Rows and columns that combine modes lie at steps of no kind in the other tensor.
TEST_P(Narrow, CombineModes) {
  run_at_any_addresses(paper_request({37, 5, 3, 29}, {3, 2, 1, 0}, width()), {2, 2, 5, 3});
  run_at_any_addresses(paper_request({37, 5, 2, 29}, {3, 2, 1, 0}, width()), {2, 2, 5, 2});
  run_at_any_addresses(paper_request({13, 11, 7, 19}, {3, 2, 1, 0}, width()), {2, 2, 9, 5});
}

TEST_P(Narrow, RepeatSlices) {
  run_at_any_addresses(paper_request({33, 3, 47}, {2, 1, 0}, width()), tile(33, 47), 1);
}

// Every third element of lines of the input, of the output and of both.
TEST_P(Narrow, LieApart) {
  const OrthogonalDistinctPolicy policy(width());
  for (const auto& [in, out] : combinations({1, 3}, {1, 3})) {
    Request request =
        paper_request({policy.tile_columns + 7, policy.tile_rows + 5}, {1, 0}, width());
    request.out_byte_strides = request.resolved_out_byte_strides();
    for (std::int64_t& stride : request.in_byte_strides) stride *= in;
    for (std::int64_t& stride : request.out_byte_strides) stride *= out;
    run_at_any_addresses(request, tile(policy.tile_columns, policy.tile_rows));
  }
}

INSTANTIATE_TEST_SUITE_P(, Narrow, testing::Combine(testing::Values(1, 2), testing::Values(1, 2)),
                         name_of);

// The grid of a tensor of 4-byte elements whose modes are reversed, in the planner's bands.
AnyGrid grid_of(const std::vector<std::int64_t>& extents, const Slice& slice) {
  std::vector<int> perm(extents.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  cuda::Plan plan =
      built(paper_request(extents, perm, 4), 256, {Schema::orthogonal_distinct, slice, -1, 2});
  plan.parameters.band_width = choose_band_width(plan.sliced(), *plan.model);
  return LoweredPlan(plan).grid.grid;
}

using Corner = std::pair<std::int64_t, std::int64_t>;

// Blocks visit slices as V1BF numbers the entries of a matrix (Gorawski and Lorek, section 6), and
// without bands row by row, as the NVIDIA SDK's kernel does.
TEST(Bands, AreThoseOfV1bf) {
  constexpr std::int64_t kColumns = 10;
  constexpr std::int64_t kRows = 7;
  AnyGrid grid = grid_of({300, 200}, {1, 1, 32, 32});
  ASSERT_EQ(grid.slices, kColumns * kRows);
  for (const std::int64_t width : {1, 2, 3, 5, 8, 9, 10, 11, 100, 0}) {
    set_bands(grid, width);
    const Enumeration<std::uint32_t> order(
        Scheme::v1bf, {.m = kColumns, .n = kRows, .w = width == 0 ? kColumns : width});
    for (std::uint32_t i = 0; i < grid.slices; ++i) {
      const auto [x, y] = order.at(i);
      const BlockOrigin origin = decode_in_bands(grid, i);
      ASSERT_EQ(origin.in, (std::int64_t{y} * 32 * 300 + x * 32) * 4) << width << ' ' << i;
      if (width == 0) {
        ASSERT_EQ(y * kColumns + x, i);
      }
    }
  }
}

// Matrices of a few tiles and a rest, in bands that divide them, that do not, and wider ones.
TEST_P(Distinct, TakesSlicesInBandsOfAnyWidth) {
  const OrthogonalDistinctPolicy policy(width());
  const Request request =
      paper_request({5 * policy.tile_columns + 3, 2 * policy.tile_rows + 5}, {1, 0}, width());
  for (const std::int64_t band_width : {0, 1, 2, 4, 5, 6, 8, 1000}) {
    expect_moved(built(request, 256,
                       {.schema = Schema::orthogonal_distinct,
                        .slice = {1, 1, policy.tile_columns, policy.tile_rows},
                        .stages = stages(),
                        .band_width = band_width},
                       small_model()));
  }
}

TEST(Bands, OfWidthOneKeepTheOrder) {
  AnyGrid grid = grid_of({300, 5, 200}, {1, 1, 64, 64});
  set_bands(grid, 1);
  ASSERT_EQ(grid.slices, 5U * 4 * 5);
  for (std::uint32_t i = 0; i < grid.slices; ++i) {
    const BlockOrigin plain = decode(grid, i);
    const BlockOrigin banded = decode_in_bands(grid, i);
    EXPECT_EQ(banded.in, plain.in);
    EXPECT_EQ(banded.out, plain.out);
    EXPECT_EQ(banded.last_row_block, plain.last_row_block);
    EXPECT_EQ(banded.last_column_block, plain.last_column_block);
  }
}

TEST(Bands, HoldEverySliceOnce) {
  AnyGrid grid = grid_of({300, 5, 200}, {1, 1, 32, 32});
  std::vector<Corner> expected;
  for (std::int64_t width = 1; width <= 12; ++width) {
    set_bands(grid, width);
    std::vector<Corner> found;
    for (std::uint32_t i = 0; i < grid.slices; ++i) {
      const BlockOrigin origin = decode_in_bands(grid, i);
      EXPECT_EQ(origin.last_column_block, origin.in % (300 * 4) == 288 * 4);
      found.emplace_back(origin.in, origin.out);
    }
    std::ranges::sort(found);
    ASSERT_EQ(std::ranges::adjacent_find(found), found.end());
    if (width == 1) expected = found;
    EXPECT_EQ(found, expected) << width;
  }
}

// Pages of 2 MiB that the blocks of a device touch at a time, in both tensors, of a matrix of
// 16384 x 16384 floats: a square of tiles where it was a column of the input and a few rows of the
// output.
TEST(Bands, KeepTheBlocksOfADeviceOnFewPages) {
  constexpr std::int64_t kExtent = 16384;
  constexpr std::int64_t kPage = 2 << 20;
  AnyGrid grid = grid_of({kExtent, kExtent}, {1, 1, 64, 64});
  const std::uint32_t resident = grid.bands.width.divisor() * grid.bands.width.divisor();
  EXPECT_GT(resident, 132U * 3);
  const auto average_pages = [&] {
    std::size_t total = 0;
    for (std::uint32_t first = 0; first < grid.slices; first += resident) {
      std::set<std::int64_t> in_pages;
      std::set<std::int64_t> out_pages;
      for (std::uint32_t i = first; i < std::min(first + resident, grid.slices); ++i) {
        const BlockOrigin origin = decode_in_bands(grid, i);
        for (std::int64_t line = 0; line < 64; ++line) {
          in_pages.insert((origin.in + line * kExtent * 4) / kPage);
          out_pages.insert((origin.out + line * kExtent * 4) / kPage);
        }
      }
      total += in_pages.size() + out_pages.size();
    }
    return static_cast<double>(total) / static_cast<double>(ceil_div(grid.slices, resident));
  };
  EXPECT_LT(average_pages(), 120);
  for (const std::int64_t width : {0, 1}) {
    set_bands(grid, width);
    EXPECT_GT(average_pages(), 510) << width;
  }
}

}  // namespace
}  // namespace ttlg::test
