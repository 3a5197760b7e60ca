#include "plan/cpu/model/count_work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "plan/cpu/block/axis_split.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cpu/mover.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

// Tiles of all blocks.
double tiles_of(const Problem& folded, std::span<const std::int64_t> extents,
                std::span<const std::int64_t> tile) {
  double tiles = 1;
  for (std::size_t m = 0; m < tile.size(); ++m) {
    const std::int64_t block = extents[m];
    const std::int64_t extent = folded.modes[m].extent;
    tiles *=
        as_double(extent / block * ceil_div(block, tile[m]) + ceil_div(extent % block, tile[m]));
  }
  return tiles;
}

std::int64_t elements_of(std::span<const std::int64_t> tile) {
  return std::accumulate(tile.begin(), tile.end(), std::int64_t{1}, std::multiplies<>());
}

void count_shuffle(Terms& terms, const Problem& folded, const Parameters& parameters,
                   const Machine& machine, double part) {
  const auto [mover, tile, moves] = choose_mover(folded, parameters.block, machine.vector_bytes);
  const double tiles = tiles_of(folded, parameters.block, tile);
  const std::int64_t elements = elements_of(tile);
  if (mover == Mover::window) {
    terms.generated_moves = tiles * moves * part;  // a load and a store at once
    return;
  }
  if (mover != Mover::program) {
    terms.generated_moves = moves * (tiles * as_double(elements)) *
                            as_double(folded.element_bytes()) / machine.vector_bytes * part;
    return;
  }
  const std::int64_t loads = tile_loads(folded, tile);
  const std::int64_t stores = tile_stores(folded, tile);
  const double groups = tiles * as_double(kLaneBytes) / machine.vector_bytes * part;
  terms.shuffle_moves = groups * as_double(loads + stores);
  if (std::has_single_bit(static_cast<std::uint64_t>(elements)) && reads_runs(folded)) {
    terms.shuffle_steps = groups * as_double(loads) * std::log2(as_double(loads));
  } else {
    terms.shuffle_steps =
        groups * as_double(stores * std::min(loads, 2 * kLaneBytes / folded.element_bytes()));
  }
}

// An axis: its elements in a full block, and how the blocks along it are cut.
struct Span {
  std::int64_t elements = 1;
  std::int64_t inner = 1;   // elements of the modes before the cut one
  std::int64_t extent = 1;  // of the last mode, and of a block along it
  std::int64_t block = 1;
  std::int64_t blocks = 1;

  // Tiles of `step` elements that cover the axis, block by block.
  std::int64_t tiles(std::int64_t step) const {
    if (block == extent) return ceil_div(inner * block, step);
    const std::int64_t rest = extent % block;
    return extent / block * ceil_div(inner * block, step) + ceil_div(inner * rest, step);
  }
};

Span span_of(const ModeNumbers& axis, std::span<const BlockMode> modes) {
  Span span;
  for (const std::uint8_t m : axis.list()) {
    span.inner = span.elements;
    span.elements *= modes[m].block;
    span.extent = modes[m].extent;
    span.block = modes[m].block;
    if (span.block < span.extent) span.blocks *= ceil_div(span.extent, span.block);
  }
  return span;
}

void count_tiles(Terms& terms, const TileShape& shape, std::int64_t element_bytes, double tiles) {
  const double elements = tiles * as_double(shape.in * shape.out);
  const double lines = elements * as_double(element_bytes) / as_double(kLineBytes);
  terms.tile_elements = elements;
  if (shape.kind == TileKind::wide) {
    terms.wide_tiles = lines;
  } else if (shape.kind == TileKind::narrow) {
    terms.narrow_tiles = lines;
  } else {
    terms.lane_tiles = lines;
    if (element_bytes == kLaneBytes) terms.whole_lane_tiles = lines;
  }
}

