#include "plan/cpu/inplace/step_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cpu/model/terms.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

// Seconds to read and write a line of memory by a plain copy.
double line_seconds(const Machine& machine) {
  constexpr double kUsual = 5e-9;
  const std::size_t term = term_number("copied_memory");
  const double seconds = term < kTerms ? machine.model.seconds[term] : 0;
  return seconds > 0 ? seconds : kUsual;
}

// What a step takes, in times that a copy of the matrices takes.
class Copies {
 public:
  Copies(const Machine& machine, int threads) : l2_(machine.l2_cache_bytes), threads_(threads) {}

  double of(const InplaceStep& step) const {
    switch (step.kernel) {
      case InplaceKernel::buffered:
        return of_buffered(step);
      case InplaceKernel::square:
        return of_short(std::min(step.rows, step.width) * step.element_bytes);
      case InplaceKernel::cells:
        return of_cells(step.element_bytes);
      case InplaceKernel::pieces:
        return of_pieces(LongMatrix(step));
      case InplaceKernel::c2r:
      case InplaceKernel::r2c:
        return of_c2r(step);
    }
    return 0;
  }

 private:
  // A copy of short pieces takes longer.
  static double of_short(std::int64_t bytes) { return 1 + 64 / as_double(bytes); }
  static double of_cells(std::int64_t bytes) { return 0.7 + 500 / as_double(bytes + 30); }

  double of_buffered(const InplaceStep& step) const {
    const std::int64_t caches = threads_each(step, threads_);
    return 2 * step.matrix_bytes() <= l2_ * caches ? 1.5 : 2.3;
  }

  double of_pieces(const LongMatrix& pieces) const {
    return of_buffered(pieces.inside) + of_cells(pieces.between.element_bytes);
  }

  double of_c2r(const InplaceStep& step) const {
    const C2r c2r = c2r_of(step);
    return of_rows(step, c2r) + of_columns(step, c2r) * (rotates_apart(c2r) ? 2 : 1);
  }

  // Elements of some widths are moved one by one, and others too where tiles of vectors are too
  // large for short blocks.
  static double of_elements(std::int64_t bytes) {
    return (is_width(bytes) ? 1 : 4) / as_double(bytes);
  }

  // A row passes through the caches; where blocks of several rows come together, C2R needs a buffer
  // more.
  double of_rows(const InplaceStep& step, const C2r& c2r) const {
    const bool fused = c2r.c > 1 && !rotates_apart(c2r);
    const double gathered = !fused ? 0 : step.kernel == InplaceKernel::c2r ? 0.5 : 0.1;
    return (3 * c2r.n * step.element_bytes <= l2_ ? 1.15 : 2.2) + gathered +
           of_elements(step.element_bytes);
  }

  // Pieces of rows share lines at both ends with the next band, unless rows are whole lines. These
  // stay in L2 until then if all of them fit, also into the few sets that rows may share; half of
  // it is for the workspace.
  double of_columns(const InplaceStep& step, const C2r& c2r) const {
    const auto l2 = as_double(l2_);
    const double piece = as_double(step.width * step.element_bytes);
    const std::int64_t apart = common_power(c2r.n * step.element_bytes, std::int64_t{1} << 20);
    const double kept =
        as_double(c2r.m) * std::max(piece + as_double(2 * kLineBytes), as_double(apart)) / (l2 / 2);
    const double lines = apart >= kLineBytes ? 1 : 1 + as_double(kLineBytes) / piece;
    const double waiting = std::sqrt(as_double(c2r.m) * piece / l2);
    const double stored = piece < as_double(kMinStreamedRunBytes) ? 2 : 0;  // not around the caches
    return (kept <= 1 ? 1.4 + kept : 2 * lines + 0.3 * waiting + stored) +
           of_elements(step.element_bytes);
  }

  std::int64_t l2_;
  int threads_;
};

// The steps that may transpose matrices, by kernel.
class Steps {
 public:
  Steps(const Matrices& matrices, const Machine& machine)
      : matrices_{.batch = matrices.batch,
                  .rows = matrices.rows,
                  .columns = matrices.columns,
                  .element_bytes = matrices.element_bytes},
        machine_(machine) {}

  std::vector<InplaceStep> of(InplaceKernel kernel) const {
    std::vector<InplaceStep> steps;
    for (const std::int64_t width : widths(kernel)) {
      steps.push_back(matrices_);
      steps.back().kernel = kernel;
      steps.back().width = width;
    }
    return steps;
  }

