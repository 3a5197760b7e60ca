// Orthogonal-Distinct (TTLG, Alg. 2): the combined fastest modes of the
// input (columns) and of the output (rows) have none in common, so a slice is a matrix, which moves
// tile by tile through shared memory.
//
// A buffer holds the rows of a tile as they lie in the input, so that they can be copied to it
// asynchronously, 16 bytes at a time where the input allows. A lane takes a few elements of a row
// at once out of it, and of several rows where it writes vectors, and transposes these in
// registers.
//
// No access meets a bank conflict: 16 bytes are skipped after as many rows as a lane takes
// (Alg. 2's padding, for wider words), so that 8 lanes which take from the same columns of
// neighbouring rows find their 16 bytes in different banks, and lanes which take less find their
// parts of the same 16 bytes there.
#pragma once

#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

struct DistinctArguments {
  Coarsening coarsening;
  SliceExtents shape;
  AxisSide<std::int64_t> column_in;
  AxisSide<std::int64_t> column_out;
  AxisSide<std::int64_t> row_in;
  AxisSide<std::int64_t> row_out;
  std::uint32_t second_buffer;  // where it begins; 0 where there is none
};

template <int kWidth, bool kVectorOut>
struct DistinctTile {
  static constexpr std::uint32_t kRows = OrthogonalDistinctPolicy(kWidth).tile_rows;
  static constexpr std::uint32_t kColumns = OrthogonalDistinctPolicy(kWidth).tile_columns;
  static constexpr std::uint32_t kRowBytes = kColumns * kWidth;
  // What a lane takes out of it at once: a part of one row, or for vectors the same of several.
  static constexpr std::uint32_t kPadding = kMaxAccessBytes;
  static constexpr std::uint32_t kVectorElements = kMaxAccessBytes / kWidth;
  static constexpr std::uint32_t kLaneRows = kVectorOut ? kVectorElements : 1;
  static constexpr std::uint32_t kLaneColumns =
      kVectorOut && kVectorElements > 4 ? 4 : kVectorElements;

  // Where an element lies in the buffer.
  static constexpr std::uint32_t offset(std::uint32_t row, std::uint32_t column) {
    return row * kRowBytes + row / kLaneRows * kPadding + column * kWidth;
  }
};

// Where a tile lies, the corner of its slice and what of it there is, counted from that corner.
struct TilePlace {
  std::int64_t in;
  std::int64_t out;
  std::uint32_t first_row;
  std::uint32_t first_column;
  std::uint32_t rows;
  std::uint32_t columns;
};

