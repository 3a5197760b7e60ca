#include "plan/cpu/shuffle.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

using Step = std::int64_t BlockMode::*;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The extents that one side needs so that its run fills a vector. False if its elements do not
// follow one another for that long.
bool fill_vector(const Problem& folded, std::span<const int> order, std::int64_t Mode::* step,
                 std::vector<std::int64_t>& tile) {
  ContiguousRun run(folded.element_bytes);
  for (const int index : order) {
    if (run.bytes() >= kLaneBytes) break;
    const Mode& mode = folded.modes[at(index)];
    const std::int64_t wanted = std::min(mode.extent, ceil_div(kLaneBytes, run.bytes()));
    if (!run.extend(mode.*step, wanted, mode.extent)) return false;
    tile[at(index)] = std::max(tile[at(index)], wanted);
  }
  return run.bytes() >= kLaneBytes;
}

// The tile as one side sees it: runs of contiguous bytes, cut into vectors.
class Side {
 public:
  Side(const Block& block, std::span<const int> order, std::span<const std::int64_t> tile,
       Step step, std::int64_t element_bytes)
      : element_bytes_(element_bytes), tile_(tile) {
    ContiguousRun run(element_bytes);
    for (const int i : order) {
      if (tile[at(i)] == 1) continue;
      if (run.extend(block.modes[at(i)].*step, tile[at(i)])) {
        run_modes_.push_back(i);
      } else {
        runs_ *= tile[at(i)];
        outer_modes_.push_back(i);
      }
    }
    run_bytes_ = run.bytes();
  }

  int vectors_in_run() const { return static_cast<int>(ceil_div(run_bytes_, kLaneBytes)); }
  int vectors() const { return static_cast<int>(runs_) * vectors_in_run(); }
  // First byte of the v-th vector of a run.
  std::int64_t start(int v) const { return std::min(v * kLaneBytes, run_bytes_ - kLaneBytes); }

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
  std::pair<std::int64_t, std::int64_t> position_of(std::span<const std::int64_t> index) const {
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
  std::int64_t element_bytes_;
  std::span<const std::int64_t> tile_;
  std::int64_t run_bytes_ = 0;
  std::int64_t runs_ = 1;
  std::vector<int> run_modes_;
  std::vector<int> outer_modes_;
};

// Every stored vector straight from the loaded ones: works for any extents.
void gather(Shuffle& shuffle, const Block& block, std::int64_t element_bytes) {
  const Side in(block, block.in_order, shuffle.tile, &BlockMode::in_step, element_bytes);
  const Side out(block, identity_order(block.modes.size()), shuffle.tile, &BlockMode::out_step,
                 element_bytes);
  shuffle.loads = in.offsets(block, &BlockMode::in_step);
  shuffle.out_stores = out.offsets(block, &BlockMode::out_step);
  shuffle.staging_stores = out.offsets(block, &BlockMode::staging_step);
  const std::size_t loads = shuffle.loads.size();
  Shuffle::Term empty{.source = 0, .bytes = {}};
  empty.bytes.fill(kNoByte);
  std::vector<Shuffle::Term>& terms = shuffle.terms;
  terms.assign(loads * shuffle.out_stores.size(), empty);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    terms[i].source = static_cast<std::uint8_t>(i % loads);
  }
  std::vector<std::int64_t> index(shuffle.tile.size(), 0);
  for (int v = 0; v < out.vectors(); ++v) {
    const std::int64_t start = out.start(v % out.vectors_in_run());
    for (std::int64_t byte = 0; byte < kLaneBytes; ++byte) {
      out.index_of(v / out.vectors_in_run(), start + byte, index);
      const auto [run, element] = in.position_of(index);
      const std::int64_t source_byte = element + (start + byte) % element_bytes;
      const int window = static_cast<int>(source_byte / kLaneBytes);
      const std::size_t source = at(static_cast<int>(run) * in.vectors_in_run() + window);
      terms[at(v) * loads + source].bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(source_byte - in.start(window));
    }
  }
  // Where most stored vectors need most loaded ones, all keep a term of every one: a program that
  // regular runs faster than its length says.
  const auto is_used = [&](const Shuffle::Term& term) { return term.bytes != empty.bytes; };
  const bool keep_all = 2 * std::ranges::count_if(terms, is_used) >= std::ssize(terms);
  for (std::size_t v = 0; v < shuffle.out_stores.size(); ++v) {
    const auto count = std::ranges::count_if(std::span(terms).subspan(v * loads, loads), is_used);
    shuffle.sums.push_back(static_cast<std::uint8_t>(keep_all ? std::ssize(shuffle.loads) : count));
  }
  if (!keep_all) std::erase_if(terms, std::not_fn(is_used));
}

// One bit of an index in a tile whose extents are powers of two (GenTT, section 5.1).
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

