#include "plan/cpu/shuffle_tile.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>

#include "plan/cpu/lane_map.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

// Empty if the elements of a side do not follow one another for a vector.
std::vector<std::int64_t> tile_of(const Problem& folded, std::int64_t vector_bytes) {
  std::vector<std::int64_t> tile(folded.modes.size(), 1);
  const auto fills = [&](std::span<const int> order, std::int64_t Mode::* step) {
    return fill_run<Mode>(
        folded.element_bytes(), vector_bytes, order, folded.modes, step,
        [&](std::size_t m, std::int64_t count) { tile[m] = std::max(tile[m], count); });
  };
  if (!fills(identity_order(tile.size()), &Mode::in_byte_stride) ||
      !fills(folded.perm, &Mode::out_byte_stride)) {
    tile.clear();
  }
  return tile;
}

// That of an input whose vectors hold elements in any order and gaps. The output's runs are whole
// vectors, where its modes are long enough: many elements in few vectors.
std::vector<std::int64_t> loose_tile_of(const Problem& folded) {
  std::vector<std::int64_t> tile(folded.modes.size(), 1);
  std::int64_t run = folded.element_bytes();
  const auto take_whole = [&](std::size_t m, std::int64_t count) {
    const std::int64_t whole = kLaneBytes / common_power(run, kLaneBytes);
    tile[m] = whole <= folded.modes[m].extent ? whole : count;
    run *= count;
  };
  const auto take = [&](std::size_t m, std::int64_t count) { tile[m] = std::max(tile[m], count); };
  if (!fill_run<Mode>(folded.element_bytes(), kLaneBytes, folded.perm, folded.modes,
                      &Mode::out_byte_stride, take_whole) ||
      !fill_run<Mode>(folded.element_bytes(), kLaneBytes, identity_order(tile.size()), folded.modes,
                      &Mode::in_byte_stride, take, kMaxLaneGap) ||
      tile_loads(folded, tile) > kMaxTileVectors) {
    tile.clear();
  }
  return tile;
}

std::int64_t bytes_of(const Problem& folded, std::span<const std::int64_t> tile) {
  std::int64_t bytes = folded.element_bytes();
  for (const std::int64_t extent : tile) bytes *= extent;
  return bytes;
}

// The vectors that cover one side of a tile, whose runs begin as `run`.
std::int64_t vectors_of(const Problem& folded, std::span<const std::int64_t> tile,
                        std::span<const int> order, std::int64_t Mode::* step, ContiguousRun run) {
  std::int64_t runs = 1;
  for (const int index : order) {
    const auto m = static_cast<std::size_t>(index);
    if (tile[m] > 1 && !run.extend(folded.modes[m].*step, tile[m])) runs *= tile[m];
  }
  return runs * ceil_div(run.bytes(), kLaneBytes);
}

}  // namespace

bool reads_runs(const Problem& folded) {
  return fill_run<Mode>(folded.element_bytes(), kLaneBytes, identity_order(folded.modes.size()),
                        folded.modes, &Mode::in_byte_stride, [](std::size_t, std::int64_t) {});
}

std::vector<std::int64_t> shuffle_tile(const Problem& folded) {
  if (folded.element_bytes() >= kLaneBytes) return {};
  std::vector<std::int64_t> tile;
  if (is_width(folded.element_bytes())) tile = tile_of(folded, kLaneBytes);
  if (tile.empty() && !reads_runs(folded)) tile = loose_tile_of(folded);
  // Runs of 17 to 31 bytes take two vectors.
  if (bytes_of(folded, tile) > kMaxTileVectors * kLaneBytes / 2) tile.clear();
  return tile;
}

std::int64_t tile_loads(const Problem& folded, std::span<const std::int64_t> tile) {
  return vectors_of(folded, tile, identity_order(tile.size()), &Mode::in_byte_stride,
                    ContiguousRun(folded.element_bytes(), kMaxLaneGap, kLaneBytes));
}

std::int64_t tile_stores(const Problem& folded, std::span<const std::int64_t> tile) {
  return vectors_of(folded, tile, folded.perm, &Mode::out_byte_stride,
                    ContiguousRun(folded.element_bytes()));
}

std::vector<std::int64_t> vector_tile(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes) {
  if (lane_bits(vector_bytes, folded.element_bytes()) == 0) return {};
  std::vector<std::int64_t> tile = tile_of(folded, vector_bytes);
  const auto is_power = [](std::int64_t extent) {
    return std::has_single_bit(static_cast<std::uint64_t>(extent));
  };
  // Where no bit counts lanes on both sides, that is what the kernel `tile` is for.
  if (!std::ranges::all_of(tile, is_power) ||
      !std::ranges::equal(tile, extents, std::ranges::less_equal{}) ||
      bytes_of(folded, tile) >= vector_bytes * vector_bytes / folded.element_bytes()) {
    tile.clear();
  }
  return tile;
}

}  // namespace ttlg::cpu
