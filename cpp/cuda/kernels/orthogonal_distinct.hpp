// Orthogonal-Distinct (TTLG, Alg. 2): the combined fastest modes of the
// input (columns) and of the output (rows) have none in common, so a slice is a matrix, which moves
// tile by tile through shared memory.
//
// The buffer holds words: an element of 4, 8 or 16 bytes, or 4/w elements of w = 1 or 2 bytes that
// are neighbours along a column. They are brought together by byte permutes between loading and
// storing, so that reading a column of words yields whole words of output rows. Word (r, c) lies at
// r * pitch + c, where the pitch is odd (Alg. 2's 32 x 33, for a tile of this width), and columns
// of packed words skip 4 after every 32.
//
// No access conflicts, whatever the slice (banks counted in words; a warp's access of 8-byte words
// goes in halves, of 16-byte ones in quarters):
// - elements, filling: 32 lanes on consecutive c; draining: consecutive r, an odd pitch apart (for
//   packed words, several lanes read one word).
// - vectors, filling: lane (r, i) writes c = i * v + k at step k, for r < 4 and i < 8. With v = 4
//   that is 4i + r * pitch: distinct, because the pitch is odd. With v = 8 or 16 the 4 skipped
//   words separate those i that would share a bank.
// - vectors, draining: lane (r, c) reads r * v' + k at step k, for r < 8 and c < 4: 4r * pitch + c.
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
};

template <int kWidth>
struct DistinctTile {
  static constexpr int kPack = kWidth < 4 ? 4 / kWidth : 1;
  static constexpr int kWordBytes = kWidth < 4 ? 4 : kWidth;
  static constexpr int kSize = OrthogonalDistinctPolicy(kWidth).tile;
  static constexpr int kWordRows = kSize / kPack;
  static constexpr std::uint32_t column_word(std::uint32_t column) {
    return kWidth < 4 ? column + column / 32 * 4 : column;
  }
  static constexpr std::uint32_t kPitch = (column_word(kSize - 1) + 1) | 1;
  static constexpr int kSharedBytes = kWordRows * static_cast<int>(kPitch) * kWordBytes;
};

// The words that an access to each of kPack rows makes: word e holds element e of every row.
template <int kWidth, typename Access>
TTLG_DEVICE void pack_words(const Access* rows, Word < kWidth < 4 ? 4 : kWidth > *words) {
  if constexpr (sizeof(Access) == kWidth) {
    if constexpr (kWidth >= 4) {
      words[0] = rows[0];
    } else {
      words[0] = 0;
      TTLG_UNROLL
      for (int r = 0; r < 4 / kWidth; ++r) words[0] |= std::uint32_t{rows[r]} << (8 * kWidth * r);
    }
  } else if constexpr (kWidth == 8) {
    words[0] = rows[0].part[0] | std::uint64_t{rows[0].part[1]} << 32;
    words[1] = rows[0].part[2] | std::uint64_t{rows[0].part[3]} << 32;
  } else {
    TTLG_UNROLL
    for (int q = 0; q < 4; ++q) {
      if constexpr (kWidth == 4) {
        words[q] = rows[0].part[q];
      } else if constexpr (kWidth == 2) {
        words[2 * q] = byte_permute(rows[0].part[q], rows[1].part[q], 0x5410);
        words[2 * q + 1] = byte_permute(rows[0].part[q], rows[1].part[q], 0x7632);
      } else {
        const std::uint32_t even01 = byte_permute(rows[0].part[q], rows[1].part[q], 0x5140);
        const std::uint32_t even23 = byte_permute(rows[2].part[q], rows[3].part[q], 0x5140);
        const std::uint32_t odd01 = byte_permute(rows[0].part[q], rows[1].part[q], 0x7362);
        const std::uint32_t odd23 = byte_permute(rows[2].part[q], rows[3].part[q], 0x7362);
        words[4 * q] = byte_permute(even01, even23, 0x5410);
        words[4 * q + 1] = byte_permute(even01, even23, 0x7632);
        words[4 * q + 2] = byte_permute(odd01, odd23, 0x5410);
        words[4 * q + 3] = byte_permute(odd01, odd23, 0x7632);
      }
    }
  }
}

// Rows and columns of one tile, counted from the slice's corner.
struct TileBounds {
  std::uint32_t first_row;
  std::uint32_t first_column;
  std::uint32_t rows;
  std::uint32_t columns;
};

