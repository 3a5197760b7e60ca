// Tiles whose rows and columns fill vectors of a SIMD level and have indices in common. Their
// extents are powers of two, so that the butterfly of GenTT, section 4.2, moves them, by code that
// is generated when the library is built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/lane_map.hpp"
#include "plan/shuffle/tile.hpp"

namespace ttlg::cpu {

struct VectorTile {
  LaneMap map;
  std::vector<std::int64_t> tile;            // extents, one for each mode of the block
  std::vector<std::int64_t> loads;           // offsets of vectors in the input
  std::vector<std::int64_t> out_stores;      // in the output
  std::vector<std::int64_t> staging_stores;  // and in the staging buffer
};

// That of a block, with these extents of its modes, in vectors of 2^bits elements.
VectorTile make_vector_tile(const Block& block, std::vector<std::int64_t> tile, int bits);

// Offsets of vectors that bits of indices number, the lowest first.
std::vector<std::int64_t> bit_offsets(const Block& block, std::span<const shuffle::Bit> bits,
                                      std::int64_t BlockMode::* step);

}  // namespace ttlg::cpu
