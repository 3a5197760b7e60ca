#include "plan/cpu/inplace/step.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ttlg::cpu {
namespace {

InplaceStep step_of(InplaceKernel kernel, std::int64_t rows, std::int64_t columns,
                    std::int64_t element_bytes, std::int64_t width) {
  return {.kernel = kernel,
          .rows = rows,
          .columns = columns,
          .element_bytes = element_bytes,
          .width = width};
}

// Each example violates one bound and meets all others.
TEST(InplaceStep, RefusesSquaresBeyondEachBound) {
  const auto is_valid_square = [](std::int64_t rows, std::int64_t columns, std::int64_t bytes,
                                  std::int64_t width) {
    return applies(step_of(InplaceKernel::square, rows, columns, bytes, width));
  };
  EXPECT_TRUE(is_valid_square(128, 128, 1, kMaxTileOrder));
  EXPECT_TRUE(is_valid_square(128, 128, 8, 90));
  EXPECT_FALSE(is_valid_square(128, 128, 8, 91)) << "bytes of a tile";
  EXPECT_FALSE(is_valid_square(128, 128, 8, 128)) << "bytes of a tile";
  EXPECT_TRUE(is_valid_square(3, 3, kMaxTileBytes, 1));
  EXPECT_FALSE(is_valid_square(3, 3, kMaxTileBytes + 1, 1)) << "bytes of a tile of one element";
  EXPECT_FALSE(is_valid_square(256, 256, 1, std::int64_t{1} << 32)) << "order, whose square is 0";
  EXPECT_FALSE(is_valid_square(128, 128, 8, 0));
  EXPECT_FALSE(is_valid_square(128, 128, 8, -1));
  EXPECT_FALSE(is_valid_square(128, 127, 8, 8)) << "no square";
}

TEST(InplaceStep, RefusesBandsBeyondEachBound) {
  for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
    const auto is_valid_band = [&](std::int64_t columns, std::int64_t width) {
      // Columns of C2R are rows of R2C.
      return applies(kernel == InplaceKernel::c2r ? step_of(kernel, 3000, columns, 8, width)
                                                  : step_of(kernel, columns, 3000, 8, width));
    };
    EXPECT_TRUE(is_valid_band(50, 1));
    EXPECT_TRUE(is_valid_band(50, 50));
    EXPECT_FALSE(is_valid_band(50, 51)) << "more columns than there are";
    EXPECT_TRUE(is_valid_band(2000, kMaxBandColumns));
    EXPECT_FALSE(is_valid_band(2000, kMaxBandColumns + 1));
    EXPECT_FALSE(is_valid_band(50, 0));
    EXPECT_FALSE(is_valid_band(50, -1));
  }
}

TEST(InplaceStep, RefusesPiecesBeyondEachBound) {
  for (const bool tall : {true, false}) {
    const auto is_valid_piece = [&](std::int64_t width) {
      return applies(step_of(InplaceKernel::pieces, tall ? 400 : 7, tall ? 7 : 400, 8, width));
    };
    EXPECT_TRUE(is_valid_piece(1));
    EXPECT_TRUE(is_valid_piece(400));
    EXPECT_FALSE(is_valid_piece(401));
    EXPECT_FALSE(is_valid_piece(0));
    EXPECT_FALSE(is_valid_piece(-1));
  }
}

TEST(InplaceStep, CountsPasses) {
  const auto passes_of = [](InplaceKernel kernel, std::int64_t rows, std::int64_t columns) {
    return passes(step_of(kernel, rows, columns, 4, 1));
  };
  EXPECT_EQ(passes_of(InplaceKernel::square, 100, 100), 1);
  EXPECT_EQ(passes_of(InplaceKernel::cells, 100, 99), 1);
  EXPECT_EQ(passes_of(InplaceKernel::buffered, 100, 99), 2);
  EXPECT_EQ(passes_of(InplaceKernel::pieces, 1000, 7), 3);
  for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
    EXPECT_EQ(passes_of(kernel, 32 * 3, 32 * 5), 2);
    EXPECT_EQ(passes_of(kernel, 33 * 3, 33 * 5), 3);
  }
}

}  // namespace
}  // namespace ttlg::cpu
