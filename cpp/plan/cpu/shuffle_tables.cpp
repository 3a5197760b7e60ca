#include "plan/cpu/shuffle_tables.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "plan/cpu/vector_tile.hpp"
#include "plan/shuffle/gathering.hpp"
#include "plan/shuffle/passes.hpp"
#include "plan/shuffle/permute_tile.hpp"
#include "plan/shuffle/tile.hpp"
#include "tensor/axes.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

using shuffle::at;

// The tile for the passes that make programs, and the most bytes that its rows leave out between
// elements.
struct LaneTile : shuffle::Tile {
  std::int64_t gap = 0;
};

// Of elements, where they follow one another in the input for a vector; else of their bytes, which
// one more mode has.
LaneTile tile_of(const Block& block, std::span<const std::int64_t> tile,
                 std::int64_t element_bytes) {
  LaneTile result;
  result.element_bytes = element_bytes;
  for (std::size_t m = 0; m < tile.size(); ++m) {
    const BlockMode& mode = block.modes[m];
    result.modes.push_back({.extent = mode.extent,
                            .in_step = mode.in_step,
                            .out_step = mode.out_step,
                            .tile = tile[m]});
  }
  result.in_order = block.in_order;
  const std::span<const int> out_order = identity_order(tile.size());
  result.out_order.assign(out_order.begin(), out_order.end());
  if (!fill_run<BlockMode>(element_bytes, kLaneBytes, block.in_order, block.modes,
                           &BlockMode::in_step, [](std::size_t, std::int64_t) {})) {
    result.gap = kMaxLaneGap;
    for (std::vector<int>* const order : {&result.in_order, &result.out_order}) {
      order->insert(order->begin(), static_cast<int>(tile.size()));
    }
    result.element_bytes = 1;
    result.modes.push_back(
        {.extent = element_bytes, .in_step = 1, .out_step = 1, .tile = element_bytes});
  }
  shuffle::name_bits(result);
  return result;
}

// How many lanes of the tile's elements a vector has.
int lanes_of(const shuffle::Tile& tile) {
  return static_cast<int>(kLaneBytes / tile.element_bytes);
}

// The butterfly of a tile whose extents are powers of two and whose bits are those of one row and
// one column. None of any other tile: its vectors are gathered.
std::optional<shuffle::Butterfly> butterfly_of(const LaneTile& tile) {
  if (tile.gap > 0) return std::nullopt;
  if (!std::has_single_bit(static_cast<std::uint64_t>(tile.elements()))) return std::nullopt;
  const int bits = std::countr_zero(static_cast<unsigned>(lanes_of(tile)));
  if (std::ssize(tile.bits) < bits) return std::nullopt;
  shuffle::Butterfly butterfly = shuffle::make_butterfly(tile, bits, bits, bits, bits);
  const std::size_t count = at(bits) + butterfly.steps.size();
  return count == tile.bits.size() ? std::optional(std::move(butterfly)) : std::nullopt;
}

shuffle::Program program_of(const LaneTile& tile,
                            const std::optional<shuffle::Butterfly>& butterfly) {
  if (!butterfly) return shuffle::permute_by_gathering(tile, lanes_of(tile), tile.gap);
  const int bits = std::countr_zero(static_cast<unsigned>(lanes_of(tile)));
  return shuffle::permute_by_butterfly(tile, *butterfly,
                                       {.all = bits, .rows = bits, .columns = bits});
}

// The tables of a butterfly: all loaded vectors are reordered alike, and all steps after that are
// of the kind that unpack instructions do. Before a step, vectors that the new bit tells apart are
// half of all apart; after it the bit that left tells neighbours apart.
void tabulate(ShuffleTables& result, const Block& block, const shuffle::Tile& tile,
              const shuffle::Butterfly& butterfly) {
  for (std::size_t byte = 0; byte < result.first.size(); ++byte) {
    const auto size = static_cast<std::size_t>(tile.element_bytes);
    std::size_t from = byte % size;
    for (std::size_t k = 0; k < butterfly.first.size(); ++k) {
      const auto place = std::ranges::find(butterfly.loaded, butterfly.first[k]);
      from += (byte / size >> k & 1) * (size << (place - butterfly.loaded.begin()));
    }
    result.first[byte] = static_cast<std::uint8_t>(from);
  }
  std::vector<shuffle::Bit> coming;
  std::vector<shuffle::Bit> leaving;
  for (const shuffle::Step& step : butterfly.steps) {
    const auto place = std::ranges::find(step.lanes, step.coming) - step.lanes.begin();
    result.rounds.push_back(static_cast<std::uint8_t>(tile.element_bytes << place));
    coming.insert(coming.begin(), tile.bits[at(step.coming)]);
    leaving.insert(leaving.begin(), tile.bits[at(step.leaving)]);
  }
  result.loads = bit_offsets(block, coming, &BlockMode::in_step);
  result.out_stores = bit_offsets(block, leaving, &BlockMode::out_step);
  result.staging_stores = bit_offsets(block, leaving, &BlockMode::staging_step);
}

