#include "plan/shuffle/permute_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

#include "tensor/integer.hpp"

namespace ttlg::shuffle {
namespace {

using Element = std::uint32_t;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The element that the lanes' bits count, added to one with other bits.
Element element_at(std::span<const int> lane_bits, int lane, Element others) {
  for (std::size_t k = 0; k < lane_bits.size(); ++k) {
    others |= static_cast<Element>(lane >> k & 1) << lane_bits[k];
  }
  return others;
}

// The lane at which the bits count an element.
int lane_of(std::span<const int> lane_bits, Element element) {
  int lane = 0;
  for (std::size_t k = 0; k < lane_bits.size(); ++k) {
    lane |= static_cast<int>(element >> lane_bits[k] & 1) << k;
  }
  return lane;
}

// All combinations of the tile's other bits: one for each register.
std::vector<Element> registers_of(std::span<const int> lane_bits, std::span<const int> order) {
  std::vector<Element> result{0};
  for (const int bit : order) {
    if (std::ranges::find(lane_bits, bit) != lane_bits.end()) continue;
    const std::size_t inner = result.size();
    for (std::size_t i = 0; i < inner; ++i) result.push_back(result[i] | Element{1} << bit);
  }
  return result;
}

class Emitter {
 public:
  explicit Emitter(int lanes, std::int64_t element_bytes) {
    program_.lanes = lanes;
    program_.element_bytes = element_bytes;
  }

  int load(std::vector<Access> accesses) {
    return make({.kind = Kind::load, .index = {}, .accesses = std::move(accesses)});
  }

  // No operation where nothing moves.
  int self_shuffle(int source, std::vector<int> index) {
    bool moves = false;
    for (std::size_t i = 0; i < index.size(); ++i) {
      moves |= index[i] != kUndefined && index[i] != static_cast<int>(i);
    }
    if (!moves) return source;
    return make(
        {.kind = Kind::shuffle, .first = source, .index = std::move(index), .accesses = {}});
  }

  // Of one source where only one is used, of none where nothing is.
  int shuffle(int first, int second, std::vector<int> index) {
    bool uses_first = false;
    bool uses_second = false;
    for (const int lane : index) {
      uses_first |= lane != kUndefined && lane < program_.lanes;
      uses_second |= lane >= program_.lanes;
    }
    if (!uses_first && !uses_second) return kNoRegister;
    if (!uses_first) {
      for (int& lane : index) lane = lane == kUndefined ? kUndefined : lane - program_.lanes;
      first = second;
    }
    if (!uses_first || !uses_second) return self_shuffle(first, std::move(index));
    return make({.kind = Kind::shuffle,
                 .first = first,
                 .second = second,
                 .index = std::move(index),
                 .accesses = {}});
  }

  void store(int source, const Access& access) {
    program_.operations.push_back(
        {.kind = Kind::store, .first = source, .index = {}, .accesses = {access}});
  }

  Program take() && { return std::move(program_); }

 private:
  int make(Operation operation) {
    operation.target = program_.registers++;
    program_.operations.push_back(std::move(operation));
    return program_.registers - 1;
  }

  Program program_;
};

class ButterflyEmitter {
 public:
  ButterflyEmitter(const Tile& tile, const Butterfly& butterfly, const LaneBits& bits)
      : tile_(tile),
        butterfly_(butterfly),
        bits_(bits),
        emitter_(1 << bits.all, tile.element_bytes) {
    for (Element element = 0; element < Element{1} << tile.bits.size(); ++element) {
      if (tile.holds(element)) in_end_ = std::max(in_end_, tile.in_offset(element));
    }
    in_end_ += tile.element_bytes;
  }

  Program emit() && {
    for (const Element element : registers_of(butterfly_.loaded, tile_.in_bits)) {
      load(element);
    }
    reorder();
    std::vector<int> lanes = butterfly_.first;
    for (const Step& step : butterfly_.steps) {
      exchange(lanes, step);
      lanes = step.lanes;
    }
    for (const Element element : registers_of(lanes, tile_.out_bits)) store(lanes, element);
    return std::move(emitter_).take();
  }

 private:
  int all() const { return 1 << bits_.all; }

  // The register whose lanes have these other bits.
  int find(Element element) const {
    const auto found = registers_.find(element);
    return found == registers_.end() ? kNoRegister : found->second;
  }

