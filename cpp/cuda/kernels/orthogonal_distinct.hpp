// Orthogonal-Distinct (TTLG, Alg. 2): the combined fastest modes of the
// input (columns) and of the output (rows) have none in common, so a slice is a matrix, which moves
// tile by tile through shared memory.
#pragma once

#include "cuda/kernels/distinct_drain.hpp"
#include "cuda/kernels/distinct_fill.hpp"

namespace ttlg::cuda {

// The tiles of a thread block's slices, announced through the ring.
template <int kWidth, int kModes, typename Context>
class SharedTileWalk {
 public:
  TTLG_DEVICE SharedTileWalk(const Grid<kModes>& grid, const DistinctArguments& p,
                             const Context& context)
      : slice_(grid, p.coarsening, context), shape_(p.shape), context_(context) {
    // [budget: first warp]
    announce(0);
  }

  // Tile number `i`, the one after that announced last.
  TTLG_DEVICE void announce(std::uint32_t i) {
    if (!writes_ring(context_)) return;
    const BlockOrigin slice = slice_.at_in_bands();
    const std::uint32_t rows = shape_.rows_at(slice) - row_;
    const std::uint32_t columns = shape_.columns_at(slice) - column_;
    write_ring(context_, i,
               {origins_word(slice.in, slice.out),
                {{row_, column_, slice_.exists() ? min(rows, kRows) : 0, min(columns, kColumns)}}});
    column_ += kColumns;
    if (columns > kColumns) return;
    column_ = 0;
    row_ += kRows;
    if (rows > kRows) return;
    row_ = 0;
    slice_.advance(context_);
  }

  TTLG_DEVICE bool exists(std::uint32_t i) const {
    return read_ring(context_, i).rest.part[2] != 0;
  }
  TTLG_DEVICE TilePosition at(std::uint32_t i) const {
    const auto [origins, rest] = read_ring(context_, i);
    return {origin_of(origins, 0), origin_of(origins, 1), rest.part[0],
            rest.part[1],          rest.part[2],          rest.part[3]};
  }

 private:
  static constexpr std::uint32_t kRows = OrthogonalDistinctPolicy(kWidth).tile_rows;
  static constexpr std::uint32_t kColumns = OrthogonalDistinctPolicy(kWidth).tile_columns;
  static TTLG_DEVICE std::uint32_t min(std::uint32_t x, std::uint32_t y) { return x < y ? x : y; }

  SliceCursor<kModes> slice_;
  const SliceExtents& shape_;
  const Context& context_;
  std::uint32_t row_ = 0;
  std::uint32_t column_ = 0;
};

// Where the line begins that a lane owns, for tiles at one place of their slices: most slices are a
// single tile.
class OwnedLine {
 public:
  TTLG_DEVICE OwnedLine(const AxisSide<std::int64_t>& axis, std::uint32_t owned)
      : axis_(axis), owned_(owned) {}

  TTLG_DEVICE std::int64_t offset_at(std::uint32_t first) {
    if (first != first_) {
      first_ = first;
      offset_ = axis_.offset(first_ + owned_);
    }
    return offset_;
  }

 private:
  const AxisSide<std::int64_t>& axis_;
  std::uint32_t owned_;
  std::uint32_t first_ = UINT32_MAX;
  std::int64_t offset_ = 0;
};

// Vectors are contiguous; so are elements but those of views with gaps. The compiler is not to
// write the loop over tiles once for each.
TTLG_DEVICE bool is_contiguous(const AxisSide<std::int64_t>& line, int width) {
  return opaque(std::uint32_t{line.is_contiguous(width)}) != 0;
}

template <int kWidth, bool kVectorIn, bool kVectorOut, typename Context>
TTLG_DEVICE void fill(const DistinctArguments& p, const Context& context, const TilePosition& tile,
                      OwnedLine& line, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorIn, kVectorOut>;
  const std::uint32_t owned = FillShare<kWidth, kVectorIn>::owned(context.thread());
  std::int64_t offset = line.offset_at(tile.first_row);
  // Beyond the last row, that in which the slice begins is filled in again.
  if (Tile::kOutWords && owned >= tile.rows) offset = 0;
  if constexpr (Tile::kInWords) {
    if (is_contiguous(p.column_in, kWidth)) {
      fill_words<kWidth, kVectorOut, false>(context, tile, offset, buffer);
    } else {
      // [budget: rare] Lines with gaps between the elements, of 1 and 2 bytes.
      fill_elements<kWidth, kVectorOut>(p.column_in, context, tile, offset, buffer);
    }
  } else if (kIsVector<kWidth, kVectorIn> || is_contiguous(p.column_in, kWidth)) {
    fill_tile<kWidth, kVectorIn, kVectorOut>(ContiguousLine{}, context, tile, offset, buffer);
  } else {
    fill_tile<kWidth, kVectorIn, kVectorOut>(p.column_in, context, tile, offset, buffer);
  }
}

template <int kWidth, bool kVectorIn, bool kVectorOut, typename Context>
TTLG_DEVICE void drain(const DistinctArguments& p, const Context& context, const TilePosition& tile,
                       OwnedLine& line, std::uint32_t buffer) {
  const std::int64_t offset = line.offset_at(tile.first_column);
  if constexpr (DistinctTile<kWidth, kVectorIn, kVectorOut>::kOutWords) {
    if (is_contiguous(p.row_out, kWidth)) {
      drain_words(context, tile, offset, buffer);
    } else {
      // [budget: rare] Lines with gaps between the elements, of 1 and 2 bytes.
      drain_elements(p.row_out, context, tile, offset, buffer);
    }
  } else if (kIsVector<kWidth, kVectorOut> || is_contiguous(p.row_out, kWidth)) {
    drain_tile<kWidth, kVectorIn, kVectorOut>(ContiguousLine{}, context, tile, offset, buffer);
  } else {
    drain_tile<kWidth, kVectorIn, kVectorOut>(p.row_out, context, tile, offset, buffer);
  }
}

// With two buffers a tile is on its way while the one before it is drained.
template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes, typename Context>
TTLG_DEVICE void orthogonal_distinct(const Grid<kModes>& grid, const DistinctArguments& p,
                                     const Context& context) {
  OwnedLine row(p.row_in, FillShare<kWidth, kVectorIn>::owned(context.thread()));
  OwnedLine column(p.column_out,
                   DrainShare<kWidth, kVectorIn, kVectorOut>::owned(context.thread()));
  SharedTileWalk<kWidth, kModes, Context> walk(grid, p, context);
  const Context buffers = context.at_shared(kRingBytes);
  std::uint32_t filled = 0;  // tiles
  bool drains = false;       // whether the last of them is in its buffer, or on its way there
  std::uint32_t buffer = 0;
  while (true) {
    context.template wait_copies<0>();
    // What was filled is there, and what was drained is free.
    context.barrier();
    const bool exists = walk.exists(filled);
    const std::uint32_t full = buffer;
    // With a single buffer, filling and draining take turns.
    const bool fills = exists && !(drains && p.second_buffer == 0);
    if (fills) {
      buffer ^= p.second_buffer;
      fill<kWidth, kVectorIn, kVectorOut>(p, buffers, walk.at(filled), row, buffer);
      context.commit_copies();
      // [budget: first warp]
      walk.announce(filled + 1);
    }
    if (drains) {
      drain<kWidth, kVectorIn, kVectorOut>(p, buffers, walk.at(filled - 1), column, full);
    }
    if (!exists) return;
    filled += fills;
    drains = fills;
  }
}

}  // namespace ttlg::cuda