// The offsets in the staging buffer that belong to offsets of elements in the output.
std::vector<std::int64_t> staged(const Block& block, shuffle::Tile tile,
                                 std::span<const std::int64_t> out) {
  for (std::size_t m = 0; m < block.modes.size(); ++m) {
    tile.modes[m].in_step = block.modes[m].staging_step;
  }
  const auto both = shuffle::list_elements(tile);
  std::vector<std::int64_t> result;
  for (const std::int64_t offset : out) {
    result.push_back(std::ranges::lower_bound(both, std::pair(offset, INT64_MIN))->second);
  }
  return result;
}

// The tables of a tile whose vectors are gathered: what comes into a stored one from each loaded
// one, at once.
void tabulate(ShuffleTables& result, const Block& block, const LaneTile& tile) {
  shuffle::Gathering gathering = shuffle::gather(tile, lanes_of(tile), tile.gap);
  result.loads = std::move(gathering.loads);
  result.out_stores = std::move(gathering.stores);
  const std::size_t loads = result.loads.size();
  ShuffleTables::Term empty{.source = 0, .bytes = {}};
  empty.bytes.fill(kNoByte);
  std::vector<ShuffleTables::Term>& terms = result.terms;
  terms.assign(loads * result.out_stores.size(), empty);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    terms[i].source = static_cast<std::uint8_t>(i % loads);
  }
  const auto lanes = static_cast<std::size_t>(lanes_of(tile));
  const auto size = static_cast<std::size_t>(tile.element_bytes);
  for (std::size_t i = 0; i < gathering.origins.size(); ++i) {
    const auto [load, lane] = gathering.origins[i];
    ByteIndices& bytes = terms[i / lanes * loads + at(load)].bytes;
    for (std::size_t k = 0; k < size; ++k) {
      bytes[i % lanes * size + k] = static_cast<std::uint8_t>(at(lane) * size + k);
    }
  }
  result.staging_stores = staged(block, tile, result.out_stores);
  // Where most stored vectors need most loaded ones, all keep a term of every one: a program that
  // regular runs faster than its length says.
  const auto is_used = [&](const ShuffleTables::Term& term) { return term.bytes != empty.bytes; };
  const bool keep_all = 2 * std::ranges::count_if(terms, is_used) >= std::ssize(terms);
  for (std::size_t v = 0; v < result.out_stores.size(); ++v) {
    const auto count = std::ranges::count_if(std::span(terms).subspan(v * loads, loads), is_used);
    result.sums.push_back(static_cast<std::uint8_t>(keep_all ? std::ssize(result.loads) : count));
  }
  if (!keep_all) std::erase_if(terms, std::not_fn(is_used));
}

// Neighbouring lanes take neighbouring tiles of the longest mode, twice as many of them if that
// divides it, so that few tiles are moved twice and most vectors are contiguous on one side.
std::array<std::size_t, 2> choose_lane_modes(const Block& block,
                                             std::span<const std::int64_t> tile) {
  std::vector<std::int64_t> left(tile.size());
  for (std::size_t m = 0; m < tile.size(); ++m) left[m] = ceil_div(block.modes[m].block, tile[m]);
  std::array<std::size_t, 2> result;
  for (std::size_t& choice : result) {
    const auto waste = [](std::int64_t tiles) {
      return static_cast<double>(tiles % 2) / static_cast<double>(tiles);
    };
    const auto best = std::ranges::min_element(left, [&](std::int64_t x, std::int64_t y) {
      return waste(x) != waste(y) ? waste(x) < waste(y) : x > y;
    });
    choice = static_cast<std::size_t>(best - left.begin());
    *best = ceil_div(*best, 2);
  }
  return result;
}

}  // namespace

ShuffleTables make_shuffle_tables(const Block& block, std::vector<std::int64_t> tile,
                                  std::int64_t element_bytes) {
  ShuffleTables result;
  result.tile = std::move(tile);
  result.lane_modes = choose_lane_modes(block, result.tile);
  const LaneTile bits = tile_of(block, result.tile, element_bytes);
  if (const auto butterfly = butterfly_of(bits)) {
    tabulate(result, block, bits, *butterfly);
  } else {
    tabulate(result, block, bits);
  }
  return result;
}

shuffle::Program make_program(const Block& block, std::span<const std::int64_t> tile,
                              std::int64_t element_bytes) {
  const LaneTile bits = tile_of(block, tile, element_bytes);
  return shuffle::join_self_shuffles(program_of(bits, butterfly_of(bits)));
}

}  // namespace ttlg::cpu
