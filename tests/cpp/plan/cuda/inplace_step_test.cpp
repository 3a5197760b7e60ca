#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/inplace/step.hpp"
#include "plan/cuda/inplace/step_choice.hpp"
#include "plan/cuda/inplace/step_limits.hpp"
#include "plan/cuda/policy.hpp"

namespace ttlg::cuda {
namespace {

TEST(StepLimits, KeepBandsAndRegionsWithinTheMatrix) {
  for (std::int64_t tiles = 1; tiles <= 300; ++tiles) {
    const std::int64_t order = tiles * SquarePolicy(4).tile_order;
    for (const std::int64_t rows : {order, order - 31}) {
      InplaceStep step{InplaceKernel::square_v1b, 1, rows, 1, rows, 4, band_width(tiles)};
      EXPECT_EQ(tiles_of(step), tiles);
      EXPECT_TRUE(is_valid(step));
      step.width = std::max<std::int64_t>(tiles, 2);
      EXPECT_FALSE(is_valid(step));
      step = {InplaceKernel::square_sg, 1, rows, 1, rows, 4, region_order(tiles)};
      EXPECT_TRUE(is_valid(step));
      step.width = tiles + 1;
      EXPECT_FALSE(is_valid(step));
    }
  }
  EXPECT_EQ(band_width(9), 8);
  EXPECT_EQ(band_width(8), 7);
}

TEST(InplaceStep, CountsPassesAndLaunches) {
  const DeviceModel model = test::analytic_model();
  const auto step = [](InplaceKernel kernel, std::int64_t rows, std::int64_t columns,
                       std::int64_t width = 0) {
    return InplaceStep{kernel, 1, rows, 1, columns, 4, width};
  };
  EXPECT_EQ(passes(step(InplaceKernel::square_v1b, 100, 100, 1), model), 1);
  EXPECT_EQ(passes(step(InplaceKernel::runs, 100, 100), model), 1);
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
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::c2r, 4), 3);
  EXPECT_DOUBLE_EQ(copies(InplaceKernel::c2r, 4000), 6);  // all through the workspace
}

TEST(InplaceKernel, HasItsName) {
  for (int number = 0; number < kInplaceKernels; ++number) {
    const auto kernel = static_cast<InplaceKernel>(number);
    EXPECT_EQ(inplace_kernel_from_name(kernel_name(kernel)), kernel);
  }
  EXPECT_EQ(inplace_kernel_names(),
            "'square_v1b', 'square_v1', 'square_v1r', 'square_v2', 'square_ip', 'square_sg', "
            "'square_tw', 'runs', 'cells', 'c2r', 'r2c'");
}

}  // namespace
}  // namespace ttlg::cuda
