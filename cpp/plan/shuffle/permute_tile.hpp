// The butterfly of GenTT, section 4.2: which bits of a tile's elements count the lanes of its
// registers, from the loaded ones to the stored ones; and its program.
#pragma once

#include <vector>

#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"

namespace ttlg::shuffle {

// In every step pairs of registers exchange halves of their lanes: a bit that told the registers of
// a pair apart comes to count lanes, and one that did leaves.
struct Step {
  int coming;
  int leaving;
  std::vector<int> lanes;  // the bits that count the lanes after the step, the lowest first

  bool operator==(const Step&) const = default;
};

struct Butterfly {
  std::vector<int> loaded;  // the bits that count the lanes of a loaded register
  // The bits of `loaded` in the order in which the steps find them.
  std::vector<int> first;
  std::vector<Step> steps;

  const std::vector<int>& stored() const { return steps.empty() ? first : steps.back().lanes; }
};

// Recognises the pattern. Registers have 2^lane_bits lanes. The lowest of their bits are those of
// rows when loaded, of columns when stored; where a tile has fewer row_bits or column_bits, the
// upper ones count pieces of a register that lie apart in memory.
//
// A step inside a group of 2^group_bits lanes moves the group's highest bit out and brings the new
// one to any place, which is what unpack and zip instructions do. A step across groups exchanges
// whole ones. What these cannot do is left to the order of the lanes before the first step, where
// the paper has it in the last one (section 4.3): the bits that will leave lie above those that
// stay.
Butterfly make_butterfly(const Tile& tile, int lane_bits, int row_bits, int column_bits,
                         int group_bits);

// How a tile's elements lie in registers: a row is 2^row_bits lanes of a loaded register, a column
// 2^column_bits of a stored one.
struct LaneBits {
  int all;
  int rows;
  int columns;
};

// Loads, the butterfly's steps, stores. Registers that hold nothing but padding are never made, and
// a shuffle with one of them needs its other source alone (GenTT, section 5.3). A register whose
// elements are not where the butterfly has them is spread after its load, and brought together
// before its store (section 5.2). Every store writes elements of the tile only; loads stay between
// the tile's first byte and its last.
Program permute_by_butterfly(const Tile& tile, const Butterfly& butterfly, const LaneBits& lanes);

}  // namespace ttlg::shuffle
