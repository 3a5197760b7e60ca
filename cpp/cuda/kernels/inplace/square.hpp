// Square matrices in place: a thread block exchanges a tile with the one on the other side of the
// diagonal (Gorawski and Lorek, Listings 2 to 5), both through shared memory. Tiles are filled and
// drained as those of Orthogonal-Distinct, which says why neither meets bank conflicts. A tile on
// the diagonal is its own partner.
//
// No block loads a byte that another one stores.
#pragma once

#include "cuda/kernels/distinct_drain.hpp"
#include "cuda/kernels/distinct_fill.hpp"
#include "cuda/kernels/inplace/matrices.hpp"
#include "tensor/schemes.hpp"

namespace ttlg::cuda {

// Which tiles a launch visits: those on and below the diagonal in the order of an enumeration
// scheme, or a square region of them all, whose blocks above the diagonal have nothing to do.
struct TileOrder {
  // Of the entries below the diagonal of a matrix with one row of tiles more.
  Enumeration<std::uint32_t> scheme;
  bool is_region;
  FastDivisor32 region;  // its order, in tiles
  std::uint32_t first_x;
  std::uint32_t first_y;

  TTLG_DEVICE Entry<std::uint32_t> at(std::uint32_t k) const {
    if (is_region) {
      const std::uint32_t y = region.quotient(k);
      return {first_x + k - y * region.divisor(), first_y + y};
    }
    const Entry<std::uint32_t> entry = scheme.at(k);
    return {entry.x, entry.y - 1};
  }
};

struct SquareArguments {
  SquareMatrices matrices;
  std::uint32_t order;   // in elements
  FastDivisor32 visits;  // thread blocks of a matrix
  TileOrder tiles;
};

// A tile and the one on the other side of the diagonal, in as many parts as tiles of
// Orthogonal-Distinct make them square.
template <int kWidth, bool kVector>
class TilePair {
 public:
  static constexpr auto kOrder = static_cast<std::uint32_t>(SquarePolicy(kWidth).tile_order);

  TTLG_DEVICE TilePair(const SquareArguments& p, const Entry<std::uint32_t>& tile)
      : order_(p.order), row_stride_(p.matrices.row_stride), tile_(tile) {}

  // Whether the tile is in the matrix, and not above its diagonal.
  TTLG_DEVICE bool exists() const { return tile_.x <= tile_.y && tile_.y <= (order_ - 1) / kOrder; }

  // Copies them to their buffers.
  template <typename Context>
  TTLG_DEVICE void fill(const Context& context) const {
    const std::uint32_t owned = FillShare<kWidth, kVector>::owned(context.thread());
    const auto offset_in = [&](const TilePosition& part) {
      // Beyond the last row, the first one is filled in again.
      const std::uint32_t row = Tile::kOutWords && owned >= part.rows ? 0 : owned;
      return (part.first_row + row) * row_stride_;
    };
    for_each_part([&](const TilePosition& part, std::uint32_t buffer) {
      if constexpr (Tile::kInWords) {
        fill_words<kWidth, kVector, true>(context, part, offset_in(part), buffer);
      } else {
        fill_tile<kWidth, kVector, kVector>(ContiguousLine{}, context, part, offset_in(part),
                                            buffer);
      }
    });
    if constexpr (Tile::kInWords) {
      for_each_part([&](const TilePosition& part, std::uint32_t buffer) {
        // [budget: 4 times] Tiles of 2-byte elements have two parts.
        fill_row_begins<kWidth, kVector>(context, part, offset_in(part), buffer);
      });
    }
  }

  // Writes the transpose of each to where the other was.
  template <typename Context>
  TTLG_DEVICE void drain(const Context& context) const {
    const std::uint32_t owned = DrainShare<kWidth, kVector, kVector>::owned(context.thread());
    for_each_part([&](const TilePosition& part, std::uint32_t buffer) {
      const std::int64_t offset = (part.first_column + owned) * row_stride_;
      if constexpr (Tile::kOutWords) {
        drain_words(context, part, offset, buffer);
      } else {
        drain_tile<kWidth, kVector, kVector>(ContiguousLine{}, context, part, offset, buffer);
      }
    });
  }

 private:
  using Tile = DistinctTile<kWidth, kVector, kVector>;

  // Calls visit(part, its buffer) for those that begin inside the matrix.
  template <typename Visit>
  TTLG_DEVICE void for_each_part(const Visit& visit) const {
    constexpr std::uint32_t kAcross = kOrder / Tile::kColumns;
    constexpr std::uint32_t kParts = kOrder / Tile::kRows * kAcross;
    const std::uint32_t parts = tile_.x == tile_.y ? kParts : 2 * kParts;
    TTLG_UNROLL_BY(1)
    for (std::uint32_t i = 0; i < parts; ++i) {
      const bool is_above = i >= kParts;
      const std::uint32_t row =
          (is_above ? tile_.x : tile_.y) * kOrder + i % kParts / kAcross * Tile::kRows;
      const std::uint32_t column =
          (is_above ? tile_.y : tile_.x) * kOrder + i % kAcross * Tile::kColumns;
      if (row >= order_ || column >= order_) continue;
      visit(TilePosition{0, 0, row, column, minimum(order_ - row, Tile::kRows),
                         minimum(order_ - column, Tile::kColumns)},
            i * OrthogonalDistinctPolicy(kWidth).buffer_bytes);
    }
  }

  static TTLG_DEVICE std::uint32_t minimum(std::uint32_t x, std::uint32_t y) {
    return x < y ? x : y;
  }

  std::uint32_t order_;
  std::int64_t row_stride_;
  Entry<std::uint32_t> tile_;
};

template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE void square(const SquareArguments& p, const Context& context) {
  const std::uint32_t matrix = p.visits.quotient(context.block());
  // [budget: 0 times] The estimate of the row is right.
  const auto tile = p.tiles.at(context.block() - matrix * p.visits.divisor());
  if (tile.x > tile.y) return;
  const TilePair<kWidth, kVector> tiles(p, tile);
  const std::int64_t origin = p.matrices.offset(matrix);
  const Context in_matrix = context.at(origin, origin);
  tiles.fill(in_matrix);
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  tiles.drain(in_matrix);
}

}  // namespace ttlg::cuda
