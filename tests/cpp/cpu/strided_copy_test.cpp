// What the strided copy does for steps of their own: rows that are packed for tiles, repeated
// elements, reversed ones and every other one, streamed or not; at every SIMD level, between guard
// pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cpu/executions.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {
namespace {

using Side = test::Placement::Side;

// A matrix whose rows and columns are some bytes apart, in blocks of at most `longest` of each.
struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_step;
  std::int64_t column_step;
};

void check(const Matrix& matrix, std::vector<int> axes, std::int64_t itemsize,
           std::int64_t longest) {
  Request request;
  request.shape = {matrix.rows, matrix.columns};
  request.in_byte_strides = {matrix.row_step, matrix.column_step};
  request.axes = std::move(axes);
  request.itemsize = itemsize;
  const Problem folded = fold_run(make_problem(request));
  if (!applies(Kernel::strided_copy, folded)) return;
  Parameters parameters{.kernel = Kernel::strided_copy};
  for (std::size_t m = 0; m < folded.modes.size(); ++m) {
    parameters.block.push_back(std::min(folded.modes[m].extent, longest));
    if (parameters.block[m] < folded.modes[m].extent) {
      parameters.loop_order.push_back(static_cast<int>(m));
    }
  }
  const std::int64_t run =
      parameters.block[static_cast<std::size_t>(folded.perm.front())] * folded.element_bytes();
  for (const auto& [staged, streaming] : {std::pair{false, false}, {true, false}, {false, true}}) {
    if (streaming && run < 2 * kLineBytes) continue;
    for (const int prefetch : {0, 1}) {
      parameters.staged = staged;
      parameters.streaming = streaming;
      parameters.prefetch = prefetch;
      const Plan plan = build_plan(request, parameters);
      for (const Side side : {Side::before, Side::after}) {
        ASSERT_TRUE(test::matches_reference(plan, {side, 0}));
      }
    }
  }
}

TEST(StridedCopy, PacksRowsForTiles) {
  for (const std::int64_t itemsize : {1, 2, 4, 8}) {
    for (const std::int64_t step : {2, 3, 4, 7, -1, -2, -3}) {
      const std::int64_t column_step = step * itemsize;
      const std::int64_t distance = std::abs(column_step);
      for (const auto& [rows, columns] : {std::pair{17, 19}, {40, 130}, {131, 33}}) {
        ASSERT_EQ(packs_rows(itemsize, column_step, columns, rows), distance <= 32);
        for (const std::int64_t gap : {0, 3}) {
          const Matrix matrix{rows, columns, columns * distance + gap, column_step};
          check(matrix, {1, 0}, itemsize, 1000);
          check(matrix, {1, 0}, itemsize, 40);
        }
      }
    }
  }
}

TEST(StridedCopy, MovesLinesInVectors) {
  for (const std::int64_t itemsize : {1, 2, 3, 4, 8, 16}) {
    for (const std::int64_t step : {0, -1, 2, -2, 3}) {
      for (const std::int64_t rows : {1, 7, 90}) {
        const std::int64_t columns = 77;
        const std::int64_t row_step = columns * std::max<std::int64_t>(std::abs(step), 1) + 1;
        check({rows, columns, row_step * itemsize, step * itemsize}, {0, 1}, itemsize, 1000);
        check({rows, columns, -row_step * itemsize, step * itemsize}, {0, 1}, itemsize, 50);
      }
    }
  }
}

}  // namespace
}  // namespace ttlg::cpu
