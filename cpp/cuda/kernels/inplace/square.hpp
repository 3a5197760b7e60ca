// Square matrices in place: a thread block exchanges a tile with the one on the other side of the
// diagonal (Gorawski and Lorek, Listings 2 to 5), both through shared memory. Tiles are filled and
// drained as those of Orthogonal-Distinct, which says why neither meets bank conflicts. A tile on
// the diagonal is its own partner.
//
// No block loads a byte that another one stores.
#pragma once

#include "cuda/kernels/distinct_drain.hpp"
#include "cuda/kernels/distinct_fill.hpp"
#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/inplace/schemes.hpp"

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
    const Entry<std::uint32_t> entry =
        scheme.at<Scheme::v1b, Scheme::v1, Scheme::v1r, Scheme::v2>(k);
    return {entry.x, entry.y - 1};
  }
};

// How a block of another number of threads than SquarePolicy::kThreads, a group, takes tiles.
// Several groups share out the parts of a pair of tiles, or take several pairs where there are more
// groups than parts; fewer threads than a group do the others' work after their own.
struct BlockShares {
  std::uint32_t threads;
  std::uint32_t groups_shift;  // the logarithm of the groups of a pair
  std::uint32_t pairs_shift;   // and of the pairs of a block
};

struct SquareArguments {
  SquareMatrices matrices;
  std::uint32_t order;   // in elements
  FastDivisor32 visits;  // tiles of a matrix that are visited
  std::uint32_t count;   // those of all matrices of a launch
  TileOrder tiles;
  BlockShares shares;
};

// The context of what another thread of a block has to do, a lane of the same number.
template <typename Context>
class ThreadShare : public Context {
 public:
  TTLG_DEVICE ThreadShare(const Context& context, std::uint32_t thread)
      : Context(context), thread_(thread) {}

  TTLG_DEVICE ThreadShare at(std::int64_t in, std::int64_t out) const {
    return {Context::at(in, out), thread_};
  }
  TTLG_DEVICE std::uint32_t thread() const { return thread_; }

 private:
  std::uint32_t thread_;
};

// A tile and the one on the other side of the diagonal, in as many parts as tiles of
// Orthogonal-Distinct make them square.
template <int kWidth, bool kVector>
class TilePair {
 public:
  static constexpr auto kOrder = static_cast<std::uint32_t>(SquarePolicy(kWidth).tile_order);

  // All parts of the tiles, or those from `first_part` on at these steps.
  TTLG_DEVICE TilePair(const SquareArguments& p, const Entry<std::uint32_t>& tile,
                       std::uint32_t first_part = 0, std::uint32_t step = 1)
      : order_(p.order),
        row_stride_(p.matrices.row_stride),
        tile_(tile),
        first_part_(first_part),
        step_(step) {}

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
    for (std::uint32_t i = first_part_; i < parts; i += step_) {
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
  std::uint32_t first_part_;
  std::uint32_t step_;
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

// Transposes a pair of tiles by any number of threads from 64 to 1024.
template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE void square_any_threads(const SquareArguments& p, const Context& context) {
  constexpr std::uint32_t kThreads = SquarePolicy::kThreads;
  const BlockShares& shares = p.shares;
  const std::uint32_t group = context.thread() / kThreads;
  const std::uint32_t pair = group >> shares.groups_shift;
  const std::uint32_t visit = (context.block() << shares.pairs_shift) + pair;
  const bool exists = visit < p.count;
  const std::uint32_t number = exists ? visit : 0;
  const std::uint32_t matrix = p.visits.quotient(number);
  // [budget: 0 times] The estimate of the row is right.
  const auto tile = p.tiles.at(number - matrix * p.visits.divisor());
  const std::uint32_t groups = 1U << shares.groups_shift;
  const TilePair<kWidth, kVector> tiles(p, tile, group & (groups - 1), groups);
  const std::int64_t origin = p.matrices.offset(matrix);
  const Context own =
      context.at(origin, origin).at_shared(pair * 2 * SquarePolicy(kWidth).tile_bytes);
  const auto for_each_share = [&](const auto& take) {
    if (!exists || tile.x > tile.y) return;
    TTLG_UNROLL_BY(1)
    // [budget: once] A group of threads.
    for (std::uint32_t thread = context.thread() % kThreads; thread < kThreads;
         thread += shares.threads) {
      take(ThreadShare(own, thread));
    }
  };
  for_each_share([&](const auto& share) { tiles.fill(share); });
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  for_each_share([&](const auto& share) { tiles.drain(share); });
}

}  // namespace ttlg::cuda
