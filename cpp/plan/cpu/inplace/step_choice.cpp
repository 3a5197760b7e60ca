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

// Pieces that move as one element: larger ones move at the speed of a copy, and shorter ones are
// not worth a pass.
constexpr std::int64_t kMostPieceBytes = 8 << 10;
constexpr std::int64_t kLeastPieceBytes = 256;

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
    const InplaceStep buffered = with(InplaceKernel::buffered);
    take(buffered, copies_of_buffered(buffered));
    take(with(InplaceKernel::cells), copies_of_cells(step_.element_bytes));
    if (step_.rows == step_.columns && step_.element_bytes <= kMaxTileBytes) try_square();
    try_pieces();
    for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) try_c2r(kernel);
    return best_;
  }

 private:
  InplaceStep with(InplaceKernel kernel) const {
    InplaceStep step = step_;
    step.kernel = kernel;
    return step;
  }

  // `copies`: how many times as long as copying the matrices it takes.
  void take(const InplaceStep& step, double copies) {
    if (workspace_bytes(step, limits_.threads) > limits_.workspace) return;
    const double seconds = copies * lines_ * line_seconds(limits_.machine) / limits_.threads;
    if (!best_ || seconds < best_->seconds) best_ = ChosenStep{step, seconds};
  }

  double copies_of_buffered(const InplaceStep& step) const {
    const std::int64_t caches = threads_each(step, limits_.threads);
    const bool in_cache = 2 * step.matrix_bytes() <= limits_.machine.l2_cache_bytes * caches;
    return in_cache ? 1.5 : 2.3;
  }

  // A copy of short pieces takes longer.
  static double copies_of_cells(std::int64_t bytes) { return 1.2 + 400 / as_double(bytes); }
  static double copies_of_pieces(std::int64_t bytes) { return 1 + 64 / as_double(bytes); }

  void try_square() {
    InplaceStep step = with(InplaceKernel::square);
    step.width = tile_order(step.element_bytes);
    take(step, copies_of_pieces(std::min(step.rows, step.width) * step.element_bytes));
  }

  // The elements of a piece of the longer dimension: an even part of it, if there is one of about
  // the most that are useful.
  static std::int64_t piece(std::int64_t extent, std::int64_t most) {
    for (std::int64_t count = most; count > most / 4; --count) {
      if (extent % count == 0) return count;
    }
    return most;
  }

  void try_pieces() {
    const std::int64_t extent = std::max(step_.rows, step_.columns);
    const std::int64_t other = std::min(step_.rows, step_.columns);
    const std::int64_t most =
        std::min(limits_.machine.l2_cache_bytes / 4 / other, kMostPieceBytes) / step_.element_bytes;
    if (most * step_.element_bytes < kLeastPieceBytes || most < 2 || extent < 4 * most) return;
    InplaceStep step = with(InplaceKernel::pieces);
    step.width = piece(extent, most);
    const LongMatrix pieces(step);
    // One thread moves the fields apart or together.
    const double moving = pieces.rest > 0 ? 1.2 * limits_.threads : 0;
    take(step, copies_of_buffered(pieces.inside) + copies_of_cells(pieces.between.element_bytes) +
                   moving);
  }

  void try_c2r(InplaceKernel kernel) {
    InplaceStep step = with(kernel);
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
      const double column = (c2r.m * piece <= l2 / 2 ? 1.6 : 2.4) * copies_of_pieces(piece) +
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
