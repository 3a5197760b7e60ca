// How Orthogonal-Distinct lays out a tile in shared memory, and which lane takes what of it.
//
// A buffer holds the rows of a tile as they lie in the input, so that they can be copied to it
// asynchronously. Elements of 1 and 2 bytes whose rows begin anywhere are copied in the aligned
// words of 4 bytes that hold them: a row then begins up to 3 bytes after its first word, and how
// many is kept beside the rows.
//
// No access meets a bank conflict: a few bytes are skipped after as many rows as a lane takes (the
// padding of TTLG, Alg. 2, for wider words). With 16 of them, 8 lanes which take from the same
// columns of neighbouring rows find their 16 bytes in different banks, and lanes which take less
// find their parts of the same 16 bytes there. With 4, 32 lanes find their words so.
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

inline constexpr std::uint32_t kDistinctWordBytes = kBankBytes;

template <int kWidth, bool kVectorIn, bool kVectorOut>
struct DistinctTile {
  static constexpr std::uint32_t kRows = OrthogonalDistinctPolicy(kWidth).tile_rows;
  static constexpr std::uint32_t kColumns = OrthogonalDistinctPolicy(kWidth).tile_columns;
  static constexpr std::uint32_t kRowBytes = kColumns * kWidth;
  // Whether rows come in words of several elements, which may begin anywhere, and columns go so.
  static constexpr bool kInWords = kWidth < kDistinctWordBytes && !kVectorIn;
  static constexpr bool kOutWords = kWidth == 1 && !kVectorOut;
  static_assert(kInWords || !kOutWords);
  // What a lane takes out of it at once: a part of one row, or of several whose elements it writes
  // together.
  static constexpr std::uint32_t kVectorElements = kMaxAccessBytes / kWidth;
  static constexpr std::uint32_t kWordElements = kInWords ? kDistinctWordBytes / kWidth : 1;
  static constexpr std::uint32_t kLaneRows = kVectorOut  ? kVectorElements
                                             : kOutWords ? kWordElements
                                                         : 1;
  static constexpr std::uint32_t kLaneColumns =
      kInWords && (kVectorOut || kOutWords) ? kWordElements
      : !kVectorOut || kVectorElements < 4  ? kVectorElements
                                            : 4;
  static constexpr std::uint32_t kPitch = kRowBytes + (kInWords ? kDistinctWordBytes : 0);
  // With an odd number of words from row to row, there is no need for it.
  static constexpr std::uint32_t kPadding = kOutWords                 ? kDistinctWordBytes
                                            : kInWords && !kVectorOut ? 0
                                                                      : kMaxAccessBytes;

  // Where an element lies in the buffer, in a row that begins at its first word.
  static constexpr std::uint32_t offset(std::uint32_t row, std::uint32_t column) {
    return row * kPitch + row / kLaneRows * kPadding + column * kWidth;
  }

  // Where a byte for each row says how many bits its first word has before it.
  static constexpr std::uint32_t kShifts = kRows * kPitch + kRows / kLaneRows * kPadding;
  static_assert(!kInWords || (kShifts % kMaxAccessBytes == 0 &&
                              kShifts + kRows <= OrthogonalDistinctPolicy(kWidth).buffer_bytes));

  // How many rows are filled where a tile has that many: all that a lane takes together.
  static TTLG_DEVICE std::uint32_t filled_rows(std::uint32_t rows) {
    return kOutWords ? (rows + kLaneRows - 1) / kLaneRows * kLaneRows : rows;
  }
};

// Where a tile lies, the corner of its slice and what of it there is, counted from that corner.
struct TilePosition {
  std::int64_t in;
  std::int64_t out;
  std::uint32_t first_row;
  std::uint32_t first_column;
  std::uint32_t rows;
  std::uint32_t columns;
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
using FillShare = WarpShare < OrthogonalDistinctPolicy(kWidth).tile_rows,
      OrthogonalDistinctPolicy(kWidth).tile_columns, Lanes<kWidth, kVectorIn>::kAlong, 1,
      kWidth<kDistinctWordBytes && !kVectorIn ? kDistinctWordBytes / kWidth
                                              : Lanes<kWidth, kVectorIn>::kElements>;
template <int kWidth, bool kVectorIn, bool kVectorOut>
using DrainShare =
    WarpShare<OrthogonalDistinctPolicy(kWidth).tile_columns,
              OrthogonalDistinctPolicy(kWidth).tile_rows, Lanes<kWidth, kVectorOut>::kAlong,
              DistinctTile<kWidth, kVectorIn, kVectorOut>::kLaneColumns,
              DistinctTile<kWidth, kVectorIn, kVectorOut>::kLaneRows>;

// A line whose elements leave no gaps.
struct ContiguousLine {};

// Where an element lies along a line, and how much further another one.
template <int kWidth>
TTLG_DEVICE std::int64_t element_offset(ContiguousLine, std::uint32_t index) {
  return std::int64_t{index} * kWidth;
}
template <int kWidth>
TTLG_DEVICE std::int64_t element_offset(const AxisSide<std::int64_t>& line, std::uint32_t index) {
  return line.offset(index);
}
template <int kWidth>
TTLG_DEVICE std::int64_t chunk_offset(ContiguousLine, std::uint32_t, std::uint32_t further) {
  return std::int64_t{further} * kWidth;
}
template <int kWidth>
TTLG_DEVICE std::int64_t chunk_offset(const AxisSide<std::int64_t>& line, std::uint32_t index,
                                      std::uint32_t further) {
  // [budget: rare] Lines with gaps between the elements.
  return line.offset(index + further) - line.offset(index);
}

}  // namespace ttlg::cuda
