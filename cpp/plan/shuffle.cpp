#include "plan/shuffle.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "tensor/integer.hpp"

namespace ttlg {
namespace {

using Step = std::int64_t BlockMode::*;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::vector<int> out_order(const Block& block) {
  std::vector<int> order(block.modes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The extents that one side needs so that its run fills a vector. False if its elements do not
// follow one another for that long.
bool fill_vector(const Problem& folded, std::span<const int> order, std::int64_t Mode::* step,
                 std::vector<std::int64_t>& tile) {
  std::int64_t run = folded.element_bytes;
  for (const int index : order) {
    if (run >= kLaneBytes) break;
    const Mode& mode = folded.modes[at(index)];
    if (mode.*step != run) return false;
    const std::int64_t wanted = std::min(mode.extent, ceil_div(kLaneBytes, run));
    tile[at(index)] = std::max(tile[at(index)], wanted);
    run *= wanted;
  }
  return run >= kLaneBytes;
}

// The tile as one side sees it: runs of contiguous bytes, cut into vectors.
class Side {
 public:
  Side(const Block& block, std::span<const int> order, std::span<const std::int64_t> tile,
       Step step, std::int64_t element_bytes)
      : run_bytes_(element_bytes) {
    bool in_run = true;
    for (const int i : order) {
      if (tile[at(i)] == 1) continue;
      in_run = in_run && block.modes[at(i)].*step == run_bytes_;
      if (in_run) {
        run_modes_.push_back(i);
        run_bytes_ *= tile[at(i)];
      } else {
        runs_ *= tile[at(i)];
        outer_modes_.push_back(i);
      }
    }
    tile_ = tile;
    element_bytes_ = element_bytes;
  }

  std::int64_t run_bytes() const { return run_bytes_; }
  int vectors_in_run() const { return static_cast<int>(ceil_div(run_bytes_, kLaneBytes)); }
  int vectors() const { return static_cast<int>(runs_) * vectors_in_run(); }
  // First byte of the v-th vector of a run.
  std::int64_t start(int v) const {
    return std::min(v * kLaneBytes, run_bytes_ - kLaneBytes);
  }

  // The tile's index at byte `byte` of run `run`.
  void index_of(std::int64_t run, std::int64_t byte, std::span<std::int64_t> index) const {
    std::int64_t element = byte / element_bytes_;
    for (const int i : run_modes_) {
      index[at(i)] = element % tile_[at(i)];
      element /= tile_[at(i)];
    }
    for (const int i : outer_modes_) {
      index[at(i)] = run % tile_[at(i)];
      run /= tile_[at(i)];
    }
  }

  // The inverse: run and byte of an element.
  std::pair<std::int64_t, std::int64_t> place_of(std::span<const std::int64_t> index) const {
    const auto number = [&](std::span<const int> modes) {
      std::int64_t value = 0;
      for (std::size_t k = modes.size(); k-- > 0;) {
        value = value * tile_[at(modes[k])] + index[at(modes[k])];
      }
      return value;
    };
    return {number(outer_modes_), number(run_modes_) * element_bytes_};
  }

  // Offsets of all vectors, with the steps of any layout that keeps the runs together.
  std::vector<std::int64_t> offsets(const Block& block, Step step) const {
    std::vector<std::int64_t> result;
    for (std::int64_t run = 0; run < runs_; ++run) {
      std::int64_t base = 0;
      std::int64_t rest = run;
      for (const int i : outer_modes_) {
        base += rest % tile_[at(i)] * (block.modes[at(i)].*step);
        rest /= tile_[at(i)];
      }
      for (int v = 0; v < vectors_in_run(); ++v) result.push_back(base + start(v));
    }
    return result;
  }

 private:
  std::int64_t run_bytes_;
  std::int64_t runs_ = 1;
  std::int64_t element_bytes_ = 1;
  std::vector<int> run_modes_;
  std::vector<int> outer_modes_;
  std::span<const std::int64_t> tile_;
};

// Adds to the vector being summed the byte `from` of vector `source` as its byte `to`.
void add_byte(Shuffle& shuffle, std::size_t first_term, int source, std::int64_t from,
              std::int64_t to) {
  const auto id = static_cast<std::uint8_t>(source);
  const auto begin = shuffle.terms.begin() + static_cast<std::ptrdiff_t>(first_term);
  auto term = std::find_if(begin, shuffle.terms.end(),
                           [&](const Shuffle::Term& each) { return each.source == id; });
  if (term == shuffle.terms.end()) {
    Shuffle::Term fresh{.source = id, .bytes = {}};
    fresh.bytes.fill(Shuffle::kNone);
    term = shuffle.terms.insert(shuffle.terms.end(), fresh);
  }
  term->bytes[static_cast<std::size_t>(to)] = static_cast<std::uint8_t>(from);
}

void close_sum(Shuffle& shuffle, std::size_t first_term, int target) {
  shuffle.sums.push_back({.target = static_cast<std::uint8_t>(target),
                          .terms = static_cast<std::uint8_t>(shuffle.terms.size() - first_term)});
}

// Every stored vector straight from the loaded ones: works for any extents.
void gather(Shuffle& shuffle, const Side& in, const Side& out, std::int64_t element_bytes) {
  std::vector<std::int64_t> index(shuffle.tile.size(), 0);
  const int loaded = in.vectors();
  for (int v = 0; v < out.vectors(); ++v) {
    const std::size_t first_term = shuffle.terms.size();
    const std::int64_t start = out.start(v % out.vectors_in_run());
    for (std::int64_t byte = 0; byte < kLaneBytes; ++byte) {
      out.index_of(v / out.vectors_in_run(), start + byte, index);
      const auto [run, element] = in.place_of(index);
      const std::int64_t source_byte = element + (start + byte) % element_bytes;
      const int window = static_cast<int>(source_byte / kLaneBytes);
      add_byte(shuffle, first_term, static_cast<int>(run) * in.vectors_in_run() + window,
               source_byte - in.start(window), byte);
    }
    close_sum(shuffle, first_term, loaded + v);
    shuffle.results.push_back(static_cast<std::uint8_t>(loaded + v));
  }
  shuffle.steps = 1;
}

// One bit of an index in a tile whose extents are powers of two (G-12).
struct Bit {
  int mode;
  int power;
  bool operator==(const Bit&) const = default;
};

// The bits of a tile, in the order in which one side's runs step through them.
std::vector<Bit> bits_of(std::span<const int> order, std::span<const std::int64_t> tile) {
  std::vector<Bit> bits;
  for (const int i : order) {
    for (int power = 0; std::int64_t{1} << power < tile[at(i)]; ++power) bits.push_back({i, power});
  }
  return bits;
}

// Which bits count the vectors and which the elements within one.
struct Arrangement {
  std::vector<Bit> vectors;
  std::vector<Bit> lanes;
};

// One step (G-07): vectors arranged as `before` become vectors arranged as `after`. Every new
// vector draws on at most two old ones.
void rearrange(Shuffle& shuffle, const Arrangement& before, const Arrangement& after,
               int first_source, int first_target, std::int64_t element_bytes) {
  const auto bit_of = [&](Bit bit, int vector, int lane) {
    for (std::size_t k = 0; k < after.vectors.size(); ++k) {
      if (after.vectors[k] == bit) return vector >> k & 1;
    }
    const auto k = std::ranges::find(after.lanes, bit) - after.lanes.begin();
    return lane >> k & 1;
  };
  const int lanes = 1 << after.lanes.size();
  for (int vector = 0; vector < 1 << after.vectors.size(); ++vector) {
    const std::size_t first_term = shuffle.terms.size();
    for (int lane = 0; lane < lanes; ++lane) {
      int source = 0;
      std::int64_t from = 0;
      for (std::size_t k = 0; k < before.vectors.size(); ++k) {
        source |= bit_of(before.vectors[k], vector, lane) << k;
      }
      for (std::size_t k = 0; k < before.lanes.size(); ++k) {
        from |= std::int64_t{bit_of(before.lanes[k], vector, lane)} << k;
      }
      for (std::int64_t byte = 0; byte < element_bytes; ++byte) {
        add_byte(shuffle, first_term, first_source + source, from * element_bytes + byte,
                 lane * element_bytes + byte);
      }
    }
    close_sum(shuffle, first_term, first_target + vector);
  }
  ++shuffle.steps;
}

std::vector<std::int64_t> bit_offsets(const Block& block, std::span<const Bit> bits, Step step) {
  std::vector<std::int64_t> result{0};
  for (const Bit& bit : bits) {
    const std::size_t inner = result.size();
    for (std::size_t i = 0; i < inner; ++i) {
      result.push_back(result[i] + (std::int64_t{1} << bit.power) * (block.modes[at(bit.mode)].*step));
    }
  }
  return result;
}

// GenTT's butterfly (G-07 to G-11) for tiles of power-of-two extents: as many steps as the sides
// have lane bits that are not common to both; the last one also brings the lanes into the output's
// order (G-08), and the vectors take the addresses that their bits say (G-10).
std::optional<Shuffle> butterfly(const Block& block, std::span<const std::int64_t> tile,
                                 std::int64_t element_bytes) {
  if (!is_vector_width(element_bytes) ||
      !std::ranges::all_of(tile, [](std::int64_t extent) {
        return std::has_single_bit(static_cast<std::uint64_t>(extent));
      })) {
    return std::nullopt;
  }
  const auto lane_bits = static_cast<std::size_t>(
      std::countr_zero(static_cast<std::uint64_t>(kLaneBytes / element_bytes)));
  std::vector<Bit> rows = bits_of(block.in_order, tile);
  std::vector<Bit> columns = bits_of(out_order(block), tile);
  if (rows.size() < lane_bits) return std::nullopt;
  rows.resize(lane_bits);
  columns.resize(lane_bits);
  const auto without = [](const std::vector<Bit>& these, const std::vector<Bit>& those) {
    std::vector<Bit> result;
    std::ranges::copy_if(these, std::back_inserter(result),
                         [&](Bit bit) { return std::ranges::find(those, bit) == those.end(); });
    return result;
  };
  Arrangement now{.vectors = without(columns, rows), .lanes = rows};
  const std::vector<Bit> leaving = without(rows, columns);
  const std::vector<Bit> coming = now.vectors;
  if (lane_bits + coming.size() != std::accumulate(tile.begin(), tile.end(), std::size_t{0},
                                                   [](std::size_t sum, std::int64_t extent) {
                                                     return sum + static_cast<std::size_t>(
                                                         std::countr_zero(static_cast<std::uint64_t>(extent)));
                                                   })) {
    return std::nullopt;  // bits beyond the rows and columns
  }
  Shuffle shuffle;
  shuffle.tile.assign(tile.begin(), tile.end());
  shuffle.loads = bit_offsets(block, coming, &BlockMode::in_step);
  const auto count = static_cast<int>(shuffle.loads.size());
  int source = 0;
  for (std::size_t step = 0; step < coming.size(); ++step) {
    Arrangement next = now;
    next.vectors[step] = leaving[step];
    std::ranges::replace(next.lanes, leaving[step], coming[step]);
    if (step + 1 == coming.size()) next.lanes = columns;
    rearrange(shuffle, now, next, source, count - source, element_bytes);
    source = count - source;
    now = std::move(next);
  }
  if (coming.empty() && rows != columns) {
    rearrange(shuffle, now, {.vectors = {}, .lanes = columns}, 0, count, element_bytes);
    source = count;
  }
  for (int i = 0; i < count; ++i) {
    shuffle.results.push_back(static_cast<std::uint8_t>(source + i));
  }
  shuffle.out_stores = bit_offsets(block, leaving, &BlockMode::out_step);
  shuffle.stage_stores = bit_offsets(block, leaving, &BlockMode::stage_step);
  return shuffle;
}

}  // namespace

std::vector<std::int64_t> shuffle_tile(const Problem& folded) {
  std::vector<std::int64_t> tile(folded.modes.size(), 1);
  std::vector<int> in_order(folded.modes.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  if (folded.element_bytes >= kLaneBytes ||
      !fill_vector(folded, in_order, &Mode::in_byte_stride, tile) ||
      !fill_vector(folded, folded.perm, &Mode::out_byte_stride, tile)) {
    return {};
  }
  std::int64_t bytes = folded.element_bytes;
  for (const std::int64_t extent : tile) bytes *= extent;
  // Runs of 17 to 31 bytes take two vectors.
  if (bytes > kMaxTileVectors * kLaneBytes / 2) return {};
  return tile;
}

Shuffle make_shuffle(const Block& block, std::vector<std::int64_t> tile,
                     std::int64_t element_bytes) {
  std::optional<Shuffle> by_steps = butterfly(block, tile, element_bytes);
  Shuffle shuffle;
  shuffle.tile = std::move(tile);
  const Side in(block, block.in_order, shuffle.tile, &BlockMode::in_step, element_bytes);
  const Side out(block, out_order(block), shuffle.tile, &BlockMode::out_step, element_bytes);
  shuffle.loads = in.offsets(block, &BlockMode::in_step);
  shuffle.out_stores = out.offsets(block, &BlockMode::out_step);
  shuffle.stage_stores = out.offsets(block, &BlockMode::stage_step);
  gather(shuffle, in, out, element_bytes);
  if (by_steps && by_steps->terms.size() <= shuffle.terms.size()) return *std::move(by_steps);
  return shuffle;
}

}  // namespace ttlg