  // A piece of 2^row_bits lanes begins at its first element, or whole elements before it where it
  // would end after the tile.
  void load(Element element) {
    const int row = 1 << bits_.rows;
    std::vector<int> spread(at(all()), kUndefined);
    std::vector<Access> accesses;
    for (int piece = 0; piece < all(); piece += row) {
      std::int64_t start = -1;
      for (int lane = piece; lane < piece + row; ++lane) {
        const Element each = element_at(butterfly_.loaded, lane, element);
        if (!tile_.holds(each)) continue;
        const std::int64_t offset = tile_.in_offset(each);
        if (start < 0) {
          const std::int64_t late = offset - (in_end_ - row * tile_.element_bytes);
          const std::int64_t before =
              ceil_div(std::max<std::int64_t>(late, 0), tile_.element_bytes);
          start = offset - before * tile_.element_bytes;
          if (start < 0) throw std::logic_error("a tile is smaller than a register");
          accesses.push_back({.lane = piece, .lanes = row, .offset = start});
        }
        spread[at(lane)] = piece + static_cast<int>((offset - start) / tile_.element_bytes);
      }
    }
    if (accesses.empty()) return;
    const int loaded = emitter_.load(std::move(accesses));
    registers_[element] = emitter_.self_shuffle(loaded, std::move(spread));
  }

  void reorder() {
    for (auto& [element, number] : registers_) {
      std::vector<int> index(at(all()), kUndefined);
      for (int lane = 0; lane < all(); ++lane) {
        const Element each = element_at(butterfly_.first, lane, element);
        if (tile_.holds(each)) index[at(lane)] = lane_of(butterfly_.loaded, each);
      }
      number = emitter_.self_shuffle(number, std::move(index));
    }
  }

  void exchange(std::span<const int> before, const Step& step) {
    const Element coming = Element{1} << step.coming;
    std::map<Element, int> next;
    for (const auto& [element, number] : registers_) {
      const Element lower = element & ~coming;
      if (element != lower && find(lower) != kNoRegister) continue;  // done with its partner
      for (const Element leaving : {Element{0}, Element{1} << step.leaving}) {
        std::vector<int> index(at(all()), kUndefined);
        for (int lane = 0; lane < all(); ++lane) {
          const Element each = element_at(step.lanes, lane, lower | leaving);
          if (!tile_.holds(each)) continue;
          index[at(lane)] = lane_of(before, each) + (each & coming ? all() : 0);
        }
        const int result = emitter_.shuffle(find(lower), find(lower | coming), std::move(index));
        if (result != kNoRegister) next[lower | leaving] = result;
      }
    }
    registers_ = std::move(next);
  }

  // The elements of a column follow one another in the output: they are brought together at the
  // first lanes of each piece.
  void store(std::span<const int> lanes, Element element) {
    const int column = 1 << bits_.columns;
    std::vector<int> together(at(all()), kUndefined);
    std::vector<Access> accesses;
    for (int piece = 0; piece < all(); piece += column) {
      int next = piece;
      for (int lane = piece; lane < piece + column; ++lane) {
        const Element each = element_at(lanes, lane, element);
        if (!tile_.holds(each)) continue;
        if (next == piece) {
          accesses.push_back({.lane = piece, .lanes = 0, .offset = tile_.out_offset(each)});
        }
        together[at(next++)] = lane;
        ++accesses.back().lanes;
      }
    }
    if (accesses.empty()) return;
    const int source = emitter_.self_shuffle(find(element), std::move(together));
    for (const Access& access : accesses) emitter_.store(source, access);
  }

  const Tile& tile_;
  const Butterfly& butterfly_;
  LaneBits bits_;
  std::int64_t in_end_ = 0;
  Emitter emitter_;
  std::map<Element, int> registers_;  // by the bits that do not count lanes
};

// One side of a tile as runs of contiguous elements, cut into whole registers. The last register of
// a run ends where the run does.
class Runs {
 public:
  Runs(const Tile& tile, std::span<const int> order, std::int64_t TileMode::* step, int lanes)
      : lanes_(lanes) {
    std::int64_t run = 1;
    std::vector<std::int64_t> starts{0};
    bool is_run = true;
    for (const int m : order) {
      const TileMode& mode = tile.modes[at(m)];
      // Unit modes have been dropped.
      is_run &= mode.tile > 1 && mode.*step == run * tile.element_bytes;
      if (is_run) {
        run *= mode.tile;
        is_run = mode.tile == mode.extent;
        continue;
      }
      const std::size_t inner = starts.size();
      for (std::int64_t i = 1; i < mode.tile; ++i) {
        for (std::size_t k = 0; k < inner; ++k) starts.push_back(starts[k] + i * (mode.*step));
      }
    }
    for (const std::int64_t start : starts) {
      for (std::int64_t lane = 0; lane < run; lane += lanes) {
        offsets_.push_back(start + std::min(lane, run - lanes) * tile.element_bytes);
      }
    }
  }

  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  Access access(std::size_t i) const { return {.lane = 0, .lanes = lanes_, .offset = offsets_[i]}; }

