// The program of a butterfly.
#pragma once

#include "plan/shuffle/butterfly.hpp"
#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"

namespace ttlg::shuffle {

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