// The tiles of a thread block's slices, announced through the ring.
template <int kWidth, int kModes, typename Context>
class SharedTileWalk {
 public:
  TTLG_DEVICE SharedTileWalk(const Grid<kModes>& grid, const DistinctArguments& p,
                             const Context& context)
      : slice_(grid, p.coarsening, context), shape_(p.shape), context_(context) {
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
  TTLG_DEVICE TilePlace at(std::uint32_t i) const {
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

// How the warps of a block share a tile, on one side: `kLines` lines of `kLength` elements, of
// which a warp takes a few neighbouring ones. Its lanes lie side by side, kAlong of them on a line,
// and each takes `kLaneLines` x `kLaneLength` elements; they move on across the lines in groups and
// along them in chunks. Where a warp's lines begin is found a line a lane, and passed between the
// lanes: the offset arrays of Alg. 2, without their memory.
template <std::uint32_t kLines, std::uint32_t kLength, std::uint32_t kAlong,
          std::uint32_t kLaneLines, std::uint32_t kLaneLength>
struct WarpShare {
  static constexpr std::uint32_t kWarps = OrthogonalDistinctPolicy::kThreads / kWarpSize;
  static constexpr std::uint32_t kAcross = kWarpSize / kAlong;
  static constexpr std::uint32_t kGroupLines = kAcross * kLaneLines;
  static constexpr std::uint32_t kWarpsAcross =
      kLines / kGroupLines < kWarps ? kLines / kGroupLines : kWarps;
  static constexpr std::uint32_t kGroups = kLines / kGroupLines / kWarpsAcross;
  static constexpr std::uint32_t kChunkLength = kAlong * kLaneLength;
  static constexpr std::uint32_t kChunks = kLength / kChunkLength / (kWarps / kWarpsAcross);
  static_assert(kGroups * kGroupLines <= kWarpSize, "a lane finds the offset of one line");
  static_assert(kChunks > 0 && kGroups > 0);

  static TTLG_DEVICE std::uint32_t warp_line(std::uint32_t thread) {
    return thread / kWarpSize % kWarpsAcross * (kGroups * kGroupLines);
  }
  // The first line and element of the lane in the first group and chunk.
  static TTLG_DEVICE std::uint32_t line(std::uint32_t thread) {
    return warp_line(thread) + thread % kWarpSize / kAlong * kLaneLines;
  }
  static TTLG_DEVICE std::uint32_t element(std::uint32_t thread) {
    return thread / kWarpSize / kWarpsAcross * (kChunks * kChunkLength) +
           thread % kAlong * kLaneLength;
  }
  // The line whose offset the lane finds, and the lane that finds the one of a line of this lane.
  static TTLG_DEVICE std::uint32_t owned(std::uint32_t thread) {
    return warp_line(thread) + thread % kWarpSize;
  }
  static TTLG_DEVICE std::uint32_t owner(std::uint32_t thread, std::uint32_t group,
                                         std::uint32_t part) {
    return group * kGroupLines + thread % kWarpSize / kAlong * kLaneLines + part;
  }
};

// Elements of 16 bytes may lie apart.
template <int kWidth, bool kVector>
inline constexpr bool kIsVector = kVector && kWidth < kMaxAccessBytes;

template <int kWidth, bool kVectorIn>
using FillShare =
    WarpShare<OrthogonalDistinctPolicy(kWidth).tile_rows,
              OrthogonalDistinctPolicy(kWidth).tile_columns, Lanes<kWidth, kVectorIn>::kAlong, 1,
              Lanes<kWidth, kVectorIn>::kElements>;
template <int kWidth, bool kVectorOut>
using DrainShare =
    WarpShare<OrthogonalDistinctPolicy(kWidth).tile_columns,
              OrthogonalDistinctPolicy(kWidth).tile_rows, Lanes<kWidth, kVectorOut>::kAlong,
              DistinctTile<kWidth, kVectorOut>::kLaneColumns,
              DistinctTile<kWidth, kVectorOut>::kLaneRows>;

// Where an element lies along a line, and how much further another one.
template <int kWidth, bool kContiguous>
TTLG_DEVICE std::int64_t element_offset(const AxisSide<std::int64_t>& axis, std::uint32_t index) {
  if constexpr (kContiguous) return std::int64_t{index} * kWidth;
  return axis.offset(index);
}
template <int kWidth, bool kContiguous>
TTLG_DEVICE std::int64_t chunk_offset(const AxisSide<std::int64_t>& axis, std::uint32_t index,
                                      std::uint32_t further) {
  if constexpr (kContiguous) return std::int64_t{further} * kWidth;
  return axis.offset(index + further) - axis.offset(index);
}

// What the lanes take beyond the last column of a tile: of their last access, there are some
// columns only.
template <int kWidth, bool kVectorOut, typename Context>
TTLG_DEVICE void fill_beyond(const Context& context, const TilePlace& tile, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorOut>;
  const std::uint32_t beyond = -tile.columns % Tile::kLaneColumns;
  if (beyond == 0) return;
  const std::uint32_t lane = context.thread() % kWarpSize;
  TTLG_UNROLL_BY(1)
  for (std::uint32_t row = context.thread() / kWarpSize; row < tile.rows;
       row += OrthogonalDistinctPolicy::kThreads / kWarpSize) {
    context.shared_store(lane < beyond, buffer + Tile::offset(row, tile.columns + lane),
                         Word<kWidth>{});
  }
}

// `row_offset` is that of the row which this lane owns. Asynchronous copies take 4 bytes at least;
// narrower elements pass through registers.
template <int kWidth, bool kVectorIn, bool kVectorOut, bool kContiguous, typename Context>
TTLG_DEVICE void fill_tile(const DistinctArguments& p, const Context& context,
                           const TilePlace& tile, std::int64_t row_offset, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorOut>;
  using Share = FillShare<kWidth, kVectorIn>;
  using Access = typename Lanes<kWidth, kVectorIn>::Access;
  constexpr bool kAsync = kCopiesAsynchronously<Access>;
  // Groups whose loads are in flight together.
  constexpr std::uint32_t kBatch =
      kAsync ? Share::kGroups : OrthogonalDistinctPolicy::kLoadsInFlight / Share::kChunks;
  const std::uint32_t thread = context.thread();
  const std::uint32_t first_row = Share::line(thread);
  const std::uint32_t first_column = Share::element(thread);
  // What there is from the lane's first access on, of which it may be beyond the end.
  const auto columns = static_cast<int>(tile.columns - first_column);
  const Context lines = context.at(
      tile.in + element_offset<kWidth, kContiguous>(p.column_in, tile.first_column + first_column),
      0);
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Share::kGroups; first += kBatch) {
    const std::uint32_t row = first_row + first * Share::kGroupLines;
    const auto rows = static_cast<int>(tile.rows - row);
    const std::uint32_t to = buffer + Tile::offset(row, first_column);
    const auto is_valid = [](std::uint32_t b, std::uint32_t c, int some_rows, int some_columns) {
      return static_cast<int>(c * Share::kChunkLength) < some_columns &&
             static_cast<int>(b * Share::kGroupLines) < some_rows;
    };
    std::int64_t across[kBatch];
    std::uint32_t held[kAsync ? 1 : kBatch][Share::kChunks];
    TTLG_UNROLL
    for (std::uint32_t b = 0; b < kBatch; ++b) {
      across[b] = context.shuffle(row_offset, Share::owner(thread, first + b, 0));
    }
    TTLG_UNROLL
    for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
      const std::int64_t along = chunk_offset<kWidth, kContiguous>(
          p.column_in, tile.first_column + first_column, c * Share::kChunkLength);
      TTLG_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        if constexpr (kAsync) {
          lines.template copy_async<sizeof(Access)>(
              is_valid(b, c, rows, columns),
              to + Tile::offset(b * Share::kGroupLines, c * Share::kChunkLength),
              across[b] + along);
        } else {
          held[b][c] =
              lines.template load<Access>(is_valid(b, c, rows, columns), across[b] + along);
        }
      }
    }
    if constexpr (!kAsync) {
      // There are not predicates enough to remember which accesses are valid.
      const int same_rows = opaque(rows);
      const int same_columns = opaque(columns);
      TTLG_UNROLL
      for (std::uint32_t b = 0; b < kBatch; ++b) {
        TTLG_UNROLL
        for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
          context.shared_store(is_valid(b, c, same_rows, same_columns),
                               to + Tile::offset(b * Share::kGroupLines, c * Share::kChunkLength),
                               static_cast<Access>(held[b][c]));
        }
      }
    }
  }
  if constexpr (!kVectorIn) fill_beyond<kWidth, kVectorOut>(context, tile, buffer);
}