 private:
  std::vector<std::int64_t> widths(InplaceKernel kernel) const {
    switch (kernel) {
      case InplaceKernel::buffered:
      case InplaceKernel::cells:
        return {0};
      case InplaceKernel::square:
        return tile_orders();
      case InplaceKernel::pieces:
        return pieces();
      case InplaceKernel::c2r:
      case InplaceKernel::r2c:
        return bands(kernel);
    }
    return {};
  }

  // Tiles of long rows, as both ends of a row share lines with other tiles, that a thread's stack
  // has room for.
  std::vector<std::int64_t> tile_orders() const {
    constexpr std::int64_t kMinOrder = 8;
    const std::int64_t size = matrices_.element_bytes;
    if (matrices_.rows != matrices_.columns || size > kMaxTileBytes) return {};
    const auto max_order = static_cast<std::int64_t>(std::sqrt(kMaxTileBytes / size));
    const std::int64_t order = std::max(kTileRowBytes / size, kMinOrder);
    return {std::min({order, max_order, kMaxTileOrder})};
  }

  // The elements of a piece of the longer dimension: an even part of it, if there is one of about
  // the most that are useful. Larger pieces move at the speed of a copy, and shorter ones are not
  // worth a pass.
  std::vector<std::int64_t> pieces() const {
    constexpr std::int64_t kMaxBytes = 8 << 10;
    constexpr std::int64_t kMinBytes = 256;
    const std::int64_t extent = std::max(matrices_.rows, matrices_.columns);
    const std::int64_t other = std::min(matrices_.rows, matrices_.columns);
    const std::int64_t size = matrices_.element_bytes;
    const std::int64_t max_count = std::min(machine_.l2_cache_bytes / 4 / other, kMaxBytes) / size;
    if (max_count * size < kMinBytes || max_count < 2 || extent < 4 * max_count) return {};
    for (std::int64_t count = max_count; count > max_count / 4; --count) {
      if (extent % count == 0) return {count};
    }
    return {max_count};
  }

  // Longer pieces of rows waste less of the lines at their ends; more of them leave L2.
  std::vector<std::int64_t> bands(InplaceKernel kernel) const {
    constexpr std::array<std::int64_t, 4> kBytes{64, 128, 256, 512};
    static_assert(kBytes.back() <= kMaxBandColumns);
    InplaceStep step = matrices_;
    step.kernel = kernel;
    std::vector<std::int64_t> widths;
    for (const std::int64_t bytes : kBytes) {
      widths.push_back(std::clamp<std::int64_t>(bytes / step.element_bytes, 1, c2r_of(step).n));
    }
    return widths;
  }

  InplaceStep matrices_;
  const Machine& machine_;
};

}  // namespace

double step_seconds(const InplaceStep& step, const Machine& machine, int threads) {
  const double lines = as_double(step.bytes()) / as_double(kLineBytes);
  return Copies(machine, threads).of(step) * lines * line_seconds(machine) / threads;
}

std::vector<Decomposition<InplaceStep>> StepLimits::step_choices(const Matrices& matrices) const {
  const Steps steps(matrices, machine);
  std::vector<Decomposition<InplaceStep>> choices;
  for (const InplaceKernel kernel : kInplaceKernels) {
    if (forced.value_or(kernel) != kernel) continue;
    std::vector<Decomposition<InplaceStep>> widths;
    for (const InplaceStep& step : steps.of(kernel)) {
      if (workspace_bytes(step, threads) > workspace) continue;
      widths.push_back({{step}, step_seconds(step, machine, threads)});
    }
    if (auto best = fastest(std::move(widths))) choices.push_back(std::move(*best));
  }
  return choices;
}

namespace {

// Shorter rows take longer than a pass for C2R's rotation.
bool is_worth_squares(const Matrices& matrices) {
  constexpr std::int64_t kMinRow = 512;
  const C2r c2r(matrices.rows, matrices.columns);
  return matrices.rows != matrices.columns && rotates_apart(c2r) &&
         c2r.c * matrices.element_bytes >= kMinRow;
}

}  // namespace

std::vector<Decomposition<InplaceStep>> StepLimits::matrix_choices(const Matrices& matrices) const {
  std::vector<Decomposition<InplaceStep>> choices = step_choices(matrices);
  if (!forced && is_worth_squares(matrices)) {
    if (auto squares = fastest_of_each<InplaceStep>(by_squares(matrices), *this)) {
      choices.push_back(std::move(*squares));
    }
  }
  return choices;
}

}  // namespace ttlg::cpu
