// The shuffle program: how a small tile is permuted inside 16-byte vectors (GenTT, section 4). The
// passes of plan/shuffle make it; here it is lowered to tables: which vectors are loaded, how they
// become the stored ones, where those go. One interpreter a SIMD level carries any of them out, on
// one tile in every 16-byte lane of its vectors; for a few, a level has generated code instead.
//
// Where GenTT, sections 5.1 to 5.3, pads extents that are no power of two, vectors here overlap
// instead: a run of 20 bytes is loaded and stored as bytes 0..15 and 4..19. Nothing outside the
// tile is read or written, so no store needs protection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/shuffle_tile.hpp"
#include "plan/shuffle/program.hpp"

namespace ttlg::cpu {

// What permutes the bytes of a vector: byte i becomes byte [i], or 0 where that is kNoByte.
using ByteIndices = std::array<std::uint8_t, kLaneBytes>;
inline constexpr std::uint8_t kNoByte = 0x80;

struct ShuffleTables {
  struct Term {
    std::uint8_t source;  // a loaded vector
    alignas(kLaneBytes) ByteIndices bytes;
  };
  std::vector<std::int64_t> tile;            // extents, one for each mode of the block
  std::vector<std::int64_t> loads;           // offsets in the input
  std::vector<std::int64_t> out_stores;      // offsets in the output
  std::vector<std::int64_t> staging_stores;  // and in the staging buffer
  // Tiles of powers of two: the bytes of every loaded vector are permuted; then each round
  // interleaves vector i of n with vector i + n/2, that many bytes of the one after as many of the
  // other, into vectors 2i and 2i + 1. Both are empty in other programs.
  alignas(kLaneBytes) ByteIndices first{};
  std::vector<std::uint8_t> rounds;
  // Any other tile: each stored vector is that many terms combined with OR.
  std::vector<std::uint8_t> sums;
  std::vector<Term> terms;
  // The modes along which the tiles in neighbouring lanes follow one another: the first between the
  // lanes of a pair, the second between pairs.
  std::array<std::size_t, 2> lane_modes{};
};

// The program for tiles of these extents, one for each mode of the block.
ShuffleTables make_shuffle_tables(const Block& block, std::vector<std::int64_t> tile,
                                  std::int64_t element_bytes);

// The program of such tiles in the intermediate representation, for people to read.
shuffle::Program make_program(const Block& block, std::span<const std::int64_t> tile,
                              std::int64_t element_bytes);

}  // namespace ttlg::cpu