inline constexpr int kDistinctWarps = OrthogonalDistinctPolicy::kThreads / kWarpSize;

// How the warps of a block share the lines of a tile: `kLines` of them, each of kPack elements
// across. A warp takes groups of lines that its lanes access side by side, every kDistinctWarps-th
// group, and goes along them in chunks. Where its lines begin is found once for a tile, a line a
// lane, and passed between the lanes: the offset arrays of Alg. 2, without their memory.
template <int kWidth, bool kVector, int kLines, int kPack>
struct WarpShare : Lanes<kWidth, kVector> {
  using Side = Lanes<kWidth, kVector>;
  static constexpr int kGroups = kLines / Side::kAcross / kDistinctWarps;
  static constexpr int kChunks = DistinctTile<kWidth>::kSize / Side::kChunk;

  // The line of the lane in a group.
  static TTLG_DEVICE std::uint32_t line(std::uint32_t thread, std::uint32_t group) {
    const std::uint32_t lane = thread % kWarpSize;
    return (group * kDistinctWarps + thread / kWarpSize) * Side::kAcross + lane / Side::kAlong;
  }
  // The first element of the lane's access in a chunk.
  static TTLG_DEVICE std::uint32_t element(std::uint32_t thread, std::uint32_t chunk) {
    return chunk * Side::kChunk + thread % Side::kAlong * Side::kElements;
  }
  // The element across the lines whose offset this lane finds, and the lane that finds the one of
  // element `part` of this lane's line.
  static TTLG_DEVICE std::uint32_t owned(std::uint32_t thread) {
    const std::uint32_t lane = thread % kWarpSize;
    const std::uint32_t group = lane / (Side::kAcross * kPack);
    const std::uint32_t across = lane / kPack % Side::kAcross;
    return ((group * kDistinctWarps + thread / kWarpSize) * Side::kAcross + across) * kPack +
           lane % kPack;
  }
  static TTLG_DEVICE std::uint32_t owner(std::uint32_t thread, std::uint32_t group,
                                         std::uint32_t part) {
    return (group * Side::kAcross + thread % kWarpSize / Side::kAlong) * kPack + part;
  }
};

template <int kWidth, bool kVector>
using FillShare =
    WarpShare<kWidth, kVector, DistinctTile<kWidth>::kWordRows, DistinctTile<kWidth>::kPack>;
template <int kWidth, bool kVector>
using DrainShare = WarpShare<kWidth, kVector, DistinctTile<kWidth>::kSize, 1>;

// `row_offset` is that of the row which this lane owns.
template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE void fill_tile(const DistinctArguments& p, const Context& context, std::int64_t in,
                           std::int64_t row_offset, const TileBounds& tile) {
  using Tile = DistinctTile<kWidth>;
  using Share = FillShare<kWidth, kVector>;
  using Access = typename Share::Access;
  // Groups whose loads are in flight together.
  constexpr int kAsked = OrthogonalDistinctPolicy::kLoadsInFlight / (Share::kChunks * Tile::kPack);
  constexpr int kBatch = kAsked < 1 ? 1 : kAsked < Share::kGroups ? kAsked : Share::kGroups;
  const std::uint32_t thread = context.thread();
  const std::uint32_t word_rows = (tile.rows + Tile::kPack - 1) / Tile::kPack;
  std::int64_t along[Share::kChunks];
  TTLG_UNROLL
  for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
    along[c] = in + Share::along(p.column_in, tile.first_column + Share::element(thread, c));
  }
  TTLG_UNROLL_BY(1)
  for (std::uint32_t first = 0; first < Share::kGroups; first += kBatch) {
    Access held[kBatch][Share::kChunks][Tile::kPack];
    TTLG_UNROLL
    for (std::uint32_t b = 0; b < kBatch; ++b) {
      TTLG_UNROLL
      for (std::uint32_t part = 0; part < Tile::kPack; ++part) {
        const std::uint32_t row = Share::line(thread, first + b) * Tile::kPack + part;
        const std::int64_t across =
            context.shuffle(row_offset, Share::owner(thread, first + b, part));
        TTLG_UNROLL
        for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
          const std::uint32_t column = Share::element(thread, c);
          held[b][c][part] = context.template load<Access>(row < tile.rows && column < tile.columns,
                                                           along[c] + across);
        }
      }
    }
    TTLG_UNROLL
    for (std::uint32_t b = 0; b < kBatch; ++b) {
      const std::uint32_t word_row = Share::line(thread, first + b);
      TTLG_UNROLL
      for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
        const std::uint32_t column = Share::element(thread, c);
        Word<Tile::kWordBytes> words[Share::kElements];
        pack_words<kWidth>(held[b][c], words);
        TTLG_UNROLL
        for (std::uint32_t e = 0; e < Share::kElements; ++e) {
          const std::uint32_t word = word_row * Tile::kPitch + Tile::column_word(column + e);
          context.shared_store(word_row < word_rows && column < tile.columns,
                               word * Tile::kWordBytes, words[e]);
        }
      }
    }
  }
}

