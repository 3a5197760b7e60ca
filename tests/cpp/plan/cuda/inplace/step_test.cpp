#include "plan/cuda/inplace/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/step_choice.hpp"
#include "plan/cuda/policy.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {
namespace {

TEST(StepLimits, KeepBandsAndRegionsWithinTheMatrix) {
  for (std::int64_t tiles = 1; tiles <= 300; ++tiles) {
    const std::int64_t order = tiles * SquarePolicy(4).tile_order;
    for (const std::int64_t rows : {order, order - 31}) {
      InplaceStep step{InplaceKernel::square_v1b, 1, rows, 1, rows, 4, band_width(tiles)};
      EXPECT_EQ(tiles_of(step), tiles);
      EXPECT_TRUE(applies(step));
      step.width = std::max<std::int64_t>(tiles, 2);
      EXPECT_FALSE(applies(step));
      step = {InplaceKernel::square_sg, 1, rows, 1, rows, 4, region_order(tiles)};
      EXPECT_TRUE(applies(step));
      step.width = tiles + 1;
      EXPECT_FALSE(applies(step));
    }
  }
  EXPECT_EQ(band_width(9), 8);
  EXPECT_EQ(band_width(8), 7);
}

// Each rule by itself: a step that keeps all of them, and the same with one broken.
TEST(InplaceStep, IsValidWithinTheLimitsOfItsKernel) {
  using enum InplaceKernel;
  const auto expect = [](const InplaceStep& good, const std::vector<InplaceStep>& bad) {
    EXPECT_TRUE(applies(good)) << kernel_name(good.kernel);
    for (const InplaceStep& each : bad) {
      EXPECT_FALSE(applies(each)) << kernel_name(each.kernel) << " " << each.rows << " x "
                                  << each.between << " x " << each.columns << " of "
                                  << each.element_bytes << " bytes, width " << each.width;
    }
  };
  for (const InplaceKernel kernel :
       {square_v1b, square_v1, square_v1r, square_v2, square_ip, square_sg, square_tw}) {
    const bool has_width = kernel == square_v1b || kernel == square_sg;
    const std::int64_t width = has_width ? 1 : 0;
    for (const std::int64_t size : kWidths) {
      expect({kernel, 3, 500, 5, 500, size, width},
             {{kernel, 3, 500, 5, 501, size, width},
              {kernel, 3, 500, 5, 500, size, has_width ? 0 : 1},
              {kernel, 3, 500, 5, 500, size, -1}});
    }
    for (const std::int64_t size : {3, 12, 32}) {
      EXPECT_FALSE(applies({kernel, 3, 500, 5, 500, size, width})) << size;
    }
  }
  expect({runs, 3, 500, 5, 500, 12, 0},
         {{runs, 3, 500, 5, 501, 12, 0}, {runs, 3, 500, 5, 500, 12, 1}});
  constexpr std::int64_t kMax = INT32_MAX;
  for (const InplaceKernel kernel : {c2r, r2c}) {
    const InplaceStep tall{kernel, 3, kMax, 1, 7, 4, 0};
    const InplaceStep wide{kernel, 3, 7, 1, kMax, 4, 0};
    expect(tall, {{kernel, 3, kMax + 1, 1, 7, 4, 0},
                  {kernel, 3, kMax, 2, 7, 4, 0},
                  {kernel, 3, kMax, 1, 7, 4, 1}});
    expect(wide, {{kernel, 3, 7, 1, kMax + 1, 4, 0}});
  }
  expect({cells, 3, 1 << 16, 1, (1 << 15) - 1, 32, 2},
         {{cells, 3, 1 << 16, 1, 1 << 15, 32, 2},
          {cells, 3, 1 << 16, 2, (1 << 15) - 1, 32, 2},
          {cells, 3, 1 << 16, 1, (1 << 15) - 1, 31, 2},
          {cells, 3, 1 << 16, 1, (1 << 15) - 1, 32, 1},
          {cells, 3, 1 << 16, 1, (1 << 15) - 1, 32, 3},
          {cells, 3, 1 << 16, 1, (1 << 15) - 1, 32, 0},
          {cells, 3, 1 << 16, 1, (1 << 15) - 1, 32, -2}});
  expect({skinny, 3, 1000, 1, 31, 8, 100},
         {{skinny, 3, 1000, 2, 31, 8, 100},
          {skinny, 3, 1000, 1, 32, 8, 100},
          {skinny, 3, 1000, 1, 1, 8, 100},
          {skinny, 3, 31, 1, 31, 8, 10},
          {skinny, 3, 1000, 1, 31, 33, 30},
          {skinny, 3, 1000, 1, 31, 8, 0},
          {skinny, 3, 1000, 1, 31, 8, -100},
          {skinny, 3, 1000, 1, 31, 8, 1001},
          {skinny, 3, 1000, 1, 31, 8, 3},      // cells of 24 bytes
          {skinny, 3, 1000, 1, 31, 8, 200}});  // more than shared memory
  expect({skinny, 3, 31, 1, 1000, 8, 100}, {{skinny, 3, 32, 1, 1000, 8, 100}});
  expect({skinny, 3, 100, 1, 2, 1, 100}, {{skinny, 3, 100, 1, 2, 1, 101}});
  const std::int64_t widest = std::int64_t{1} << 30;
  expect({cells, 3, 50, 1, 40, 32, widest}, {{cells, 3, 50, 1, 40, 32, 2 * widest}});
}

TEST(InplaceStep, HasThreadsOfSquareKernelsAndRunsAlone) {
  for (const InplaceKernel kernel : kInplaceKernels) {
    const bool is_square = kernel <= InplaceKernel::runs;
    const bool has_width =
        kernel == InplaceKernel::square_v1b || kernel == InplaceKernel::square_sg;
    InplaceStep step{kernel, 1, 70, 1, 70, 4, has_width ? 1 : 0};
    if (kernel == InplaceKernel::cells) step = {kernel, 1, 70, 1, 70, 64, 64};
    if (kernel == InplaceKernel::skinny) step = {kernel, 1, 3, 1, 1000, 4, 100};
    EXPECT_TRUE(applies(step));
    EXPECT_EQ(block_threads(step), is_square ? 256 : 0);
    for (const int threads : {64, 128, 256, 512, 1024}) {
      step.threads = threads;
      EXPECT_EQ(applies(step), is_square) << threads;
      EXPECT_EQ(block_threads(step), threads);
    }
    for (const int threads : {-64, 1, 32, 96, 2048}) {
      step.threads = threads;
      EXPECT_FALSE(applies(step)) << threads;
    }
  }
}

TEST(InplaceStep, CountsPassesAndLaunches) {
  const DeviceModel model = test::analytic_model();
  const auto step = [](InplaceKernel kernel, std::int64_t rows, std::int64_t columns,
                       std::int64_t width = 0) {
    return InplaceStep{kernel, 1, rows, 1, columns, 4, width};
  };
  EXPECT_EQ(passes(step(InplaceKernel::square_v1b, 100, 100, 1), model), 1);
  EXPECT_EQ(passes(step(InplaceKernel::runs, 100, 100), model), 1);
  EXPECT_EQ(passes(step(InplaceKernel::skinny, 1000, 5, 1000), model), 1);
  EXPECT_EQ(passes(step(InplaceKernel::skinny, 1000, 5, 100), model), 2);
  EXPECT_EQ(launches(step(InplaceKernel::skinny, 1000, 5, 1000), model), 1);
  EXPECT_EQ(launches(step(InplaceKernel::skinny, 1000, 5, 100), model), 4);
  EXPECT_EQ(launches(step(InplaceKernel::skinny, 5, 1003, 100), model), 6);
  // A cell of 64, or the head of each piece and what is left over.
  EXPECT_EQ(min_workspace_bytes(step(InplaceKernel::skinny, 6400, 5, 100), model), 5 * 400);
  EXPECT_EQ(min_workspace_bytes(step(InplaceKernel::skinny, 6499, 5, 100), model), 65 * 99 * 5 * 4);
  EXPECT_EQ(min_workspace_bytes(step(InplaceKernel::skinny, 1000, 5, 1000), model), 0);
  EXPECT_EQ(passes(step(InplaceKernel::c2r, 100, 99), model), 2);
  EXPECT_EQ(passes(step(InplaceKernel::r2c, 100, 98), model), 3);
  EXPECT_EQ(launches(step(InplaceKernel::square_v1b, 19200, 19200, 8), model), 1);
  EXPECT_EQ(launches(step(InplaceKernel::square_sg, 19200, 19200, 128), model),
            6);  // three on a side
  EXPECT_EQ(launches(step(InplaceKernel::square_sg, 4096, 4096, 128), model), 1);
  EXPECT_EQ(launches(step(InplaceKernel::c2r, 100, 98), model), 3);
}

TEST(InplaceStep, CountsSectors) {
  DeviceModel model = test::analytic_model();
  model.launch_seconds = 0;
  const auto copies = [&](InplaceKernel kernel, std::int64_t bytes, std::int64_t width = 0) {
    const InplaceStep step{kernel, 1, 100, 1, 100, bytes, width};
    return step_seconds(step, model) * model.memory_bytes_per_second /
           (2 * static_cast<double>(step.bytes()));
  };
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::square_v1b, 4, 1), 1);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::square_sg, 4, 4), 1);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::square_tw, 4), (1 + 32.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::square_tw, 16), (1 + 32.0 / 16) / 2);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::runs, 64), 1);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::runs, 12), (1 + 40.0 / 12) / 2);
  const auto skinny = [&](std::int64_t rows, std::int64_t length) {
    const InplaceStep step{InplaceKernel::skinny, 1, rows, 1, 30, 4, length};
    return step_seconds(step, model) * model.memory_bytes_per_second /
           (2 * static_cast<double>(step.bytes()));
  };
  EXPECT_DOUBLE_EQ(skinny(200, 200), 1);
  EXPECT_DOUBLE_EQ(skinny(2000, 200), 1 + 1 + 2.0 / 64);
  // Heads of 4 bytes of each cell, which begin with any of its words: read from the structures and
  // written to the workspace, and back to a sector and a half of fields at least.
  const double waste = 28.0 / 800;
  EXPECT_DOUBLE_EQ(skinny(2001, 200), 1 + waste / 2 + (3 * 4.0 + 36) / 800 / 2 - 4.0 / 800 +
                                          (1 + waste) * (1 + 2.0 / 64));
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::c2r, 4), 3);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::c2r, 4000), 6);  // all through the workspace
}

