#include "plan/cuda/inplace/step.hpp"

#include <algorithm>
#include <bit>

#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/skinny.hpp"
#include "plan/cuda/policy.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {
namespace {

// Whether the threads of its blocks are for the plan to choose.
bool takes_any_threads(InplaceKernel kernel) {
  switch (kernel) {
    case InplaceKernel::square_v1b:
    case InplaceKernel::square_v1:
    case InplaceKernel::square_v1r:
    case InplaceKernel::square_v2:
    case InplaceKernel::square_ip:
    case InplaceKernel::square_sg:
    case InplaceKernel::square_tw:
    case InplaceKernel::runs:
      return true;
    case InplaceKernel::cells:
    case InplaceKernel::skinny:
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      break;
  }
  return false;
}

bool are_threads_valid(const InplaceStep& step) {
  return step.threads == 0 || (takes_any_threads(step.kernel) && kMinBlockThreads <= step.threads &&
                               step.threads <= kMaxBlockThreads &&
                               std::has_single_bit(static_cast<unsigned>(step.threads)));
}

}  // namespace

std::int64_t tiles_of(const InplaceStep& step) {
  return ceil_div(step.columns, SquarePolicy(step.element_bytes).tile_order);
}

int block_threads(const InplaceStep& step) {
  if (step.threads != 0 || !takes_any_threads(step.kernel)) return step.threads;
  static_assert(SquarePolicy::kThreads == RunsPolicy::kThreads);
  return SquarePolicy::kThreads;
}

namespace {

// Whether the kernel can transpose these matrices with some width.
bool takes_matrices(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square_v1b:
    case InplaceKernel::square_sg:
    case InplaceKernel::square_v1:
    case InplaceKernel::square_v1r:
    case InplaceKernel::square_v2:
    case InplaceKernel::square_ip:
    case InplaceKernel::square_tw:
      return step.rows == step.columns && is_width(step.element_bytes);
    case InplaceKernel::runs:
      return step.rows == step.columns;
    case InplaceKernel::cells:
      return step.between == 1 && step.element_bytes >= CellsPolicy::kMinBytes &&
             step.rows <= CellsPolicy::kMaxCells / step.columns;
    case InplaceKernel::skinny:
      return is_skinny(step);
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return step.between == 1 && std::max(step.rows, step.columns) <= C2rPolicy::kMaxExtent;
  }
  return false;
}

WidthRange widths_of(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square_v1b:
      return {.least = 1, .most = std::max<std::int64_t>(tiles_of(step) - 1, 1)};
    case InplaceKernel::square_sg:
      return {.least = 1, .most = tiles_of(step)};
    case InplaceKernel::cells:
      return {.least = 2, .most = CellsPolicy::kMaxCells};
    case InplaceKernel::skinny:
      return {.least = 1, .most = std::max(step.rows, step.columns)};
    case InplaceKernel::square_v1:
    case InplaceKernel::square_v1r:
    case InplaceKernel::square_v2:
    case InplaceKernel::square_ip:
    case InplaceKernel::square_tw:
    case InplaceKernel::runs:
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      break;
  }
  return {};
}

}  // namespace

bool applies(const InplaceStep& step) {
  if (!are_threads_valid(step) || !takes_matrices(step) || !widths_of(step).holds(step.width)) {
    return false;
  }
  if (step.kernel == InplaceKernel::skinny) {
    const SkinnyMatrix matrix(step);
    return piece_fits(matrix) && (matrix.is_whole() || applies(matrix.cells()));
  }
  return step.kernel != InplaceKernel::cells ||
         std::has_single_bit(static_cast<std::uint64_t>(step.width));
}

std::string obstacle(const InplaceStep& step) {
  const std::string kernel = "kernel '" + std::string(kernel_name(step.kernel)) + "'";
  if (!are_threads_valid(step)) {
    if (!takes_any_threads(step.kernel)) return "threads must be 0 for " + kernel;
    return "threads of " + kernel + " must be a power of two from " +
           std::to_string(kMinBlockThreads) + " to " + std::to_string(kMaxBlockThreads) + ", not " +
           std::to_string(step.threads);
  }
  if (!takes_matrices(step)) return width_obstacle(step, {.least = 1, .most = 0});
  if (!widths_of(step).holds(step.width)) return width_obstacle(step, widths_of(step));
  if (step.kernel == InplaceKernel::cells) {
    return "width of kernel 'cells' must be a power of two, not " + std::to_string(step.width);
  }
  return width_obstacle(step, widths_of(step)) + ", which is more than shared memory holds";
}

