#include "plan/shuffle/tile.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "plan/shuffle/program.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::shuffle {
namespace {

int bits_for(std::int64_t extent) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(extent) - 1));
}

using ModeStep = std::int64_t TileMode::*;

// Widens the tile until the fastest modes of a side have that many bits: whole modes, and as much
// of the last one as its bits can count. False if these are not contiguous or not as many.
bool widen(Tile& tile, std::span<const int> order, ModeStep step, int bits) {
  ContiguousRun run(tile.element_bytes);
  for (const int m : order) {
    if (bits == 0) return true;
    TileMode& mode = tile.modes[at(m)];
    const int taken = std::min(bits, bits_for(mode.extent));
    const std::int64_t count = std::min(mode.extent, std::int64_t{1} << taken);
    if (!run.extend(mode.*step, count, mode.extent)) return false;
    mode.tile = std::max(mode.tile, count);
    bits -= taken;
  }
  return bits == 0;
}

// The numbers of all bits in the order in which a side steps through them.
std::vector<int> number_bits(std::span<const Bit> bits, std::span<const int> order) {
  std::vector<int> numbers;
  for (const int m : order) {
    for (std::size_t k = 0; k < bits.size(); ++k) {
      if (bits[k].mode == m) numbers.push_back(static_cast<int>(k));
    }
  }
  return numbers;
}

std::int64_t offset(const Tile& tile, std::uint32_t element, ModeStep step) {
  std::int64_t result = 0;
  for (std::size_t k = 0; k < tile.bits.size(); ++k) {
    if (element >> k & 1) {
      result += (std::int64_t{1} << tile.bits[k].power) * (tile.modes[at(tile.bits[k].mode)].*step);
    }
  }
  return result;
}

}  // namespace

bool Tile::is_empty() const {
  return std::ranges::any_of(modes, [](const TileMode& mode) { return mode.extent == 0; });
}

bool Tile::holds(std::uint32_t element) const {
  std::vector<std::int64_t> index(modes.size(), 0);
  for (std::size_t k = 0; k < bits.size(); ++k) {
    index[at(bits[k].mode)] += static_cast<std::int64_t>(element >> k & 1) << bits[k].power;
  }
  for (std::size_t m = 0; m < modes.size(); ++m) {
    if (index[m] >= modes[m].tile) return false;
  }
  return true;
}

std::int64_t Tile::in_offset(std::uint32_t element) const {
  return offset(*this, element, &TileMode::in_step);
}

std::int64_t Tile::out_offset(std::uint32_t element) const {
  return offset(*this, element, &TileMode::out_step);
}

std::int64_t Tile::elements() const {
  std::int64_t result = 1;
  for (const TileMode& mode : modes) result *= mode.tile;
  return result;
}

double Tile::useful() const {
  double result = 1;
  for (const TileMode& mode : modes) {
    result *= static_cast<double>(mode.extent) /
              static_cast<double>(ceil_div(mode.extent, mode.tile) * mode.tile);
  }
  return result;
}

void name_bits(Tile& tile) {
  for (std::size_t m = 0; m < tile.modes.size(); ++m) {
    for (int power = 0; power < bits_for(tile.modes[m].tile); ++power) {
      tile.bits.push_back({static_cast<int>(m), power});
    }
  }
  tile.in_bits = number_bits(tile.bits, tile.in_order);
  tile.out_bits = number_bits(tile.bits, tile.out_order);
}

std::optional<Tile> make_tile(Tile tensor, int row_bits, int column_bits) {
  if (!widen(tensor, tensor.in_order, &TileMode::in_step, row_bits) ||
      !widen(tensor, tensor.out_order, &TileMode::out_step, column_bits)) {
    return std::nullopt;
  }
  name_bits(tensor);
  return tensor;
}

std::optional<Tile> make_run_tile(Tile tensor, int lanes) {
  const auto extend = [&](std::span<const int> order, ModeStep step) {
    return fill_run<TileMode>(tensor.element_bytes, lanes * tensor.element_bytes, order,
                              tensor.modes, step, [&](std::size_t m, std::int64_t count) {
                                tensor.modes[m].tile = std::max(tensor.modes[m].tile, count);
                              });
  };
  if (!extend(tensor.in_order, &TileMode::in_step) ||
      !extend(tensor.out_order, &TileMode::out_step)) {
    return std::nullopt;
  }
  return tensor;
}

}  // namespace ttlg::shuffle
