#include "plan/cuda/inplace/step_choice.hpp"

#include <array>
#include <utility>

#include "plan/cuda/inplace/step_limits.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

constexpr std::int64_t kSectorBytes = 32;

// The sectors of elements that lie apart, on average over where they begin in one, for each that
// their bytes would fill.
double sectors_apart(std::int64_t element_bytes) {
  const std::int64_t apart = common_power(element_bytes, kSectorBytes);
  return as_double(element_bytes + kSectorBytes - apart) / as_double(element_bytes);
}

// What a step moves, in times that it would if its passes moved whole sectors only.
double moved(const InplaceStep& step, const DeviceModel& model) {
  switch (step.kernel) {
    case InplaceKernel::square_tw:
    case InplaceKernel::runs:
      // Elements are neighbours on one side, and lie apart on the other.
      return (1 + sectors_apart(step.element_bytes)) / 2;
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      // What goes through the workspace is written and read once more.
      return is_row_on_chip(step, model) ? 1 : as_double(passes(step) + 1) / passes(step);
    default:
      return 1;
  }
}

std::int64_t width_for(InplaceKernel kernel, std::int64_t tiles) {
  switch (kernel) {
    case InplaceKernel::square_v1b:
      return band_width(tiles);
    case InplaceKernel::square_sg:
      return region_order(tiles);
    default:
      return 0;
  }
}

InplaceStep step_by(InplaceKernel kernel, const Matrices& matrices) {
  InplaceStep step{.kernel = kernel,
                   .batch = matrices.batch,
                   .rows = matrices.rows,
                   .between = matrices.between,
                   .columns = matrices.columns,
                   .element_bytes = matrices.element_bytes};
  step.width = width_for(kernel, tiles_of(step));
  return step;
}

// All of them, those first that are preferred. C2R has the shorter rows where there are more rows
// than columns, and R2C where there are not (Catanzaro et al., section 5.2).
std::array<InplaceKernel, kInplaceKernels> kernels_for(const Matrices& matrices) {
  std::array<InplaceKernel, kInplaceKernels> kernels{};
  for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i] = static_cast<InplaceKernel>(i);
  static_assert(static_cast<int>(InplaceKernel::r2c) == kInplaceKernels - 1);
  if (matrices.rows <= matrices.columns) std::swap(kernels.end()[-2], kernels.end()[-1]);
  return kernels;
}

}  // namespace

double step_seconds(const InplaceStep& step, const DeviceModel& model) {
  const double bytes = 2 * passes(step) * as_double(step.bytes()) * moved(step, model);
  return as_double(launches(step)) * model.launch_seconds + bytes / model.memory_bytes_per_second;
}

std::vector<Decomposition<InplaceStep>> StepLimits::step_choices(const Matrices& matrices) const {
  std::vector<Decomposition<InplaceStep>> choices;
  for (const InplaceKernel kernel : kernels_for(matrices)) {
    if (forced.value_or(kernel) != kernel) continue;
    const InplaceStep step = step_by(kernel, matrices);
    if (!is_valid(step) || least_workspace_bytes(step, model) > workspace) continue;
    const bool permutes = kernel == InplaceKernel::c2r || kernel == InplaceKernel::r2c;
    if (permutes && !(is_row_on_chip(step, model) && are_columns_on_chip(step, model))) continue;
    choices.push_back({{step}, step_seconds(step, model)});
  }
  return choices;
}

std::vector<Decomposition<InplaceStep>> StepLimits::matrix_choices(const Matrices& matrices) const {
  std::vector<Decomposition<InplaceStep>> choices = step_choices(matrices);
  auto squares = fastest_of_each<InplaceStep>(by_squares(matrices), *this);
  const auto direct = fastest(choices);
  if (squares && (!direct || squares->seconds < direct->seconds)) {
    choices.push_back(std::move(*squares));
  }
  return choices;
}

}  // namespace ttlg::cuda
