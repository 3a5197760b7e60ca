// How Orthogonal-Distinct copies a tile from the input to a buffer in shared memory.
#pragma once

#include "cuda/kernels/distinct_tile.hpp"

namespace ttlg::cuda {

// What the lanes take beyond the last column of a tile: of their last access, there are some
// columns only.
template <typename Tile, int kWidth, typename Context>
TTLG_DEVICE void fill_beyond(const Context& context, const TilePosition& tile,
                             std::uint32_t buffer) {
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

// `row_offset` is that of the row which this lane owns.
template <int kWidth, bool kVectorIn, bool kVectorOut, typename Line, typename Context>
TTLG_DEVICE void fill_tile(const Line& line, const Context& context, const TilePosition& tile,
                           std::int64_t row_offset, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorIn, kVectorOut>;
  using Share = FillShare<kWidth, kVectorIn>;
  constexpr int kBytes = sizeof(typename Lanes<kWidth, kVectorIn>::Access);
  const std::uint32_t thread = context.thread();
  const std::uint32_t first_row = Share::line(thread);
  const std::uint32_t first_column = Share::element(thread);
  // What there is from the lane's first access on, of which it may be beyond the end.
  const auto rows = static_cast<int>(Tile::filled_rows(tile.rows) - first_row);
  const auto columns = static_cast<int>(tile.columns - first_column);
  const std::uint32_t to = buffer + Tile::offset(first_row, first_column);
  const Context lines =
      context.at(tile.in + element_offset<kWidth>(line, tile.first_column + first_column), 0);
  TTLG_UNROLL
  for (std::uint32_t group = 0; group < Share::kGroups; ++group) {
    const std::uint32_t row = group * Share::kGroupLines;
    const std::int64_t across = context.shuffle(row_offset, Share::owner(thread, group, 0));
    TTLG_UNROLL
    for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
      const std::uint32_t column = c * Share::kChunkLength;
      const std::int64_t along =
          chunk_offset<kWidth>(line, tile.first_column + first_column, column);
      lines.template copy_async<kBytes>(
          static_cast<int>(column) < columns && static_cast<int>(row) < rows,
          to + Tile::offset(row, column), across + along);
    }
  }
  // [budget: 0 times] Tiles are cut within what a lane takes.
  if constexpr (!kVectorIn) fill_beyond<Tile, kWidth>(context, tile, buffer);
}

// The words of a row of `bytes` that are not whole in it, but for the first `filled` bytes, and
// zeros as far as lanes take them. Its first word begins `before` bytes before it.
template <typename Tile, typename Context>
TTLG_DEVICE void fill_row_end(const Context& context, bool valid, std::uint32_t to,
                              std::int64_t words, std::uint32_t before, std::uint32_t bytes,
                              std::uint32_t filled) {
  constexpr std::uint32_t kTaken = Tile::kRowBytes / Tile::kColumns * Tile::kLaneColumns;
  const std::uint32_t end = (bytes + kTaken - 1) / kTaken * kTaken;
  const std::uint32_t whole = bytes / kDistinctWordBytes * kDistinctWordBytes;
  TTLG_UNROLL_BY(1)
  for (std::uint32_t at = whole < filled ? filled : whole; at <= end; at += kDistinctWordBytes) {
    const auto left = static_cast<int>(before + bytes - at);
    const int count = left < 0 ? 0 : left < 4 ? left : 4;
    context.copy_word_async(valid, static_cast<std::uint32_t>(count), to + at, words + at);
  }
}

// Copies rows of narrow elements that begin anywhere. The lane that owns a row copies its end.
// In place their first words are left for fill_row_begins.
template <int kWidth, bool kVectorOut, bool kInplace, typename Context>
TTLG_DEVICE void fill_words(const Context& context, const TilePosition& tile,
                            std::int64_t row_offset, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, false, kVectorOut>;
  using Share = FillShare<kWidth, false>;
  static_assert(Share::kAcross == 1 && Share::kChunks * Share::kChunkLength == Tile::kColumns);
  const std::uint32_t thread = context.thread();
  const std::uint32_t lane = thread % kWarpSize;
  const std::uint32_t warp_row = Share::warp_line(thread);
  const auto rows = static_cast<int>(Tile::filled_rows(tile.rows) - warp_row);
  const std::uint32_t bytes = tile.columns * kWidth;
  // Offsets count from the word in which the input begins, and the row's from its first one.
  const std::uint32_t phase = context.in_phase();
  const std::int64_t begin =
      tile.in + std::int64_t{tile.first_column} * kWidth + phase + row_offset;
  const std::uint32_t before = static_cast<std::uint32_t>(begin) % kDistinctWordBytes;
  const std::int64_t words = begin - before;
  const std::uint32_t to = buffer + Tile::offset(warp_row, 0);
  const Context from = context.at(-std::int64_t{phase}, 0);
  const Context lines = from.at(lane * kDistinctWordBytes, 0);
  const auto whole = static_cast<int>(bytes / kDistinctWordBytes - lane);
  TTLG_UNROLL
  for (std::uint32_t row = 0; row < Share::kGroups; ++row) {
    const Context line = lines.at(context.shuffle(words, row), 0);
    TTLG_UNROLL
    for (std::uint32_t c = 0; c < Share::kChunks; ++c) {
      const bool is_begin = kInplace && c == 0 && lane == 0;
      line.copy_word_async(
          !is_begin && static_cast<int>(c * kWarpSize) < whole && static_cast<int>(row) < rows,
          to + lane * kDistinctWordBytes + Tile::offset(row, c * Share::kChunkLength),
          std::int64_t{c} * kWarpSize * kDistinctWordBytes);
    }
  }
  const bool owns = lane < Share::kGroups && static_cast<int>(lane) < rows;
  const std::uint32_t own = to + Tile::offset(lane, 0);
  context.shared_store(owns, buffer + Tile::kShifts + warp_row + lane,
                       static_cast<std::uint8_t>(8 * before));
  // [budget: once] The word that a whole row ends in.
  fill_row_end<Tile>(from, owns, own, words, before, bytes, kInplace ? kDistinctWordBytes : 0);
}

// Their first words in place, where other blocks may store what comes before the rows meanwhile:
// the lane that owns a row takes what is the row's. As it waits for that, all copies should be on
// their way.
template <int kWidth, bool kVectorOut, typename Context>
TTLG_DEVICE void fill_row_begins(const Context& context, const TilePosition& tile,
                                 std::int64_t row_offset, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, false, kVectorOut>;
  using Share = FillShare<kWidth, false>;
  const std::uint32_t row = Share::owned(context.thread());
  const bool owns =
      context.thread() % kWarpSize < Share::kGroups && row < Tile::filled_rows(tile.rows);
  const std::int64_t begin = tile.in + std::int64_t{tile.first_column} * kWidth + row_offset;
  const std::uint32_t before =
      (static_cast<std::uint32_t>(begin) + context.in_phase()) % kDistinctWordBytes;
  std::uint32_t word = 0;
  TTLG_UNROLL
  for (std::uint32_t byte = 0; byte < kDistinctWordBytes; byte += kWidth) {
    const bool is_own = byte >= before && byte < before + tile.columns * kWidth;
    const auto element = context.template load<Word<kWidth>>(owns && is_own, begin - before + byte);
    word |= std::uint32_t{element} << (8 * byte);
  }
  context.shared_store(owns, buffer + Tile::offset(row, 0), word);
}

// Rows whose elements lie apart, one by one.
template <int kWidth, bool kVectorOut, typename Context>
TTLG_DEVICE void fill_elements(const AxisSide<std::int64_t>& line, const Context& context,
                               const TilePosition& tile, std::int64_t row_offset,
                               std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, false, kVectorOut>;
  using Share = FillShare<kWidth, false>;
  // Those of a word more than there are.
  constexpr std::uint32_t kMaxElements = Tile::kPitch / kWidth;
  constexpr std::uint32_t kChunks = (kMaxElements + kWarpSize - 1) / kWarpSize;
  const std::uint32_t thread = context.thread();
  const std::uint32_t lane = thread % kWarpSize;
  const std::uint32_t warp_row = Share::warp_line(thread);
  const std::uint32_t filled =
      (tile.columns + Tile::kLaneColumns - 1) / Tile::kLaneColumns * Tile::kLaneColumns +
      Tile::kWordElements;
  context.shared_store(lane < Share::kGroups, buffer + Tile::kShifts + warp_row + lane,
                       std::uint8_t{0});
  TTLG_UNROLL_BY(1)
  for (std::uint32_t c = 0; c < kChunks; ++c) {
    const std::uint32_t column = c * kWarpSize + lane;
    const Context from = context.at(tile.in + line.offset(tile.first_column + column), 0);
    TTLG_UNROLL_BY(1)
    for (std::uint32_t row = 0; row < Share::kGroups; ++row) {
      const std::int64_t across = context.shuffle(row_offset, row);
      const bool in_rows = warp_row + row < Tile::filled_rows(tile.rows);
      context.shared_store(
          in_rows && column < filled, buffer + Tile::offset(warp_row + row, column),
          from.template load<Word<kWidth>>(in_rows && column < tile.columns, across));
    }
  }
}

}  // namespace ttlg::cuda
