// The order in which the tiles of a block are moved, as lists of their origins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/kernels.hpp"
#include "tensor/axes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

// A mode of a block, and how many of its elements a tile has.
struct TiledMode {
  std::int64_t extent;
  std::int64_t tile;
  std::int64_t in_step;
  std::int64_t out_step;
};

// Tiles that cover a block, those along its first mode one after another. The last tile along a
// mode is moved back until it fits. The block is cut into parts alike, whose tiles are listed once:
// to step through short modes tile by tile takes longer than to move small tiles.
class TileWalk {
 public:
  explicit TileWalk(std::span<const TiledMode> modes) {
    origins_[0] = {.in = 0, .out = 0};
    for (const TiledMode& mode : modes) add(mode);
  }

  // Calls move(part, origins) for all parts, with the origins of tiles as seen from the part.
  template <typename Move>
  void for_each_part(const Move& move) const {
    std::array<std::int64_t, kMaxRank> at;
    std::fill_n(at.begin(), loops_, 0);
    TileOrigin part{.in = 0, .out = 0};
    std::size_t k = 0;
    do {
      move(part, std::span(origins_).first(count_));
      for (k = 0; k < loops_; ++k) {
        const Loop& loop = loop_[k];
        const std::int64_t next = at[k] == loop.last ? 0 : std::min(at[k] + loop.step, loop.last);
        part.in += (next - at[k]) * loop.in_step;
        part.out += (next - at[k]) * loop.out_step;
        at[k] = next;
        if (next != 0) break;
      }
    } while (k < loops_);
  }

 private:
  static constexpr std::int64_t kMaxListed = 64;

  struct Loop {
    std::int64_t step;
    std::int64_t last;
    std::int64_t in_step;
    std::int64_t out_step;
  };

  void add(const TiledMode& mode) {
    if (mode.extent == mode.tile) return;
    // Mostly extents of two: divisions would take longer than the rest.
    const std::int64_t tiles = mode.extent <= 2 * mode.tile ? 2 : ceil_div(mode.extent, mode.tile);
    const auto count = static_cast<std::int64_t>(count_);
    std::int64_t listed = tiles;
    if (tiles * count > kMaxListed) {
      const std::int64_t parts = ceil_div(tiles, kMaxListed / count);
      listed = ceil_div(tiles, parts);
    }
    TileOrigin* next = origins_.data() + count_;
    for (std::int64_t t = 1; t < listed; ++t) {
      const std::int64_t at = std::min(t * mode.tile, mode.extent - mode.tile);
      const TileOrigin from{.in = at * mode.in_step, .out = at * mode.out_step};
      for (std::size_t i = 0; i < count_; ++i, ++next) {
        *next = {.in = origins_[i].in + from.in, .out = origins_[i].out + from.out};
      }
    }
    count_ *= static_cast<std::size_t>(listed);
    if (listed == tiles) return;
    const std::int64_t step = listed * mode.tile;
    loop_[loops_++] = {.step = step,
                       .last = mode.extent - step,
                       .in_step = mode.in_step,
                       .out_step = mode.out_step};
  }

  std::array<TileOrigin, kMaxListed> origins_;
  std::size_t count_ = 1;
  std::array<Loop, kMaxRank> loop_;
  std::size_t loops_ = 0;
};

}  // namespace ttlg::cpu