// The 32-bit words of an access.
TTLG_DEVICE std::uint32_t word_of(std::uint32_t access, std::uint32_t) { return access; }
TTLG_DEVICE std::uint32_t word_of(std::uint64_t access, std::uint32_t i) {
  return static_cast<std::uint32_t>(access >> (32 * i));
}
TTLG_DEVICE std::uint32_t word_of(const Word16& access, std::uint32_t i) { return access.part[i]; }

// Word `k` of the vector of a column, from the accesses to its rows.
template <int kWidth, typename Access>
TTLG_DEVICE std::uint32_t vector_word(const Access* rows, std::uint32_t column, std::uint32_t k) {
  if constexpr (kWidth == 1) {
    const std::uint32_t pairs = column < 2 ? 0x5140 : 0x7362;
    const std::uint32_t low = byte_permute(rows[4 * k], rows[4 * k + 1], pairs);
    const std::uint32_t high = byte_permute(rows[4 * k + 2], rows[4 * k + 3], pairs);
    return byte_permute(low, high, column % 2 == 0 ? 0x5410 : 0x7632);
  } else if constexpr (kWidth == 2) {
    return byte_permute(word_of(rows[2 * k], column / 2), word_of(rows[2 * k + 1], column / 2),
                        column % 2 == 0 ? 0x5410 : 0x7632);
  } else {
    constexpr std::uint32_t kWords = kWidth / 4;
    return word_of(rows[k / kWords], column * kWords + k % kWords);
  }
}

// What goes to the output at once: the elements of a column in the rows that a lane took.
template <int kWidth, bool kVector, typename Access>
TTLG_DEVICE auto column_of(const Access* rows, std::uint32_t column) {
  if constexpr (kVector) {
    Word16 vector;
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) vector.part[k] = vector_word<kWidth>(rows, column, k);
    return vector;
  } else if constexpr (kWidth == 8) {
    return std::uint64_t{rows[0].part[2 * column]} | std::uint64_t{rows[0].part[2 * column + 1]}
                                                         << 32;
  } else {
    constexpr std::uint32_t kElements = 4 / kWidth;
    return static_cast<Word<kWidth>>(rows[0].part[column / kElements] >>
                                     (8 * kWidth * (column % kElements)));
  }
}

