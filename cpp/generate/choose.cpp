#include "generate/choose.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

#include "generate/lowering.hpp"
#include "plan/shuffle/gathering.hpp"
#include "plan/shuffle/passes.hpp"
#include "plan/shuffle/permute_tile.hpp"

namespace ttlg::generate {
namespace {

using shuffle::LaneBits;
using shuffle::Program;
using shuffle::Tile;

constexpr int kMaxOperations = 768;

int log2_of(std::int64_t value) { return std::countr_zero(static_cast<std::uint64_t>(value)); }

// The modes that the tile leaves over, the output's slowest outermost; the last one is unrolled.
std::vector<int> loop_order(const Tile& tile) {
  std::vector<int> order;
  for (const int m : tile.out_order) {
    const shuffle::TileMode& mode = tile.modes[shuffle::at(m)];
    if (mode.tile < mode.extent) order.insert(order.begin(), m);
  }
  return order;
}

// How many tiles the innermost loop takes at once: what registers hold, and what divides it.
int choose_unrolling(const Tile& tile, const std::vector<int>& order, const Program& program,
                     const Isa& isa, const Options& options) {
  if (order.empty()) return 1;
  const shuffle::TileMode& mode = tile.modes[shuffle::at(order.back())];
  const int live = std::max(shuffle::live_registers(program), 1);
  const int wanted = options.unroll > 0 ? options.unroll : std::max(isa.data_registers / live, 1);
  int tiles = 1;
  while (2 * tiles <= wanted && mode.extent % (2 * tiles * mode.tile) == 0) tiles *= 2;
  return tiles;
}

class Chooser {
 public:
  Chooser(const Tile& tensor, const Isa& isa, const Options& options)
      : tensor_(tensor), isa_(isa), options_(options) {}

  Choice choose() && {
    if (tensor_.is_empty()) return {.tile = tensor_, .program = {}, .loops = {}};
    for (const int bytes : isa_.vector_bytes) {
      if (options_.vector_bytes != 0 && options_.vector_bytes != bytes) continue;
      if (bytes < tensor_.element_bytes) continue;
      try_butterflies(bytes);
      if (options_.whole) continue;
      const auto lanes = static_cast<int>(bytes / tensor_.element_bytes);
      if (const auto tile = shuffle::make_run_tile(tensor_, lanes)) try_gathering(*tile, bytes);
    }
    if (!best_) try_scalars();
    return *std::move(best_);
  }

 private:
  void try_butterflies(int bytes) {
    const int all = log2_of(bytes / tensor_.element_bytes);
    // Pieces are halves of small registers, or registers of the smallest width.
    const std::int64_t least = std::max<std::int64_t>(bytes == 16 ? 8 : 16, tensor_.element_bytes);
    const int fewest = options_.whole ? all : log2_of(least / tensor_.element_bytes);
    for (int rows = all; rows >= (isa_.loads_pieces ? fewest : all); --rows) {
      for (int columns = all; columns >= fewest; --columns) {
        try_butterfly({.all = all, .rows = rows, .columns = columns}, bytes);
      }
    }
  }

  void try_butterfly(const LaneBits& bits, int bytes) {
    const auto tile = shuffle::make_tile(tensor_, bits.rows, bits.columns);
    if (!tile) return;
    const auto all = static_cast<int>(tile->bits.size());
    if (all < bits.all || all - bits.all > log2_of(isa_.data_registers)) return;
    if (span(*tile) < bytes + slack(*tile)) return;
    const auto group =
        static_cast<int>(std::max<std::int64_t>(isa_.group_bytes / tensor_.element_bytes, 1));
    const shuffle::Butterfly butterfly =
        shuffle::make_butterfly(*tile, bits.all, bits.rows, bits.columns, log2_of(group));
    const Program program =
        shuffle::join_self_shuffles(shuffle::permute_by_butterfly(*tile, butterfly, bits));
    try_program(*tile, program, bytes);
    if (isa_.takes_any_index) try_program(*tile, shuffle::join_shuffles(program), bytes);
  }

  void try_gathering(const Tile& tile, int bytes) {
    const std::int64_t lanes = bytes / tensor_.element_bytes;
    if (tile.elements() > lanes * 2 * isa_.registers) return;
    try_program(tile, shuffle::permute_by_gathering(tile, static_cast<int>(lanes)), bytes);
  }

  void try_scalars() {
    const auto tile = shuffle::make_tile(tensor_, 0, 0);
    try_program(*tile,
                shuffle::permute_by_butterfly(*tile, {}, {.all = 0, .rows = 0, .columns = 0}),
                static_cast<int>(tensor_.element_bytes));
  }

