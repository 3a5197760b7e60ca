// Which code moves a block: chosen here alone, for the time model, the plan, the executor and
// explain().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/channels.hpp"
#include "plan/cpu/shuffle_tables.hpp"
#include "plan/cpu/vector_tile.hpp"
#include "plan/cpu/window.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// A block takes the first that it is large enough for: those at the end of an array may be narrower
// than others. Windows of repeated elements come before all.
enum class Mover : std::uint8_t {
  channels,     // code that is generated for structures of a few elements
  vector_tile,  // code that is generated for tiles of a level's whole vectors
  window,       // one shuffle for one vector after another
  program,      // a shuffle program, interpreted in every 16-byte lane
  block_kernel  // one of the dispatch table's, as for every kernel but `shuffle`
};

// What moves blocks of `shuffle`, and the extents of the folded problem's modes that it moves at
// once: a tile's, or those of single elements. Generated code loads and stores every vector of
// elements once, but where it takes some channels alone; of a window, stores are counted alone.
struct ShuffleMover {
  Mover mover;
  std::vector<std::int64_t> tile;
  double moves = 2;
};

// That of whole blocks of these extents, in vectors of that many bytes.
ShuffleMover choose_mover(const Problem& folded, std::span<const std::int64_t> extents,
                          std::int64_t vector_bytes);

// What may move the blocks of a plan at any SIMD level, with its tables; all empty where that is a
// block kernel alone.
struct Movers {
  std::optional<ChannelBlock> channels{};
  std::array<std::optional<VectorTile>, 3> vector_tiles{};  // of vectors of 16, 32 and 64 bytes
  std::array<std::optional<Window>, 3> windows{};           // likewise
  ShuffleTables program{};

  // That of vectors with this number of lanes.
  const std::optional<VectorTile>& vector_tile(int lanes) const {
    return vector_tiles[static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(lanes)))];
  }

  // The longest window, in vectors of up to this number of lanes, that a block of these extents
  // holds; null where there is none.
  const Window* window(std::span<const std::int64_t> extents, int lanes) const;

  // What moves a block that has these extents of the plan's block, at a level whose code for the
  // channels takes no fewer structures than that.
  Mover choose(std::span<const std::int64_t> extents, int lanes,
               std::int64_t least_structures) const;
};

// Throws std::invalid_argument where blocks of these extents hold no tile of the program.
Movers make_movers(const Problem& folded, const Block& block,
                   std::span<const std::int64_t> extents);

}  // namespace ttlg::cpu
