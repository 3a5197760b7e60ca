// Tensors and programs for tests of shuffle programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/shuffle/gathering.hpp"
#include "plan/shuffle/permute_tile.hpp"
#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"
#include "requests.hpp"

namespace ttlg::test {

// Mode 0 is the input's fastest; the output's k-th fastest is the input's mode perm[k].
inline shuffle::Tile contiguous_tensor(const std::vector<std::int64_t>& extents,
                                       std::vector<int> perm, std::int64_t element_bytes) {
  const Problem problem = unfused_problem(extents, perm, element_bytes);
  shuffle::Tile tensor{.element_bytes = element_bytes,
                       .modes = {},
                       .in_order = {},
                       .out_order = std::move(perm),
                       .bits = {},
                       .in_bits = {},
                       .out_bits = {}};
  for (const Mode& mode : problem.modes) {
    tensor.in_order.push_back(static_cast<int>(tensor.modes.size()));
    tensor.modes.push_back(
        {.extent = mode.extent, .in_step = mode.in_byte_stride, .out_step = mode.out_byte_stride});
  }
  return tensor;
}

// Two to five modes. Some have gaps of any bytes between their elements, on either side; some of
// the inputs are windows that lie one over the other.
inline shuffle::Tile random_tensor(Random& random) {
  std::vector<std::int64_t> extents;
  for (std::int64_t rank = pick(random, 2, 5); rank > 0; --rank) {
    const std::int64_t extent = pick(random, 1, 11);
    if (extent > 1) extents.push_back(extent == 11 ? 17 : extent);
  }
  shuffle::Tile tensor =
      contiguous_tensor(extents, random_axes(random, extents.size()), pick(random, 1, 16));
  const auto restep = [&](const std::vector<int>& order, std::int64_t shuffle::TileMode::* member,
                          bool overlaps) {
    std::int64_t step = tensor.element_bytes;
    std::int64_t last = step;
    for (const int m : order) {
      if (m != order.front() && pick(random, 0, 3) == 0) {
        step = overlaps ? pick(random, last, step) : step + pick(random, 1, 40);
      }
      shuffle::TileMode& mode = tensor.modes[static_cast<std::size_t>(m)];
      mode.*member = last = step;
      step *= mode.extent;
    }
  };
  const std::int64_t layout = pick(random, 0, 5);
  if (layout <= 2) restep(tensor.in_order, &shuffle::TileMode::in_step, layout == 0);
  if (pick(random, 0, 1) == 0) restep(tensor.out_order, &shuffle::TileMode::out_step, false);
  return tensor;
}

struct TileProgram {
  shuffle::Tile tile;
  shuffle::Program program;
  // Of a butterfly.
  shuffle::LaneBits bits{};
  shuffle::Butterfly butterfly{};
};

// None where the tensor has no such tile.
inline std::optional<TileProgram> butterfly_program(const shuffle::Tile& tensor,
                                                    const shuffle::LaneBits& bits, int group_bits) {
  auto tile = shuffle::make_tile(tensor, bits.rows, bits.columns);
  if (!tile || tile->bits.size() < static_cast<std::size_t>(bits.all)) return std::nullopt;
  // Where rows lie at no whole number of elements, loads may end almost one before the tile does.
  std::int64_t span = tile->element_bytes;
  std::int64_t least = tile->element_bytes << bits.rows;
  bool is_aligned = true;
  for (const shuffle::TileMode& mode : tile->modes) {
    span += (mode.tile - 1) * mode.in_step;
    is_aligned &= mode.tile == 1 || mode.in_step % tile->element_bytes == 0;
  }
  if (!is_aligned) least += tile->element_bytes - 1;
  if (span < least) return std::nullopt;
  shuffle::Butterfly butterfly =
      shuffle::make_butterfly(*tile, bits.all, bits.rows, bits.columns, group_bits);
  shuffle::Program program = shuffle::permute_by_butterfly(*tile, butterfly, bits);
  return TileProgram{*std::move(tile), std::move(program), bits, std::move(butterfly)};
}

inline std::optional<TileProgram> gathering_program(const shuffle::Tile& tensor, int lanes) {
  auto tile = shuffle::make_run_tile(tensor, lanes);
  if (!tile || tile->elements() > 64 * lanes) return std::nullopt;
  shuffle::Program program = shuffle::permute_by_gathering(*tile, lanes);
  return TileProgram{*std::move(tile), std::move(program)};
}

// Rows and columns that are registers, or pieces of them.
inline std::optional<TileProgram> random_butterfly(Random& random, const shuffle::Tile& tensor,
                                                   int lane_bits) {
  shuffle::LaneBits bits{.all = lane_bits, .rows = lane_bits, .columns = lane_bits};
  if (pick(random, 0, 2) == 0) bits.rows -= static_cast<int>(pick(random, 0, lane_bits));
  if (pick(random, 0, 2) == 0) bits.columns -= static_cast<int>(pick(random, 0, lane_bits));
  return butterfly_program(tensor, bits, static_cast<int>(pick(random, 0, lane_bits)));
}

// Calls visit(case) for programs of both emitters, of 4 to 16 lanes.
template <typename Visit>
void for_random_programs(std::uint64_t seed, int tensors, const Visit& visit) {
  Random random(seed);
  for (int i = 0; i < tensors; ++i) {
    const shuffle::Tile tensor = random_tensor(random);
    const auto lane_bits = static_cast<int>(pick(random, 2, 4));
    if (const auto made = random_butterfly(random, tensor, lane_bits)) visit(*made);
    if (const auto made = gathering_program(tensor, 1 << lane_bits)) visit(*made);
  }
}

}  // namespace ttlg::test