namespace {

// What c2r and r2c move through the workspace as a whole, rows or groups of columns: the bytes of
// one, 0 where it is on chip, and how many there are.
struct Portions {
  std::int64_t bytes = 0;
  std::int64_t count = 0;

  // At a time, one for each multiprocessor.
  std::int64_t at_once(const DeviceModel& model) const {
    return std::min<std::int64_t>(count, model.multiprocessors);
  }
  std::int64_t launches(const DeviceModel& model) const {
    return bytes == 0 ? 1 : 2 * ceil_div(count, at_once(model));
  }
  // One after the other, out of the array and back.
  int passes() const { return bytes == 0 ? 1 : 2; }
};

Portions rows_of(const InplaceStep& step, const DeviceModel& model) {
  const C2r c2r = c2r_of(step);
  const std::int64_t bytes = c2r.n * step.element_bytes;
  if (RowShufflePolicy::shared_bytes(bytes) <= on_chip_bytes(model)) return {};
  return {.bytes = bytes, .count = step.batch * c2r.m};
}

Portions columns_of(const InplaceStep& step, const DeviceModel& model) {
  const C2r c2r = c2r_of(step);
  const std::int64_t size = step.element_bytes;
  if (ColumnShufflePolicy::min_shared_bytes(c2r.m, c2r.n, size) <= on_chip_bytes(model)) {
    return {};
  }
  const std::int64_t columns = ColumnGatherPolicy::group_columns(c2r.n, size);
  return {.bytes = ColumnGatherPolicy::workspace_bytes(c2r.m, c2r.n, size),
          .count = step.batch * ceil_div(c2r.n, columns)};
}

// What cells saves of all matrices.
std::int64_t saved_bytes(const InplaceStep& step) {
  return step.batch * ceil_div(step.rows * step.columns, step.width) * step.element_bytes;
}

// Heads of pieces and saved cells, one after the other in the workspace.
std::int64_t saved_bytes(const SkinnyMatrix& matrix) {
  return matrix.is_whole() ? 0 : std::max(matrix.heads_bytes(), saved_bytes(matrix.cells()));
}

// The columns are rotated before or after they are shuffled, unless by nothing.
int column_passes(const InplaceStep& step) { return c2r_of(step).c > 1 ? 2 : 1; }

}  // namespace

int passes(const InplaceStep& step, const DeviceModel& model) {
  if (step.kernel == InplaceKernel::skinny) return SkinnyMatrix(step).is_whole() ? 1 : 2;
  if (!is_c2r_or_r2c(step.kernel)) return 1;
  return rows_of(step, model).passes() + column_passes(step) * columns_of(step, model).passes();
}

std::int64_t launches(const InplaceStep& step, const DeviceModel& model) {
  if (is_c2r_or_r2c(step.kernel)) {
    return rows_of(step, model).launches(model) +
           column_passes(step) * columns_of(step, model).launches(model);
  }
  if (step.kernel == InplaceKernel::cells) return 3;
  if (step.kernel == InplaceKernel::skinny) return skinny_launches(SkinnyMatrix(step));
  if (step.kernel != InplaceKernel::square_sg) return 1;
  const std::int64_t regions = ceil_div(tiles_of(step), step.width);
  return regions * (regions + 1) / 2;
}

std::int64_t min_workspace_bytes(const InplaceStep& step, const DeviceModel& model) {
  if (step.kernel == InplaceKernel::cells) return saved_bytes(step);
  if (step.kernel == InplaceKernel::skinny) return saved_bytes(SkinnyMatrix(step));
  if (!is_c2r_or_r2c(step.kernel)) return 0;
  return std::max(rows_of(step, model).bytes, columns_of(step, model).bytes);
}

std::int64_t workspace_bytes(const InplaceStep& step, const DeviceModel& model,
                             std::int64_t limit) {
  if (!is_c2r_or_r2c(step.kernel)) return min_workspace_bytes(step, model);
  std::int64_t max_bytes = 0;
  for (const Portions& each : {rows_of(step, model), columns_of(step, model)}) {
    if (each.bytes == 0) continue;
    const std::int64_t count = std::clamp<std::int64_t>(limit / each.bytes, 1, each.at_once(model));
    max_bytes = std::max(max_bytes, count * each.bytes);
  }
  return max_bytes;
}

}  // namespace ttlg::cuda
