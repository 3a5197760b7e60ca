// Every stored register straight from the loaded ones: the fewest accesses where extents are small
// and no powers of two.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"

namespace ttlg::shuffle {

// Where a lane comes from: which load, and which lane of it.
struct Origin {
  int load;
  int lane;
};

// Whole registers on both sides of a tile. The last one of a run may lie over the one before.
struct Gathering {
  std::vector<std::int64_t> loads;   // offsets in the input
  std::vector<std::int64_t> stores;  // and in the output
  std::vector<Origin> origins;       // of all lanes of the stored registers, one after another
};

// The offsets of the tile's elements in the output, in order, each with the one in the input.
std::vector<std::pair<std::int64_t, std::int64_t>> list_elements(const Tile& tile);

// `tile` must have runs of that many lanes or more on either side; those of the input may leave out
// up to `gap` bytes between elements, which are loaded with them.
Gathering gather(const Tile& tile, int lanes, std::int64_t gap = 0);

// A stored register's shuffles bring in one loaded register after another.
Program permute_by_gathering(const Tile& tile, int lanes, std::int64_t gap = 0);

}  // namespace ttlg::shuffle
