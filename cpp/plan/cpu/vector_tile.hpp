// Tiles whose rows and columns fill vectors of a SIMD level and have indices in common. Their
// extents are powers of two, so that the butterfly of GenTT, section 4.2, moves them, by code that
// is generated when the library is built.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/lane_map.hpp"
#include "plan/shuffle/tile.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct VectorTile {
  LaneMap map;
  std::vector<std::int64_t> tile;            // extents, one for each mode of the block
  std::vector<std::int64_t> loads;           // offsets of vectors in the input
  std::vector<std::int64_t> out_stores;      // in the output
  std::vector<std::int64_t> staging_stores;  // and in the staging buffer
};

// Those of vectors of 16, 32 and 64 bytes.
using VectorTiles = std::array<std::optional<VectorTile>, 3>;

// The tile as extents of the folded problem's modes; empty if there is none, if blocks of `extents`
// do not hold it, or if there is no code for it.
std::vector<std::int64_t> vector_tile(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes);

// Those of a block, which has these extents of the problem.
VectorTiles make_vector_tiles(const Problem& folded, const Block& block,
                              std::span<const std::int64_t> extents);

// Offsets of vectors that bits of indices number, the lowest first.
std::vector<std::int64_t> bit_offsets(const Block& block, std::span<const shuffle::Bit> bits,
                                      std::int64_t BlockMode::* step);

}  // namespace ttlg::cpu