// Whether a block's runs are those of the input backwards, or its elements again and again.
bool repeats_or_reverses(const AxisModes& axes, std::span<const BlockMode> modes,
                         std::int64_t element_bytes) {
  if (!is_width(element_bytes) || element_bytes >= kLaneBytes || axes.out.list().size() != 1) {
    return false;
  }
  const BlockMode& mode = modes[axes.out.list().front()];
  return mode.out_step == element_bytes && (mode.in_step == 0 || mode.in_step == -element_bytes);
}

// Whether a block's runs are long enough for the strided copy to move them in vectors.
bool moves_runs_in_vectors(const AxisModes& axes, std::span<const BlockMode> modes,
                           std::int64_t element_bytes) {
  if (!is_width(element_bytes) || axes.out.list().size() != 1) return false;
  const BlockMode& mode = modes[axes.out.list().front()];
  const std::int64_t lines = span_of(axes.in, modes).elements;
  return mode.block >= std::min(lines, kLineBytes / element_bytes) &&
         moves_vectors(element_bytes, mode.in_step, mode.out_step);
}

// The tile that transposes what the strided copy has packed; none where it packs nothing.
TileShape packed_tile(const AxisModes& axes, std::span<const BlockMode> modes,
                      std::int64_t element_bytes, int vector_bytes) {
  if (!is_width(element_bytes)) return {};
  if (axes.in.list().size() != 1 || axes.out.list().size() != 1) return {};
  const BlockMode& in = modes[axes.in.list().front()];
  const BlockMode& out = modes[axes.out.list().front()];
  if (out.out_step != element_bytes ||
      !packs_rows(element_bytes, in.in_step, in.block, out.block)) {
    return {};
  }
  return tile_shape(vector_bytes, element_bytes,
                    std::min(in.block * element_bytes, kPackedRowBytes),
                    std::min(out.block, kPackedRows) * element_bytes,
                    {.in = kPackedRowBytes, .out = in.out_step});
}

void count_elements(Terms& terms, const Problem& folded, const Parameters& parameters,
                    const Machine& machine, double part, const AxisModes& axes,
                    std::span<const BlockMode> modes) {
  // To load what makes a vector, and to put it in order.
  constexpr double kMovesOfVector = 2;
  // Of elements at equal steps in the order of the input, of which none lacks its address.
  constexpr double kMovesInOrder = 0.6;
  const std::int64_t element_bytes = folded.element_bytes();
  const double elements = as_double(folded.elements()) * part;
  const bool streams = owns_lines(folded, parameters, machine);
  if (streams && (repeats_or_reverses(axes, modes, element_bytes) ||
                  gathers_lines(machine.vector_bytes, element_bytes))) {
    terms.gathered_lines = elements * as_double(element_bytes) / as_double(kLineBytes);
    return;
  }
  if (streams) terms.streamed_elements = elements;
  double moves = std::ceil(as_double(element_bytes) / machine.vector_bytes);
  const TileShape tile = packed_tile(axes, modes, element_bytes, machine.vector_bytes);
  if (tile.kind != TileKind::none) {
    moves *= kMovesInOrder;
    count_tiles(terms, tile, element_bytes, elements / as_double(tile.in * tile.out));
  } else if (moves_runs_in_vectors(axes, modes, element_bytes)) {
    moves = std::min(1.0, kMovesOfVector * as_double(element_bytes) / machine.vector_bytes);
  } else if (folded.keeps_fastest_mode() && is_width(element_bytes)) {
    moves *= kMovesInOrder;
  }
  // Those of no width, where a program may take their place.
  if (!is_width(element_bytes) && !reads_runs(folded)) moves *= 2;
  terms.vectors = elements * moves;
}

// Rows of a staging buffer are padded, and those that are streamed directly wait in registers.
RowSteps row_steps(const AxisModes& axes, std::span<const BlockMode> modes,
                   const Parameters& parameters) {
  RowSteps steps;
  if (parameters.staged || parameters.streaming) return steps;
  if (axes.out.list().size() == 1) steps.in = modes[axes.out.list().front()].in_step;
  if (axes.in.list().size() == 1) steps.out = modes[axes.in.list().front()].out_step;
  return steps;
}