// What is written to the output at once: element `row` of a column, or the vector that starts
// there.
template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE auto take_from_tile(const Context& context, bool valid, std::uint32_t row,
                                std::uint32_t column) {
  using Tile = DistinctTile<kWidth>;
  using Entry = Word<Tile::kWordBytes>;
  const auto take = [&](std::uint32_t k) {
    const std::uint32_t word = (row / Tile::kPack + k) * Tile::kPitch + Tile::column_word(column);
    return context.template shared_load<Entry>(valid, word * Tile::kWordBytes);
  };
  if constexpr (kWidth == 16) {
    return take(0);
  } else if constexpr (!kVector) {
    if constexpr (Tile::kPack == 1) return take(0);
    return static_cast<Word<kWidth>>(take(0) >> (8 * kWidth * (row % Tile::kPack)));
  } else if constexpr (kWidth == 8) {
    const std::uint64_t low = take(0);
    const std::uint64_t high = take(1);
    return Word16{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                   static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}};
  } else {
    Word16 vector;
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < 4; ++k) vector.part[k] = take(k);
    return vector;
  }
}

// `column_offset` is that of the column which this lane owns.
template <int kWidth, bool kVector, typename Context>
TTLG_DEVICE void drain_tile(const DistinctArguments& p, const Context& context, std::int64_t out,
                            std::int64_t column_offset, const TileBounds& tile) {
  using Share = DrainShare<kWidth, kVector>;
  const std::uint32_t thread = context.thread();
  std::int64_t along[Share::kChunks];
  TTLG_UNROLL
  for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
    along[c] = out + Share::along(p.row_out, tile.first_row + Share::element(thread, c));
  }
  TTLG_UNROLL_BY(OrthogonalDistinctPolicy::kDrainUnroll)
  for (std::uint32_t group = 0; group < Share::kGroups; ++group) {
    const std::uint32_t column = Share::line(thread, group);
    const std::int64_t across = context.shuffle(column_offset, Share::owner(thread, group, 0));
    TTLG_UNROLL
    for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
      const std::uint32_t row = Share::element(thread, c);
      const bool valid = row < tile.rows && column < tile.columns;
      context.store(valid, along[c] + across,
                    take_from_tile<kWidth, kVector>(context, valid, row, column));
    }
  }
}

template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes, typename Context>
TTLG_DEVICE void orthogonal_distinct(const Grid<kModes>& grid, const DistinctArguments& p,
                                     const Context& context) {
  constexpr std::uint32_t kTile = DistinctTile<kWidth>::kSize;
  const BlockOrigin origin = decode(grid, context.block());
  const std::uint32_t rows = p.shape.rows_at(origin);
  const std::uint32_t columns = p.shape.columns_at(origin);
  bool drained = true;
  for (std::uint32_t row = 0; row < rows; row += kTile) {
    for (std::uint32_t column = 0; column < columns; column += kTile) {
      const TileBounds tile{row, column, rows - row < kTile ? rows - row : kTile,
                            columns - column < kTile ? columns - column : kTile};
      const std::int64_t row_offset =
          p.row_in.offset(row + FillShare<kWidth, kVectorIn>::owned(context.thread()));
      const std::int64_t column_offset =
          p.column_out.offset(column + DrainShare<kWidth, kVectorOut>::owned(context.thread()));
      std::int64_t in = origin.in;
      std::int64_t out = origin.out;
      for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
        if (!drained) context.barrier();
        fill_tile<kWidth, kVectorIn>(p, context, in, row_offset, tile);
        context.barrier();
        drain_tile<kWidth, kVectorOut>(p, context, out, column_offset, tile);
        drained = false;
        in += p.coarsening.in_step;
        out += p.coarsening.out_step;
      }
    }
  }
}

}  // namespace ttlg::cuda
