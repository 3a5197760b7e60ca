#include "plan/cuda/inplace/step_choice.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/skinny.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// The sectors of elements that lie apart, on average over where they begin in one, for each that
// their bytes would fill.
double sectors_apart(std::int64_t element_bytes) {
  const std::int64_t apart = common_power(element_bytes, kSectorBytes);
  return as_double(element_bytes + kSectorBytes - apart) / as_double(element_bytes);
}

// What thread blocks that move `bytes` each take, in times of those that have enough to do:
// they do not take less time than for some kilobytes.
double small_blocks(std::int64_t bytes) {
  constexpr double kEnough = 8 << 10;
  return std::max(kEnough / as_double(bytes), 1.0);
}

// What a step moves, in times that it would if its passes moved whole sectors only.
double moved(const InplaceStep& step) {
  switch (step.kernel) {
    case InplaceKernel::square_tw:
    case InplaceKernel::runs:
      // Elements are neighbours on one side, and lie apart on the other.
      return (1 + sectors_apart(step.element_bytes)) / 2;
    case InplaceKernel::cells:
      return sectors_apart(step.element_bytes) * (1 + 2 / as_double(step.width));
    case InplaceKernel::skinny: {
      const SkinnyMatrix matrix(step);
      const double traffic = skinny_traffic(matrix) + small_blocks(matrix.piece_bytes()) - 1;
      return matrix.is_whole() ? traffic : traffic / 2;
    }
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return small_blocks(step.matrix_bytes());
    case InplaceKernel::square_v1b:
    case InplaceKernel::square_v1:
    case InplaceKernel::square_v1r:
    case InplaceKernel::square_v2:
    case InplaceKernel::square_ip:
    case InplaceKernel::square_sg: {
      const std::int64_t tiles = tiles_of(step);
      const std::int64_t blocks = step.between * tiles * (tiles + 1) / 2;
      return small_blocks(step.matrix_bytes() / blocks);
    }
  }
  return 1;
}

// The usual number of cells for each that is saved, or more where these must fit into the
// workspace.
std::int64_t cell_spacing(const InplaceStep& step, std::int64_t workspace) {
  const std::int64_t cells = step.rows * step.columns;
  std::int64_t spacing = CellsPolicy::kSpacing;
  while (spacing < cells &&
         step.batch * ceil_div(cells, spacing) > workspace / step.element_bytes) {
    spacing *= 2;
  }
  return spacing;
}

std::int64_t width_for(const InplaceStep& step, const StepLimits& limits) {
  switch (step.kernel) {
    case InplaceKernel::square_v1b:
      return band_width(tiles_of(step));
    case InplaceKernel::square_sg:
      return region_order(tiles_of(step));
    case InplaceKernel::cells:
      return cell_spacing(step, limits.workspace);
    case InplaceKernel::skinny:
      return skinny_length(step, limits.model);
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
  return 0;
}

InplaceStep step_by(InplaceKernel kernel, const Matrices& matrices, const StepLimits& limits) {
  InplaceStep step{.kernel = kernel,
                   .batch = matrices.batch,
                   .rows = matrices.rows,
                   .between = matrices.between,
                   .columns = matrices.columns,
                   .element_bytes = matrices.element_bytes};
  step.width = width_for(step, limits);
  return step;
}

// All of them, those first that are preferred. C2R has the shorter rows where there are more rows
// than columns, and R2C where there are not (Catanzaro et al., section 5.2).
std::array<InplaceKernel, kInplaceKernels.size()> kernels_for(const Matrices& matrices) {
  std::array<InplaceKernel, kInplaceKernels.size()> kernels{};
  std::ranges::copy(kInplaceKernels, kernels.begin());
  static_assert(static_cast<int>(InplaceKernel::r2c) == kInplaceKernels.size() - 1);
  if (matrices.rows <= matrices.columns) std::swap(kernels.end()[-2], kernels.end()[-1]);
  return kernels;
}

}  // namespace

double step_seconds(const InplaceStep& step, const DeviceModel& model) {
  const double bytes = 2 * passes(step, model) * as_double(step.bytes()) * moved(step);
  return as_double(launches(step, model)) * model.launch_seconds +
         bytes / model.memory_bytes_per_second;
}

std::vector<Decomposition<InplaceStep>> StepLimits::step_choices(const Matrices& matrices) const {
  std::vector<Decomposition<InplaceStep>> choices;
  for (const InplaceKernel kernel : kernels_for(matrices)) {
    if (forced.value_or(kernel) != kernel) continue;
    const InplaceStep step = step_by(kernel, matrices, *this);
    if (!applies(step) || min_workspace_bytes(step, model) > workspace) continue;
    if (is_c2r_or_r2c(kernel) && step.element_bytes > max_element_bytes()) continue;
    choices.push_back({{step}, step_seconds(step, model)});
  }
  return choices;
}

namespace {

// The length of pieces that move as cells of several lines, if there are some that divide the
// longer dimension, and 0 otherwise. Those that are whole lines come first.
std::int64_t piece_length(const Matrices& matrices) {
  constexpr std::int64_t kMinBytes = 256;
  constexpr std::int64_t kMaxBytes = 4096;
  constexpr std::int64_t kLineBytes = 128;
  const std::int64_t longer = std::max(matrices.rows, matrices.columns);
  const std::int64_t size = matrices.element_bytes;
  for (const std::int64_t unit : {kLineBytes, std::int64_t{1}}) {
    const std::int64_t max_length = std::min(kMaxBytes / size, longer / 4);
    for (std::int64_t length = max_length; length > 1 && length * size >= kMinBytes; --length) {
      if (longer % length == 0 && length * size % unit == 0) return length;
    }
  }
  return 0;
}

}  // namespace

std::vector<Decomposition<InplaceStep>> StepLimits::matrix_choices(const Matrices& matrices) const {
  std::vector<Decomposition<InplaceStep>> choices = step_choices(matrices);
  const auto offer = [&](const std::vector<Matrices>& sequence) {
    auto found = fastest_of_each<InplaceStep>(sequence, *this);
    const auto best = fastest(choices);
    if (found && (!best || found->seconds < best->seconds)) choices.push_back(std::move(*found));
  };
  offer(by_squares(matrices));
  for (const std::int64_t part : part_bytes(matrices.element_bytes)) {
    offer(by_parts(matrices, part));
  }
  const bool is_cut = std::ranges::any_of(
      choices, [](const auto& each) { return each.steps.front().kernel == InplaceKernel::skinny; });
  if (const std::int64_t length = is_cut ? 0 : piece_length(matrices); length > 0) {
    offer(by_pieces(matrices, length));
  }
  return choices;
}

std::int64_t StepLimits::max_element_bytes() const { return C2rPolicy::kMaxWords * word_bytes; }

// About a line, what c2r and r2c can move, and something between: the largest that divide the
// element.
std::vector<std::int64_t> StepLimits::part_bytes(std::int64_t element_bytes) const {
  std::vector<std::int64_t> parts;
  for (const std::int64_t limit : {std::int64_t{128}, std::int64_t{1024}, max_element_bytes()}) {
    if (element_bytes <= limit) break;
    std::int64_t part = std::max(limit / word_bytes, std::int64_t{1}) * word_bytes;
    while (element_bytes % part != 0) part -= word_bytes;
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

}  // namespace ttlg::cuda