std::vector<std::int64_t> bit_offsets(const Block& block, std::span<const Bit> bits, Step step) {
  std::vector<std::int64_t> result{0};
  for (const Bit& bit : bits) {
    const std::size_t inner = result.size();
    for (std::size_t i = 0; i < inner; ++i) {
      result.push_back(result[i] +
                       (std::int64_t{1} << bit.power) * (block.modes[at(bit.mode)].*step));
    }
  }
  return result;
}

std::vector<Bit> without(std::span<const Bit> these, std::span<const Bit> those) {
  std::vector<Bit> result;
  std::ranges::copy_if(these, std::back_inserter(result),
                       [&](Bit bit) { return std::ranges::find(those, bit) == those.end(); });
  return result;
}

// The permutation of elements from lanes counted by the bits `before` to lanes counted by the bits
// `after`.
ByteIndices reorder(std::span<const Bit> before, std::span<const Bit> after,
                    std::int64_t element_bytes) {
  ByteIndices result;
  for (std::int64_t byte = 0; byte < kLaneBytes; ++byte) {
    std::int64_t from = byte % element_bytes;
    for (std::size_t k = 0; k < after.size(); ++k) {
      const auto position = std::ranges::find(before, after[k]) - before.begin();
      from += (byte / element_bytes >> k & 1) * (element_bytes << position);
    }
    result[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(from);
  }
  return result;
}

// The butterfly of GenTT, section 4.2, for tiles of power-of-two extents: as many rounds as the
// sides have lane bits that are not common to both. A round moves the highest bit of the lanes into
// the vector's number and brings one of its bits to any position among the lanes, which is what
// unpack instructions do. Therefore the one step with indices of its own, the last one in GenTT,
// section 4.3, comes first here: it lifts the bits that will leave above those that stay. As in the
// paper, the order of the vectors is a matter of the addresses to which they are stored. False if
// the tile is not of that kind.
bool butterfly(Shuffle& shuffle, const Block& block, std::int64_t element_bytes) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shuffle.tile) elements *= extent;
  if (!std::has_single_bit(static_cast<std::uint64_t>(elements))) return false;
  const auto lane_bits = static_cast<std::size_t>(
      std::countr_zero(static_cast<std::uint64_t>(kLaneBytes / element_bytes)));
  std::vector<Bit> rows = bits_of(block.in_order, shuffle.tile);
  std::vector<Bit> columns = bits_of(identity_order(block.modes.size()), shuffle.tile);
  const std::size_t all_bits = rows.size();
  if (all_bits < lane_bits) return false;
  rows.resize(lane_bits);
  columns.resize(lane_bits);
  const std::vector<Bit> coming = without(columns, rows);
  const std::vector<Bit> leaving = without(rows, columns);
  if (lane_bits + coming.size() != all_bits) return false;  // bits beyond the rows and columns
  std::vector<Bit> lanes = without(columns, coming);
  std::vector<Bit> first = lanes;
  first.insert(first.end(), leaving.begin(), leaving.end());
  shuffle.first = reorder(rows, first, element_bytes);
  for (std::size_t k = coming.size(); k-- > 0;) {
    // `lanes` keeps the order that its bits have in `columns`.
    const auto position = std::ranges::count_if(
        columns.begin(), std::ranges::find(columns, coming[k]),
        [&](Bit bit) { return std::ranges::find(lanes, bit) != lanes.end(); });
    lanes.insert(lanes.begin() + position, coming[k]);
    shuffle.rounds.push_back(static_cast<std::uint8_t>(element_bytes << position));
  }
  shuffle.loads = bit_offsets(block, coming, &BlockMode::in_step);
  shuffle.out_stores = bit_offsets(block, leaving, &BlockMode::out_step);
  shuffle.staging_stores = bit_offsets(block, leaving, &BlockMode::staging_step);
  return true;
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

int Shuffle::steps() const {
  if (!sums.empty()) return 1;
  const bool reorders = !std::ranges::is_sorted(first);
  return static_cast<int>(rounds.size()) + static_cast<int>(reorders);
}

std::vector<std::int64_t> shuffle_tile(const Problem& folded) {
  if (folded.element_bytes >= kLaneBytes || !is_width(folded.element_bytes)) return {};
  std::vector<std::int64_t> tile(folded.modes.size(), 1);
  if (!fill_vector(folded, identity_order(folded.modes.size()), &Mode::in_byte_stride, tile) ||
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
  Shuffle shuffle;
  shuffle.tile = std::move(tile);
  shuffle.lane_modes = choose_lane_modes(block, shuffle.tile);
  if (!butterfly(shuffle, block, element_bytes)) gather(shuffle, block, element_bytes);
  return shuffle;
}

}  // namespace ttlg::cpu
