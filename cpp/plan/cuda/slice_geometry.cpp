#include "plan/cuda/slice_geometry.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Allocations begin at multiples of it (bytes), and nothing here asks for more.
constexpr std::int64_t kLargestAlignment = 256;

std::size_t index(int m) { return static_cast<std::size_t>(m); }

// The run of memory at the beginning of a side: the modes in `order` as long as they are adjacent
// and the slice holds them whole.
void measure_run(const Problem& words, std::span<const int> order,
                 std::span<const std::int64_t> extents, std::int64_t Mode::* stride,
                 SideGeometry& side) {
  const std::int64_t element = words.element_bytes;
  std::int64_t whole_run = 1;  // elements of the modes so far, uncut
  std::int64_t bits = 0;
  bool joined = true;
  for (const int m : order) {
    const Mode& mode = words.modes[index(m)];
    const std::int64_t extent = extents[index(m)];
    joined = joined && mode.*stride == element * whole_run;
    if (!joined) {
      bits |= mode.*stride;
      continue;
    }
    side.run *= extent;
    whole_run *= mode.extent;
    if (extent < mode.extent) {
      side.runs = ceil_div(mode.extent, extent);
      bits |= element * side.run;
      joined = false;
    }
  }
  side.runs *= words.elements() / whole_run;
  side.run_alignment = common_power(bits | element * whole_run, kLargestAlignment);
}

SideGeometry measure_side(const Problem& words, std::span<const int> order, int modes,
                          std::span<const std::int64_t> extents, std::int64_t Mode::* stride) {
  SideGeometry side;
  std::int64_t inner = 1;  // elements of the modes before the last of the axis
  for (const int m : order.first(index(modes - 1))) inner *= words.modes[index(m)].extent;
  const auto last = index(order[index(modes - 1)]);
  const std::int64_t extent = words.modes[last].extent;
  const std::int64_t block = extents[last];
  side.length = inner * block;
  side.whole = extent / block;
  side.rest = inner * (extent % block);
  side.rows = words.elements() / (inner * extent);
  measure_run(words, order, extents, stride, side);
  return side;
}

}  // namespace

void fill_slice_extents(const Problem& words, const Parameters& parameters,
                        std::span<std::int64_t> extents) {
  std::ranges::fill(extents, 1);
  const auto add = [&](std::span<const int> order, int modes, std::int64_t block) {
    for (int i = 0; i < modes; ++i) {
      const auto m = index(order[index(i)]);
      extents[m] = std::max(extents[m], i + 1 < modes ? words.modes[m].extent : block);
    }
  };
  add(identity_order(words.modes.size()), parameters.slice.in_modes, parameters.slice.in_block);
  add(words.perm, parameters.slice.out_modes, parameters.slice.out_block);
}

std::int64_t slice_span(const Problem& words, std::span<const std::int64_t> extents) {
  std::int64_t in = 0;
  std::int64_t out = 0;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    in += (extents[m] - 1) * std::abs(words.modes[m].in_byte_stride);
    out += (extents[m] - 1) * std::abs(words.modes[m].out_byte_stride);
  }
  return std::max(in, out) / words.element_bytes;
}

SliceGeometry geometry_of(const Problem& words, const Parameters& parameters) {
  const std::size_t rank = words.modes.size();
  const Slice& slice = parameters.slice;
  std::array<std::int64_t, kMaxRank> storage;
  const std::span extents(storage.data(), rank);
  fill_slice_extents(words, parameters, extents);
  SliceGeometry shape;
  shape.in =
      measure_side(words, identity_order(rank), slice.in_modes, extents, &Mode::in_byte_stride);
  shape.out = measure_side(words, words.perm, slice.out_modes, extents, &Mode::out_byte_stride);
  shape.is_cut_once = words.perm[index(slice.out_modes - 1)] == slice.in_modes - 1;
  for (std::size_t m = 0; m < rank; ++m) {
    shape.volume *= extents[m];
    shape.slices *= ceil_div(words.modes[m].extent, extents[m]);
  }
  return shape;
}

}  // namespace ttlg::cuda