 private:
  int lanes_;
  std::vector<std::int64_t> offsets_;
};

// The input's offsets of the tile's elements, by those in the output.
std::map<std::int64_t, std::int64_t> origins(const Tile& tile) {
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets{{0, 0}};
  for (const TileMode& mode : tile.modes) {
    const std::size_t inner = offsets.size();
    for (std::int64_t i = 1; i < mode.tile; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        offsets.emplace_back(offsets[k].first + i * mode.out_step,
                             offsets[k].second + i * mode.in_step);
      }
    }
  }
  return {offsets.begin(), offsets.end()};
}

class GatherEmitter {
 public:
  GatherEmitter(const Tile& tile, int lanes)
      : bytes_(tile.element_bytes),
        lanes_(lanes),
        origins_(origins(tile)),
        in_(tile, tile.in_order, &TileMode::in_step, lanes),
        out_(tile, tile.out_order, &TileMode::out_step, lanes),
        emitter_(lanes, tile.element_bytes) {}

  Program emit() && {
    for (std::size_t i = 0; i < in_.offsets().size(); ++i) {
      loaded_.push_back(emitter_.load({in_.access(i)}));
    }
    for (std::size_t i = 0; i < out_.offsets().size(); ++i) {
      emitter_.store(gather(out_.offsets()[i]), out_.access(i));
    }
    return std::move(emitter_).take();
  }

 private:
  // The lane of a loaded register that holds what belongs to a lane of a stored one.
  int lane_in(std::size_t loaded, std::int64_t out_offset, int lane) const {
    const std::int64_t origin = origins_.at(out_offset + lane * bytes_);
    const std::int64_t distance = origin - in_.offsets()[loaded];
    // Rows that lie one over the other may begin inside each other's elements.
    if (distance < 0 || distance >= lanes_ * bytes_ || distance % bytes_ != 0) return kUndefined;
    return static_cast<int>(distance / bytes_);
  }

  // Each source brings its lanes into what those before it have made.
  int gather(std::int64_t out_offset) {
    std::vector<int> missing(at(lanes_));
    std::iota(missing.begin(), missing.end(), 0);
    std::vector<int> index(at(lanes_), kUndefined);
    int sum = kNoRegister;
    for (int sources = 0; !missing.empty(); ++sources) {
      const std::size_t source = most_useful(out_offset, missing);
      if (sources > 1) {
        for (std::size_t i = 0; i < index.size(); ++i) {
          if (index[i] != kUndefined) index[i] = static_cast<int>(i);
        }
      }
      std::erase_if(missing, [&](int lane) {
        const int from = lane_in(source, out_offset, lane);
        if (from != kUndefined) index[at(lane)] = from + (sources == 0 ? 0 : lanes_);
        return from != kUndefined;
      });
      if (sources > 0) {
        sum = emitter_.shuffle(sum, loaded_[source], index);
      } else {
        sum = missing.empty() ? emitter_.self_shuffle(loaded_[source], index) : loaded_[source];
      }
    }
    return sum;
  }

  // The loaded register that holds most of the missing lanes.
  std::size_t most_useful(std::int64_t out_offset, std::span<const int> missing) const {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      const std::ptrdiff_t useful = std::ranges::count_if(
          missing, [&](int lane) { return lane_in(i, out_offset, lane) != kUndefined; });
      if (useful > most) {
        best = i;
        most = useful;
      }
    }
    if (most == 0) throw std::logic_error("no loaded register holds a lane of a stored one");
    return best;
  }

  std::int64_t bytes_;
  int lanes_;
  std::map<std::int64_t, std::int64_t> origins_;
  Runs in_;
  Runs out_;
  Emitter emitter_;
  std::vector<int> loaded_;
};

}  // namespace

Program permute_by_butterfly(const Tile& tile, const Butterfly& butterfly, const LaneBits& lanes) {
  return ButterflyEmitter(tile, butterfly, lanes).emit();
}

Program permute_by_gathering(const Tile& tile, int lanes) {
  return GatherEmitter(tile, lanes).emit();
}

}  // namespace ttlg::shuffle
