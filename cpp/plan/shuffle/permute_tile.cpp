#include "plan/shuffle/permute_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include "plan/shuffle/emitter.hpp"
#include "tensor/integer.hpp"

namespace ttlg::shuffle {
namespace {

using Bits = std::vector<int>;

bool contains(std::span<const int> bits, int bit) {
  return std::ranges::find(bits, bit) != bits.end();
}

Bits those(std::span<const int> bits, const auto& condition) {
  Bits result;
  std::ranges::copy_if(bits, std::back_inserter(result), condition);
  return result;
}

// Appends bits that are not there yet, until there are that many.
void fill_up(Bits& bits, std::span<const int> more, std::size_t count) {
  for (const int bit : more) {
    if (bits.size() == count) return;
    if (!contains(bits, bit)) bits.push_back(bit);
  }
}

Bits first_of(std::span<const int> bits, int count) {
  const auto taken = bits.first(static_cast<std::size_t>(count));
  return {taken.begin(), taken.end()};
}

// The lanes of loaded registers: a row, and above it the highest bits of the columns, so that few
// pieces make whole registers. Those of stored ones: a column, and above it bits that need not
// leave.
struct Ends {
  Bits loaded;
  Bits stored;
};

Ends find_ends(const Tile& tile, std::size_t lane_bits, int row_bits, int column_bits) {
  Ends ends{first_of(tile.in_bits, row_bits), first_of(tile.out_bits, column_bits)};
  Bits columns = ends.stored;
  std::ranges::reverse(columns);
  fill_up(ends.loaded, columns, lane_bits);
  fill_up(ends.loaded, tile.in_bits, lane_bits);
  fill_up(ends.stored, ends.loaded, lane_bits);
  return ends;
}

// The order that lets every step push out the highest bit of its group: bits that stay, in the
// order in which they will be stored, below bits that leave.
Bits arrange(const Ends& ends, std::size_t group) {
  const auto stay_in = [&](std::span<const int> part) {
    return those(part, [&](int bit) { return contains(ends.loaded, bit); });
  };
  const std::span<const int> stored = ends.stored;
  Bits first = stay_in(stored.first(group));
  const Bits leaving = those(ends.loaded, [&](int bit) { return !contains(ends.stored, bit); });
  fill_up(first, leaving, group);
  for (const int bit : stay_in(stored.subspan(group))) first.push_back(bit);
  fill_up(first, leaving, first.size() + leaving.size());
  return first;
}

// Where a new bit comes to lie so that it and those already there are in the order of `stored`.
std::ptrdiff_t place_of(int coming, std::span<const int> lanes, std::span<const int> stored) {
  const auto before =
      stored.first(static_cast<std::size_t>(std::ranges::find(stored, coming) - stored.begin()));
  return std::ranges::count_if(before, [&](int bit) { return contains(lanes, bit); });
}

using Element = std::uint32_t;

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

class ButterflyEmitter {
 public:
  ButterflyEmitter(const Tile& tile, const Butterfly& butterfly, const LaneBits& bits)
      : tile_(tile),
        butterfly_(butterfly),
        bits_(bits),
        emitter_(1 << bits.all, tile.element_bytes) {
    for (const TileMode& mode : tile.modes) {
      const std::int64_t reach = (mode.tile - 1) * mode.in_step;
      (reach < 0 ? in_begin_ : in_end_) += reach;
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
      const std::size_t before = accesses.size();
      for (int lane = piece; lane < piece + row; ++lane) {
        const Element each = element_at(butterfly_.loaded, lane, element);
        if (!tile_.holds(each)) continue;
        const std::int64_t offset = tile_.in_offset(each);
        if (accesses.size() == before) {
          const std::int64_t late = offset - (in_end_ - row * tile_.element_bytes);
          const std::int64_t back = ceil_div(std::max<std::int64_t>(late, 0), tile_.element_bytes);
          const std::int64_t start = offset - back * tile_.element_bytes;
          if (start < in_begin_) throw std::logic_error("a tile is smaller than a register");
          accesses.push_back({.lane = piece, .lanes = row, .offset = start});
        }
        const std::int64_t distance = offset - accesses.back().offset;
        spread[at(lane)] = piece + static_cast<int>(distance / tile_.element_bytes);
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
  std::int64_t in_begin_ = 0;  // the tile's first byte in the input
  std::int64_t in_end_ = 0;    // and the one after its last
  Emitter emitter_;
  std::map<Element, int> registers_;  // by the bits that do not count lanes
};

}  // namespace

Butterfly make_butterfly(const Tile& tile, int lane_bits, int row_bits, int column_bits,
                         int group_bits) {
  const auto lanes = static_cast<std::size_t>(lane_bits);
  const auto group = static_cast<std::size_t>(std::min(group_bits, lane_bits));
  const Ends ends = find_ends(tile, lanes, row_bits, column_bits);
  Butterfly result{.loaded = ends.loaded, .first = arrange(ends, group), .steps = {}};
  Bits inner(result.first.begin(), result.first.begin() + static_cast<std::ptrdiff_t>(group));
  Bits outer(result.first.begin() + static_cast<std::ptrdiff_t>(group), result.first.end());
  const std::span<const int> stored = ends.stored;
  const auto add = [&](int coming, int leaving) {
    Bits all = inner;
    all.insert(all.end(), outer.begin(), outer.end());
    result.steps.push_back({.coming = coming, .leaving = leaving, .lanes = std::move(all)});
  };
  const auto is_coming = [&](int bit) { return !contains(ends.loaded, bit); };
  Bits coming = those(stored.first(group), is_coming);
  std::ranges::reverse(coming);
  for (const int bit : coming) {
    const int leaving = inner.back();
    inner.pop_back();
    inner.insert(inner.begin() + place_of(bit, inner, stored.first(group)), bit);
    add(bit, leaving);
  }
  coming = those(stored.subspan(group), is_coming);
  for (const int bit : coming) {
    const auto leaving =
        std::ranges::find_if(outer, [&](int each) { return !contains(ends.stored, each); });
    const int left = *leaving;
    outer.erase(leaving);
    outer.push_back(bit);
    // Whatever order that made, the last step sets it right.
    if (bit == coming.back())
      outer.assign(stored.begin() + static_cast<std::ptrdiff_t>(group), stored.end());
    add(bit, left);
  }
  return result;
}

Program permute_by_butterfly(const Tile& tile, const Butterfly& butterfly, const LaneBits& lanes) {
  return ButterflyEmitter(tile, butterfly, lanes).emit();
}

}  // namespace ttlg::shuffle