// `column_offset` is that of the column which this lane owns.
template <int kWidth, bool kVectorOut, bool kContiguous, typename Context>
TTLG_DEVICE void drain_tile(const DistinctArguments& p, const Context& context,
                            const TilePlace& tile, std::int64_t column_offset,
                            std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorOut>;
  using Share = DrainShare<kWidth, kVectorOut>;
  using Taken = Word<Tile::kLaneColumns * kWidth>;
  const std::uint32_t thread = context.thread();
  const std::uint32_t first_column = Share::line(thread);
  const std::uint32_t first_row = Share::element(thread);
  const std::uint32_t from = buffer + Tile::offset(first_row, first_column);
  const auto rows = static_cast<int>(tile.rows - first_row);
  const auto columns = static_cast<int>(tile.columns - first_column);
  const Context lines = context.at(
      0, tile.out + element_offset<kWidth, kContiguous>(p.row_out, tile.first_row + first_row));
  TTLG_UNROLL
  for (std::uint32_t group = 0; group < Share::kGroups; ++group) {
    const std::uint32_t column = group * Share::kGroupLines;
    std::int64_t across[Tile::kLaneColumns];
    TTLG_UNROLL
    for (std::uint32_t part = 0; part < Tile::kLaneColumns; ++part) {
      across[part] = context.shuffle(column_offset, Share::owner(thread, group, part));
    }
    TTLG_UNROLL_BY(kContiguous || Share::kChunks < 4 ? Share::kChunks : 1)
    for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
      const std::uint32_t row = c * Share::kChunkLength;
      const bool in_rows = static_cast<int>(row) < rows;
      const int same_columns = Share::kChunks > 1 ? opaque(columns) : columns;
      const std::int64_t along =
          chunk_offset<kWidth, kContiguous>(p.row_out, tile.first_row + first_row, row);
      Taken taken[Tile::kLaneRows];
      TTLG_UNROLL
      for (std::uint32_t r = 0; r < Tile::kLaneRows; ++r) {
        taken[r] = context.template shared_load<Taken>(
            in_rows && static_cast<int>(column) < columns,
            from + Tile::offset(row, column) + r * Tile::kRowBytes);
      }
      TTLG_UNROLL
      for (std::uint32_t part = 0; part < Tile::kLaneColumns; ++part) {
        lines.store(in_rows && static_cast<int>(column + part) < same_columns, across[part] + along,
                    column_of<kWidth, kVectorOut>(taken, part));
      }
    }
  }
}

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

// With two buffers a tile is on its way while the one before it is drained.
template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes, typename Context>
TTLG_DEVICE void orthogonal_distinct(const Grid<kModes>& grid, const DistinctArguments& p,
                                     const Context& context) {
  // Vectors are contiguous; so are elements but those of views with gaps. The compiler is not to
  // write the loop once for each.
  const auto is_contiguous = [](const AxisSide<std::int64_t>& line) {
    return opaque(std::uint32_t{line.is_contiguous(kWidth)}) != 0;
  };
  OwnedLine row(p.row_in, FillShare<kWidth, kVectorIn>::owned(context.thread()));
  OwnedLine column(p.column_out, DrainShare<kWidth, kVectorOut>::owned(context.thread()));
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
      const TilePlace tile = walk.at(filled);
      buffer ^= p.second_buffer;
      const std::int64_t offset = row.offset_at(tile.first_row);
      if (kIsVector<kWidth, kVectorIn> || is_contiguous(p.column_in)) {
        fill_tile<kWidth, kVectorIn, kVectorOut, true>(p, buffers, tile, offset, buffer);
      } else {
        fill_tile<kWidth, kVectorIn, kVectorOut, false>(p, buffers, tile, offset, buffer);
      }
      context.commit_copies();
      walk.announce(filled + 1);
    }
    if (drains) {
      const TilePlace tile = walk.at(filled - 1);
      const std::int64_t offset = column.offset_at(tile.first_column);
      if (kIsVector<kWidth, kVectorOut> || is_contiguous(p.row_out)) {
        drain_tile<kWidth, kVectorOut, true>(p, buffers, tile, offset, full);
      } else {
        drain_tile<kWidth, kVectorOut, false>(p, buffers, tile, offset, full);
      }
    }
    if (!exists) return;
    filled += fills;
    drains = fills;
  }
}

}  // namespace ttlg::cuda
