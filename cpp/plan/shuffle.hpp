// The shuffle program: how a small tile is permuted inside 16-byte vectors (GenTT, requirements
// G-04 to G-11 and G-19). It is data: which vectors are loaded, which bytes of which vectors make
// up the next ones, where the last ones are stored. One interpreter a SIMD level carries any
// program out, on one tile in every 16-byte lane of its vectors.
//
// Where GenTT pads extents that are no power of two (G-13, G-16 to G-18), vectors here overlap
// instead: a run of 20 bytes is loaded and stored as bytes 0..15 and 4..19. Nothing outside the
// tile is read or written, so no store needs protection.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/block.hpp"

namespace ttlg {

inline constexpr std::int64_t kLaneBytes = 16;
inline constexpr int kMaxTileVectors = 64;

struct Shuffle {
  // Byte i of a vector is byte bytes[i] of the source, or 0 where bytes[i] is kNone.
  static constexpr std::uint8_t kNone = 0x80;
  struct Term {
    std::uint8_t source;
    alignas(kLaneBytes) std::array<std::uint8_t, kLaneBytes> bytes;
  };
  // One vector: its terms combined with OR.
  struct Sum {
    std::uint8_t target;
    std::uint8_t terms;
  };
  std::vector<std::int64_t> tile;          // extents, one for each mode of the block
  std::vector<std::int64_t> loads;         // offsets in the input; they fill vectors 0, 1, ...
  std::vector<Sum> sums;                   // in order; the terms of each follow one another
  std::vector<Term> terms;
  std::vector<std::uint8_t> results;       // the vectors to store
  std::vector<std::int64_t> out_stores;    // their offsets in the output
  std::vector<std::int64_t> stage_stores;  // and in the staging buffer
  int steps = 0;                           // shuffles between a load and its store
};

// The least tile whose runs fill vectors on both sides, as extents of the folded problem's modes;
// empty if there is none that fits in the registers.
std::vector<std::int64_t> shuffle_tile(const Problem& folded);

// The program for tiles of these extents, one for each mode of the block.
Shuffle make_shuffle(const Block& block, std::vector<std::int64_t> tile,
                     std::int64_t element_bytes);

}  // namespace ttlg
