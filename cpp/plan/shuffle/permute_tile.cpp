#include "plan/shuffle/permute_tile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

#include "plan/shuffle/emitter.hpp"
#include "tensor/integer.hpp"

namespace ttlg::shuffle {
namespace {

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

Program permute_by_butterfly(const Tile& tile, const Butterfly& butterfly, const LaneBits& lanes) {
  return ButterflyEmitter(tile, butterfly, lanes).emit();
}

}  // namespace ttlg::shuffle
