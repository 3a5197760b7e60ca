#include "plan/cpu/inplace/step_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

#include "plan/cpu/block.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cpu/terms.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Seconds to read and write a line of memory by a plain copy.
double line_seconds(const Machine& machine) {
  constexpr double kUsual = 5e-9;
  const std::size_t term = term_number("copied_memory");
  const double seconds = term < kTerms ? machine.model.seconds[term] : 0;
  return seconds > 0 ? seconds : kUsual;
}

// Longer pieces of rows waste less of the lines at their ends; more of them leave L2.
constexpr std::array<std::int64_t, 4> kBandBytes{512, 256, 128, 64};
static_assert(kBandBytes.front() <= kMaxBandColumns);

// The order of a tile: rows of 4 lines, where the element is not too large for that.
std::int64_t tile_order(std::int64_t element_bytes) {
  std::int64_t order = std::clamp<std::int64_t>(4 * kLineBytes / element_bytes, 1, kMaxTileOrder);
  while (order > 1 && order * order * element_bytes > kMaxTileBytes) order /= 2;
  return order;
}

class Chooser {
 public:
  Chooser(const InplaceStep& matrices, const StepLimits& limits)
      : step_(matrices),
        limits_(limits),
        lines_(as_double(step_.bytes()) / as_double(kLineBytes)) {}

  std::optional<ChosenStep> run() {
    try_buffered();
    if (step_.rows == step_.columns && step_.element_bytes <= kMaxTileBytes) try_square();
    try_cells();
    for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) try_c2r(kernel);
    return best_;
  }

 private:
  void take(const InplaceStep& step, double copies) {
    if (workspace_bytes(step, limits_.threads) > limits_.workspace) return;
    const double seconds = copies * lines_ * line_seconds(limits_.machine) / limits_.threads;
    if (!best_ || seconds < best_->seconds) best_ = ChosenStep{step, seconds};
  }

  // A copy of short pieces takes longer.
  static double of_pieces(std::int64_t bytes) { return 1 + 64.0 / as_double(bytes); }

  void try_buffered() {
    InplaceStep step = step_;
    step.kernel = InplaceKernel::buffered;
    const std::int64_t shared = step.batch >= limits_.threads ? 1 : limits_.threads;
    const bool in_cache = 2 * step.matrix_bytes() <= limits_.machine.l2_cache_bytes * shared;
    take(step, in_cache ? 1.5 : 2.3);
  }

  void try_square() {
    InplaceStep step = step_;
    step.kernel = InplaceKernel::square;
    step.width = tile_order(step.element_bytes);
    take(step, of_pieces(std::min(step.rows, step.width) * step.element_bytes));
  }

  void try_cells() {
    InplaceStep step = step_;
    step.kernel = InplaceKernel::cells;
    take(step, 1.2 + 400 / as_double(step.element_bytes));
  }

  void try_c2r(InplaceKernel kernel) {
    InplaceStep step = step_;
    step.kernel = kernel;
    const C2r c2r = c2r_of(step);
    const std::int64_t l2 = limits_.machine.l2_cache_bytes;
    const std::int64_t size = step.element_bytes;
    // Every element is moved for itself once a pass, which takes longer the smaller it is, and in
    // rows cut into many short blocks.
    const double row = (3 * c2r.n * size <= l2 ? 1.2 : 4) + 4 / as_double(size) +
                       2 * as_double(c2r.c) / as_double(c2r.c + c2r.b);
    for (const std::int64_t bytes : kBandBytes) {
      step.width = std::clamp<std::int64_t>(bytes / size, 1, c2r.n);
      const std::int64_t piece = step.width * size;
      const double column = (c2r.m * piece <= l2 / 2 ? 1.6 : 2.4) * of_pieces(piece) +
                            4 / as_double(size) + (kernel == InplaceKernel::r2c ? 0.5 : 0);
      take(step, row + column * (rotates_apart(c2r) ? 2 : 1));
    }
  }

  const InplaceStep& step_;
  const StepLimits& limits_;
  double lines_;
  std::optional<ChosenStep> best_;
};

}  // namespace

std::optional<ChosenStep> choose_step(const InplaceStep& matrices, const StepLimits& limits) {
  return Chooser(matrices, limits).run();
}

}  // namespace ttlg::cpu
