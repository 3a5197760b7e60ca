#include "plan/cuda/inplace/step.hpp"

#include <algorithm>
#include <bit>

#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/step_limits.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/names.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

constexpr NameTable<InplaceKernel, kInplaceKernels> kNames{{"square_v1b", "square_v1", "square_v1r",
                                                            "square_v2", "square_ip", "square_sg",
                                                            "square_tw", "runs", "c2r", "r2c"}};

bool is_c2r_or_r2c(InplaceKernel kernel) {
  return kernel == InplaceKernel::c2r || kernel == InplaceKernel::r2c;
}

// Whether elements move as words of the device.
bool is_word(std::int64_t bytes) {
  return bytes <= kMaxAccessBytes && std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

bool is_width_valid(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square_v1b:
      return 1 <= step.width && step.width <= std::max<std::int64_t>(tiles_of(step) - 1, 1);
    case InplaceKernel::square_sg:
      return 1 <= step.width && step.width <= tiles_of(step);
    default:
      return step.width == 0;
  }
}

std::int64_t row_bytes(const InplaceStep& step) { return c2r_of(step).n * step.element_bytes; }

}  // namespace

std::string_view kernel_name(InplaceKernel kernel) { return kNames.name(kernel); }

std::optional<InplaceKernel> inplace_kernel_from_name(std::string_view name) {
  return kNames.parse(name);
}

std::string inplace_kernel_names() { return kNames.list(); }

std::int64_t tiles_of(const InplaceStep& step) {
  return ceil_div(step.columns, SquarePolicy(step.element_bytes).tile_order);
}

bool is_valid(const InplaceStep& step) {
  if (is_c2r_or_r2c(step.kernel)) return step.between == 1 && step.width == 0;
  const bool is_run = step.kernel == InplaceKernel::runs;
  return step.rows == step.columns && (is_run || is_word(step.element_bytes)) &&
         is_width_valid(step);
}

int passes(const InplaceStep& step) {
  if (!is_c2r_or_r2c(step.kernel)) return 1;
  return c2r_of(step).c > 1 ? 3 : 2;
}

std::int64_t launches(const InplaceStep& step) {
  if (step.kernel != InplaceKernel::square_sg) return passes(step);
  const std::int64_t regions = ceil_div(tiles_of(step), step.width);
  return regions * (regions + 1) / 2;
}

std::int64_t on_chip_bytes(const DeviceModel& model) {
  return model.shared_bytes_per_multiprocessor - kReservedSharedBytes;
}

bool are_columns_on_chip(const InplaceStep& step, const DeviceModel& model) {
  const C2r c2r = c2r_of(step);
  return ColumnShufflePolicy::least_shared_bytes(c2r.m, c2r.n, step.element_bytes) <=
         on_chip_bytes(model);
}

bool is_row_on_chip(const InplaceStep& step, const DeviceModel& model) {
  return RowShufflePolicy::shared_bytes(row_bytes(step)) <= on_chip_bytes(model);
}

std::int64_t least_workspace_bytes(const InplaceStep& step, const DeviceModel& model) {
  return is_c2r_or_r2c(step.kernel) && !is_row_on_chip(step, model) ? row_bytes(step) : 0;
}

std::int64_t workspace_bytes(const InplaceStep& step, const DeviceModel& model,
                             std::int64_t limit) {
  const std::int64_t row = least_workspace_bytes(step, model);
  if (row == 0) return 0;
  const std::int64_t rows = std::min<std::int64_t>(step.bytes() / row, model.multiprocessors);
  return std::clamp<std::int64_t>(limit / row, 1, rows) * row;
}

}  // namespace ttlg::cuda
