#include "plan/cpu/inplace/step.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cpu/memory_units.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

WidthRange widths_of(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square: {
      if (step.rows != step.columns) return {.least = 1, .most = 0};
      const auto order = std::sqrt(static_cast<double>(kMaxTileBytes / step.element_bytes));
      return {.least = 1, .most = std::min(kMaxTileOrder, static_cast<std::int64_t>(order))};
    }
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return {.least = 1, .most = std::min(kMaxBandColumns, c2r_of(step).n)};
    case InplaceKernel::pieces:
      return {.least = 1, .most = std::max(step.rows, step.columns)};
    case InplaceKernel::buffered:
    case InplaceKernel::cells:
      break;
  }
  return {};
}

}  // namespace

bool applies(const InplaceStep& step) { return widths_of(step).holds(step.width); }

std::string obstacle(const InplaceStep& step) { return width_obstacle(step, widths_of(step)); }

int passes(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square:
    case InplaceKernel::cells:
      return 1;
    case InplaceKernel::buffered:
      return 2;
    case InplaceKernel::pieces:
      return 3;
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return rotates_apart(c2r_of(step)) ? 3 : 2;
  }
  return 0;
}

C2rWorkspace::C2rWorkspace(const InplaceStep& step, int threads) {
  const C2r c2r = c2r_of(step);
  first_thread = whole_lines(std::max(row_table_entries(c2r), row_order_entries(c2r)) *
                             std::int64_t{sizeof(std::int64_t)});
  const int rows = step.kernel == InplaceKernel::c2r ? 2 : 1;
  held = rows * whole_lines(c2r.n * step.element_bytes);
  const std::int64_t segments = rotates_apart(c2r) ? 0 : c2r.c * (c2r.c - 1) / 2;
  const std::int64_t of_rows = held + whole_lines(segments * c2r.b * step.element_bytes);
  const std::int64_t of_columns = whole_lines(c2r.m * step.width * step.element_bytes);
  thread_bytes = std::max(of_rows, of_columns);
  bytes = first_thread + threads * thread_bytes;
}

CellsWorkspace::CellsWorkspace(const InplaceStep& step, int threads) {
  constexpr std::int64_t kMaxSlice = 32 << 10;
  constexpr std::int64_t kPartBytes = 3 * std::int64_t{sizeof(std::int64_t)};
  slice = std::min(step.element_bytes, kMaxSlice);
  max_parts = 2 * kPartsPerThread * threads;
  parts = whole_lines(ceil_div(step.rows * step.columns, 64) * std::int64_t{sizeof(std::uint64_t)});
  held = parts + whole_lines(max_parts * kPartBytes);
  bytes = held + whole_lines(max_parts * slice);
}

LongMatrix::LongMatrix(const InplaceStep& step) : inside(step), between(step) {
  const bool tall = step.rows > step.columns;
  count = std::max(step.rows, step.columns) / step.width;
  other = std::min(step.rows, step.columns);
  even = count * step.width;
  rest = std::max(step.rows, step.columns) - even;
  inside.kernel = InplaceKernel::buffered;
  inside.batch = count;
  (tall ? inside.rows : inside.columns) = step.width;
  between.kernel = InplaceKernel::cells;
  between.batch = 1;
  (tall ? between.rows : between.columns) = count;
  between.element_bytes *= step.width;
}

std::int64_t LongMatrix::workspace_bytes(int threads) const {
  return std::max(3 * parts(threads) * buffer_bytes(), cpu::workspace_bytes(between, threads)) +
         rest_bytes();
}

std::int64_t LongMatrix::buffer_bytes() const { return whole_lines(inside.matrix_bytes()); }

std::int64_t workspace_bytes(const InplaceStep& step, int threads) {
  switch (step.kernel) {
    case InplaceKernel::square:
      return 0;
    case InplaceKernel::buffered:
      return matrices_at_once(step, threads) * whole_lines(step.matrix_bytes());
    case InplaceKernel::pieces:
      return LongMatrix(step).workspace_bytes(threads);
    case InplaceKernel::cells:
      return matrices_at_once(step, threads) *
             CellsWorkspace(step, threads_each(step, threads)).bytes;
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return C2rWorkspace(step, threads).bytes;
  }
  return 0;
}

}  // namespace ttlg::cpu
