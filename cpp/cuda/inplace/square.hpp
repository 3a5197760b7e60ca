// Square matrices in place: a thread block exchanges a tile with the one on the other side of the
// diagonal (Gorawski and Lorek, Listings 2 to 5), both through shared memory. Tiles are filled and
// drained as those of Orthogonal-Distinct, which says why neither meets bank conflicts. A tile on
// the diagonal is its own partner.
//
// No block loads an element that another one stores. Of elements of 1 and 2 bytes it may load
// words in which others lie as well, but takes only its own out of them.
#pragma once

#include "cuda/inplace/matrices.hpp"
#include "cuda/kernels/distinct_drain.hpp"
#include "cuda/kernels/distinct_fill.hpp"
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

// A tile of a matrix, in as many parts as tiles of Orthogonal-Distinct make it square.
template <int kWidth, bool kVector>
class SquareTile {
 public:
  static constexpr auto kOrder = static_cast<std::uint32_t>(SquarePolicy(kWidth).tile_order);

  TTLG_DEVICE SquareTile(const SquareArguments& p, std::uint32_t x, std::uint32_t y)
      : order_(p.order),
        row_stride_(p.matrices.row_stride),
        first_row_(y * kOrder),
        first_column_(x * kOrder) {}

  // Copies the tile to a buffer.
  template <typename Context>
  TTLG_DEVICE void fill(const Context& context, std::uint32_t buffer) const {
    const std::uint32_t owned = FillShare<kWidth, kVector>::owned(context.thread());
    for_each_part(buffer, [&](const TilePlace& part, std::uint32_t at) {
      // Beyond the last row, the first one is filled in again.
      const std::uint32_t row = Tile::kOutWords && owned >= part.rows ? 0 : owned;
      const std::int64_t offset = (part.first_row + row) * row_stride_;
      if constexpr (Tile::kInWords) {
        fill_words<kWidth, kVector>(context, part, offset, at);
      } else {
        fill_tile<kWidth, kVector, kVector>(ContiguousLine{}, context, part, offset, at);
      }
    });
  }

  // Writes its transpose to where that belongs.
  template <typename Context>
  TTLG_DEVICE void drain(const Context& context, std::uint32_t buffer) const {
    const std::uint32_t owned = DrainShare<kWidth, kVector, kVector>::owned(context.thread());
    for_each_part(buffer, [&](const TilePlace& part, std::uint32_t at) {
      const std::int64_t offset = (part.first_column + owned) * row_stride_;
      if constexpr (Tile::kOutWords) {
        drain_words(context, part, offset, at);
      } else {
        drain_tile<kWidth, kVector, kVector>(ContiguousLine{}, context, part, offset, at);
      }
    });
  }

 private:
  using Tile = DistinctTile<kWidth, kVector, kVector>;

  // Calls visit(part, its buffer) for those that begin inside the matrix.
  template <typename Visit>
  TTLG_DEVICE void for_each_part(std::uint32_t buffer, const Visit& visit) const {
    TTLG_UNROLL_BY(1)
    for (std::uint32_t down = 0; down < kOrder; down += Tile::kRows) {
      TTLG_UNROLL_BY(1)
      for (std::uint32_t across = 0; across < kOrder; across += Tile::kColumns) {
        const std::uint32_t row = first_row_ + down;
        const std::uint32_t column = first_column_ + across;
        if (row < order_ && column < order_) {
          visit(TilePlace{0, 0, row, column, least(order_ - row, Tile::kRows),
                          least(order_ - column, Tile::kColumns)},
                buffer);
        }
        buffer += OrthogonalDistinctPolicy(kWidth).buffer_bytes;
      }
    }
  }

  static TTLG_DEVICE std::uint32_t least(std::uint32_t x, std::uint32_t y) { return x < y ? x : y; }

  std::uint32_t order_;
  std::int64_t row_stride_;
  std::uint32_t first_row_;
  std::uint32_t first_column_;
};

template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE void square(const SquareArguments& p, const Context& whole) {
  using Tile = SquareTile<kWidth, kVector>;
  const std::uint32_t matrix = p.visits.quotient(whole.block());
  const auto [x, y] = p.tiles.at(whole.block() - matrix * p.visits.divisor());
  if (x > y || y * std::uint64_t{Tile::kOrder} >= p.order) return;
  const std::int64_t origin = p.matrices.offset(matrix);
  const Context context = whole.at(origin, origin);
  const std::uint32_t second = SquarePolicy(kWidth).tile_bytes;
  const Tile below(p, x, y);
  const Tile above(p, y, x);
  below.fill(context, 0);
  if (x != y) above.fill(context, second);
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  below.drain(context, 0);
  if (x != y) above.drain(context, second);
}

}  // namespace ttlg::cuda
