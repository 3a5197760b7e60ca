#include "plan/cpu/mover.hpp"

#include <algorithm>
#include <functional>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "plan/cpu/shuffle_tile.hpp"

namespace ttlg::cpu {
namespace {

bool holds(std::span<const std::int64_t> extents, std::span<const std::int64_t> tile) {
  return std::ranges::equal(tile, extents.first(tile.size()), std::ranges::less_equal{});
}

}  // namespace

ShuffleMover choose_mover(const Problem& folded, std::span<const std::int64_t> extents,
                          std::int64_t vector_bytes) {
  std::optional<WindowTile> window = find_window(folded, extents, vector_bytes);
  if (window && window->vectors() > 1) {
    return {Mover::window, std::move(window->tile), static_cast<double>(window->vectors())};
  }
  if (const auto channels = find_channels(folded, extents)) {
    ShuffleMover result{Mover::channels, std::vector<std::int64_t>(extents.size(), 1)};
    // Into a buffer and out of it.
    if (const auto [kind, taken, c, s] = *channels; taken < kind.count) {
      result.moves = static_cast<double>(kind.count) / static_cast<double>(taken) + 2;
    }
    return result;
  }
  std::vector<std::int64_t> tile = vector_tile(folded, extents, vector_bytes);
  if (!tile.empty()) return {Mover::vector_tile, std::move(tile)};
  if (window) return {Mover::window, std::move(window->tile), 1};
  return {Mover::program, shuffle_tile(folded)};
}

const Window* Movers::window(std::span<const std::int64_t> extents, int lanes) const {
  for (const std::optional<Window>& each : std::views::reverse(windows)) {
    if (each && each->vector_bytes <= lanes * kLaneBytes &&
        extents[each->stepped_mode] >= each->elements) {
      return &*each;
    }
  }
  return nullptr;
}

Mover Movers::choose(std::span<const std::int64_t> extents, int lanes,
                     std::int64_t least_structures) const {
  const Window* fitting = window(extents, lanes);
  if (fitting != nullptr && fitting->vectors > 1) return Mover::window;
  if (channels && extents[channels->structure_mode] >= least_structures) return Mover::channels;
  const std::optional<VectorTile>& tile = vector_tile(lanes);
  if (tile && holds(extents, tile->tile)) return Mover::vector_tile;
  if (fitting != nullptr) return Mover::window;
  return holds(extents, program.tile) ? Mover::program : Mover::block_kernel;
}

Movers make_movers(const Problem& folded, const Block& block,
                   std::span<const std::int64_t> extents) {
  const auto of_block = [&](std::span<const std::int64_t> tile) {
    std::vector<std::int64_t> result;
    for (const int mode : folded.perm) {
      const auto m = static_cast<std::size_t>(mode);
      if (extents[m] > 1) result.push_back(tile[m]);
    }
    return result;
  };
  const std::vector<std::int64_t> smallest = shuffle_tile(folded);
  if (!holds(extents, smallest)) {
    throw std::invalid_argument("block is smaller than the smallest tile of 'shuffle'");
  }
  Movers movers;
  movers.program = make_shuffle_tables(block, of_block(smallest), folded.element_bytes());
  if (const auto channels = find_channels(folded, extents)) {
    movers.channels = make_channel_block(folded, *channels, extents);
  }
  for (std::size_t i = 0; i < movers.windows.size(); ++i) {
    const std::int64_t vector_bytes = kLaneBytes << i;
    if (const auto tile = find_window(folded, extents, vector_bytes)) {
      movers.windows[i] = make_window(folded, *tile, extents);
    }
    const std::vector<std::int64_t> tile = vector_tile(folded, extents, vector_bytes);
    if (!tile.empty()) {
      movers.vector_tiles[i] =
          make_vector_tile(block, of_block(tile), lane_bits(vector_bytes, folded.element_bytes()));
    }
  }
  return movers;
}

}  // namespace ttlg::cpu