// The tile of structures that are packed on one side; none where a block has no such.
TileShape packed_shape(const Problem& folded, const Parameters& parameters, const Machine& machine,
                       const AxisModes& axes, std::span<const BlockMode> modes) {
  if (!parameters.streams_directly()) return {};
  if (axes.in.list().size() != 1 || axes.out.list().size() != 1) return {};
  const BlockMode& in = modes[axes.in.list().front()];
  const BlockMode& out = modes[axes.out.list().front()];
  const std::int64_t step = machine.vector_bytes / folded.element_bytes();
  if (splits_rows(machine.vector_bytes, folded.element_bytes(), in.block) &&
      out.in_step == in.block * folded.element_bytes()) {
    return {TileKind::narrow, in.block, step};
  }
  if (joins_rows(machine.vector_bytes, folded.element_bytes(), out.block) &&
      in.out_step == out.block * folded.element_bytes()) {
    return {TileKind::narrow, step, out.block};
  }
  return {};
}

}  // namespace

bool owns_lines(const Problem& folded, const Parameters& parameters, const Machine& machine) {
  return parameters.streams_directly() &&
         (folded.element_bytes() < kDirectRunBytes ||
          gathers_lines(machine.vector_bytes, folded.element_bytes()));
}

WriteOrder count_work(Terms& terms, const Problem& folded, const Parameters& parameters,
                      const Machine& machine, double part) {
  WriteOrder order;
  if (parameters.kernel == Kernel::shuffle) {
    count_shuffle(terms, folded, parameters, machine, part);
    return order;
  }
  const BlockModes block_modes(folded, parameters.block);
  const std::span<const BlockMode> modes = block_modes.list();
  const AxisModes axes =
      split_axes(modes, block_modes.in_order(), folded.element_bytes(), axis_split_of(parameters));
  std::int64_t outside = 1;
  for (const std::uint8_t m : axes.rest.list()) outside *= modes[m].extent;
  for (std::size_t m = 0; m < folded.modes.size(); ++m) {
    if (parameters.block[m] == 1) outside *= folded.modes[m].extent;
  }
  const Span in = span_of(axes.in, modes);
  const Span out = span_of(axes.out, modes);
  order.row_blocks = axes.rows_adjoin ? in.extent : out.blocks;
  terms.calls = as_double(outside * in.blocks * out.blocks) * part;
  const std::int64_t out_bytes = out.elements * folded.element_bytes();
  TileShape shape;
  if (parameters.kernel == Kernel::tile) {
    shape = packed_shape(folded, parameters, machine, axes, modes);
    if (shape.kind == TileKind::none) {
      shape = tile_shape(machine.vector_bytes, folded.element_bytes(),
                         in.elements * folded.element_bytes(), out_bytes,
                         row_steps(axes, modes, parameters));
    }
  }
  if (shape.kind == TileKind::none) {
    order.makes_lines =
        parameters.streams_directly() && repeats_or_reverses(axes, modes, folded.element_bytes());
    count_elements(terms, folded, parameters, machine, part, axes, modes);
    return order;
  }
  const double tiles = as_double(outside) * as_double(in.tiles(shape.in) * out.tiles(shape.out));
  count_tiles(terms, shape, folded.element_bytes(), tiles * part);
  // Structures that are put together leave as one run.
  const bool joins =
      shape.kind == TileKind::narrow && shape.out * folded.element_bytes() < machine.vector_bytes;
  if (!parameters.staged && !joins) {
    order.stores_a_line =
        std::max(1.0, as_double(kLineBytes) / as_double(shape.out * folded.element_bytes()));
    const auto rows = axes.in.list();  // none where a vector holds one element
    order.row_bytes = out_bytes;
    order.rows = in.elements;
    order.row_step = rows.empty() ? 0 : modes[rows.front()].out_step;
    order.rows_alike = std::ranges::all_of(
        rows, [&](std::uint8_t m) { return modes[m].out_step % kLineBytes == 0; });
  }
  return order;
}

}  // namespace ttlg::cpu