TEST(InplaceKernel, HasItsName) {
  using enum InplaceKernel;
  const std::vector<std::pair<InplaceKernel, std::string_view>> names{{square_v1b, "square_v1b"},
                                                                      {square_v1, "square_v1"},
                                                                      {square_v1r, "square_v1r"},
                                                                      {square_v2, "square_v2"},
                                                                      {square_ip, "square_ip"},
                                                                      {square_sg, "square_sg"},
                                                                      {square_tw, "square_tw"},
                                                                      {runs, "runs"},
                                                                      {cells, "cells"},
                                                                      {skinny, "skinny"},
                                                                      {c2r, "c2r"},
                                                                      {r2c, "r2c"}};
  EXPECT_EQ(names.size(), kInplaceKernels.size());
  for (const auto& [kernel, name] : names) {
    EXPECT_EQ(kernel_name(kernel), name);
    EXPECT_EQ(kInplaceKernels.parse(name), kernel);
  }
  EXPECT_EQ(kInplaceKernels.list(),
            "'square_v1b', 'square_v1', 'square_v1r', 'square_v2', 'square_ip', 'square_sg', "
            "'square_tw', 'runs', 'cells', 'skinny', 'c2r', 'r2c'");
}

}  // namespace
}  // namespace ttlg::cuda