  // Bytes from the first to the last of a tile in the input.
  static std::int64_t span(const Tile& tile) {
    std::int64_t result = tile.element_bytes;
    for (const shuffle::TileMode& mode : tile.modes) result += (mode.tile - 1) * mode.in_step;
    return result;
  }

  // How far before the tile's end a load may have to end: where the elements of some rows lie at no
  // whole number of elements from others, their loads cannot end with the tile.
  static std::int64_t slack(const Tile& tile) {
    const bool is_aligned = std::ranges::all_of(tile.modes, [&](const shuffle::TileMode& mode) {
      return mode.tile == 1 || mode.in_step % tile.element_bytes == 0;
    });
    return is_aligned ? 0 : tile.element_bytes - 1;
  }

  void try_program(const Tile& tile, Program program, int bytes) {
    const std::vector<int> order = loop_order(tile);
    const int tiles = choose_unrolling(tile, order, program, isa_, options_);
    if (tiles > 1) {
      const shuffle::TileMode& mode = tile.modes[shuffle::at(order.back())];
      program =
          shuffle::unroll(program, tiles, mode.tile * mode.in_step, mode.tile * mode.out_step);
    }
    program = shuffle::store_over(std::move(program));
    if (!isa_.has_masks) {
      program = shuffle::join_self_shuffles(shuffle::split_stores(std::move(program)));
    }
    if (options_.reorder) {
      Program first = shuffle::loads_first(program);
      const bool fits = shuffle::live_registers(first) < isa_.registers;
      program = fits ? std::move(first) : shuffle::loads_last(std::move(program));
    }
    program = shuffle::rename_registers(std::move(program));
    if (program.operations.size() > kMaxOperations) return;
    if (shuffle::live_registers(program) >= isa_.registers) return;
    rate(tile, std::move(program), order, tiles, bytes);
  }

  void rate(const Tile& tile, Program program, const std::vector<int>& order, int tiles,
            int bytes) {
    const auto lowering = make_lowering(isa_, bytes);
    int instructions = 0;
    double cost = 0;
    for (const shuffle::Operation& each : program.operations) {
      const int count = lowering->lower(program, each).instructions;
      instructions += count;
      // A processor does two loads in a cycle. What puts pieces together counts as shuffles.
      cost += each.kind == shuffle::Kind::load ? count - 0.5 : count;
    }
    const int needed =
        shuffle::live_registers(program) + static_cast<int>(lowering->constants().size());
    const bool fits = isa_.loads_operands || needed <= isa_.registers;
    cost /= static_cast<double>(tile.elements() * tiles) * tile.useful();
    if (best_ && std::pair(!best_->fits, best_->cost) <= std::pair(!fits, cost)) return;
    Choice choice{.tile = tile,
                  .program = std::move(program),
                  .loops = {},
                  .vector_bytes = bytes,
                  .tiles = tiles,
                  .instructions = instructions,
                  .cost = cost,
                  .fits = fits};
    for (const int m : order) {
      const shuffle::TileMode& mode = tile.modes[shuffle::at(m)];
      choice.loops.push_back({.extent = mode.extent,
                              .step = mode.tile * (m == order.back() ? tiles : 1),
                              .in_step = mode.in_step,
                              .out_step = mode.out_step});
    }
    best_ = std::move(choice);
  }

  const Tile& tensor_;
  const Isa& isa_;
  const Options& options_;
  std::optional<Choice> best_;
};

}  // namespace

Tile make_tensor(const Problem& problem) {
  const Problem folded = fold_run(problem);
  Tile tensor;
  if (folded.element_bytes() == 0) {
    tensor.modes.push_back({.extent = 0, .in_step = 1, .out_step = 1});
    return tensor;
  }
  tensor.element_bytes =
      std::min<std::int64_t>(folded.element_bytes() & -folded.element_bytes(), 16);
  const std::int64_t words = folded.element_bytes() / tensor.element_bytes;
  int first = 0;
  if (words > 1) {
    tensor.modes.push_back(
        {.extent = words, .in_step = tensor.element_bytes, .out_step = tensor.element_bytes});
    tensor.in_order.push_back(0);
    tensor.out_order.push_back(0);
    first = 1;
  }
  for (const Mode& mode : folded.modes) {
    tensor.modes.push_back(
        {.extent = mode.extent, .in_step = mode.in_byte_stride, .out_step = mode.out_byte_stride});
    tensor.in_order.push_back(static_cast<int>(tensor.modes.size()) - 1);
  }
  for (const int m : folded.perm) tensor.out_order.push_back(m + first);
  return tensor;
}

Choice choose(const Tile& tensor, const Isa& isa, const Options& options) {
  return Chooser(tensor, isa, options).choose();
}

}  // namespace ttlg::generate
