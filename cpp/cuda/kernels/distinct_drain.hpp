// How Orthogonal-Distinct takes a tile out of shared memory, transposes it in registers and writes
// it to the output.
#pragma once

#include <type_traits>

#include "cuda/kernels/distinct_tile.hpp"
#include "cuda/kernels/shifted.hpp"

namespace ttlg::cuda {

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

// How many bits the first words of a lane's rows hold before these, a byte for each row.
template <typename Tile, typename Context>
TTLG_DEVICE auto shifts_of(const Context& context, bool valid, std::uint32_t buffer,
                           std::uint32_t row) {
  if constexpr (!Tile::kInWords) {
    return std::uint32_t{0};
  } else {
    const auto shifts =
        context.template shared_load<Word<Tile::kLaneRows>>(valid, buffer + Tile::kShifts + row);
    if constexpr (Tile::kLaneRows < 4) {
      return std::uint32_t{shifts};
    } else {
      return shifts;
    }
  }
}

// That of one row. What is above its low 5 bits, a shift leaves out.
template <typename Shifts>
TTLG_DEVICE std::uint32_t shift_of(const Shifts& shifts, std::uint32_t row) {
  return word_of(shifts, row / 4) >> (8 * (row % 4));
}

// What a lane takes of a row at once.
template <typename Tile, typename Taken, typename Context>
TTLG_DEVICE Taken take(const Context& context, bool valid, std::uint32_t from,
                       std::uint32_t shift) {
  if constexpr (Tile::kInWords) {
    constexpr std::uint32_t kWords = sizeof(Taken) / kDistinctWordBytes;
    std::uint32_t word[kWords + 1];
    TTLG_UNROLL
    for (std::uint32_t i = 0; i <= kWords; ++i) {
      word[i] = context.template shared_load<std::uint32_t>(valid, from + i * kDistinctWordBytes);
    }
    TTLG_UNROLL
    for (std::uint32_t i = 0; i < kWords; ++i) {
      word[i] = funnel_shift(word[i], word[i + 1], shift);
    }
    if constexpr (kWords == 1) {
      return word[0];
    } else {
      return {{word[0], word[1], word[2], word[3]}};
    }
  } else {
    return context.template shared_load<Taken>(valid, from);
  }
}

// `column_offset` is that of the column which this lane owns.
template <int kWidth, bool kVectorIn, bool kVectorOut, typename Line, typename Context>
TTLG_DEVICE void drain_tile(const Line& line, const Context& context, const TilePosition& tile,
                            std::int64_t column_offset, std::uint32_t buffer) {
  using Tile = DistinctTile<kWidth, kVectorIn, kVectorOut>;
  using Share = DrainShare<kWidth, kVectorIn, kVectorOut>;
  using Taken = Word<Tile::kLaneColumns * kWidth>;
  [[maybe_unused]] constexpr bool kContiguous = std::is_same_v<Line, ContiguousLine>;
  const std::uint32_t thread = context.thread();
  const std::uint32_t first_column = Share::line(thread);
  const std::uint32_t first_row = Share::element(thread);
  const std::uint32_t from = buffer + Tile::offset(first_row, first_column);
  const auto rows = static_cast<int>(tile.rows - first_row);
  const auto columns = static_cast<int>(tile.columns - first_column);
  const Context lines =
      context.at(0, tile.out + element_offset<kWidth>(line, tile.first_row + first_row));
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
      const std::int64_t along = chunk_offset<kWidth>(line, tile.first_row + first_row, row);
      const auto shifts = shifts_of<Tile>(context, in_rows, buffer, first_row + row);
      Taken taken[Tile::kLaneRows];
      TTLG_UNROLL
      for (std::uint32_t r = 0; r < Tile::kLaneRows; ++r) {
        taken[r] = take<Tile, Taken>(context, in_rows && static_cast<int>(column) < columns,
                                     from + Tile::offset(row, column) + r * Tile::kPitch,
                                     shift_of(shifts, r));
      }
      TTLG_UNROLL
      for (std::uint32_t part = 0; part < Tile::kLaneColumns; ++part) {
        lines.store(in_rows && static_cast<int>(column + part) < same_columns, across[part] + along,
                    column_of<kWidth, kVectorOut>(taken, part));
      }
    }
  }
}

// Bytes that are written in words.
using ByteTile = DistinctTile<1, false, false>;
using ByteShare = DrainShare<1, false, false>;

// Calls visit(column, word) for the columns that a warp takes of bytes, of which the lanes have
// a word each. Lanes without rows take those of the last one that has some.
template <typename Context, typename Visit>
TTLG_DEVICE void for_each_column(const Context& context, const TilePosition& tile,
                                 std::uint32_t buffer, const Visit& visit) {
  static_assert(ByteShare::kAcross == 1 &&
                ByteShare::kChunks * ByteShare::kChunkLength == ByteTile::kRows);
  const std::uint32_t lane_row = context.thread() % kWarpSize * ByteTile::kLaneRows;
  const std::uint32_t last_row = (tile.rows - 1) / ByteTile::kLaneRows * ByteTile::kLaneRows;
  const std::uint32_t row = lane_row < last_row ? lane_row : last_row;
  const auto columns = static_cast<int>(tile.columns - ByteShare::warp_line(context.thread()));
  const std::uint32_t from = buffer + ByteTile::offset(row, ByteShare::warp_line(context.thread()));
  const auto shifts = shifts_of<ByteTile>(context, true, buffer, row);
  std::uint32_t low[ByteTile::kLaneRows];
  TTLG_UNROLL
  for (std::uint32_t r = 0; r < ByteTile::kLaneRows; ++r) {
    low[r] = context.template shared_load<std::uint32_t>(columns > 0, from + r * ByteTile::kPitch);
  }
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < ByteShare::kGroups * ByteShare::kGroupLines;
       first += ByteShare::kGroupLines) {
    if (static_cast<int>(first) >= columns) break;
    std::uint32_t rows[ByteTile::kLaneRows];
    TTLG_UNROLL
    for (std::uint32_t r = 0; r < ByteTile::kLaneRows; ++r) {
      const auto high = context.template shared_load<std::uint32_t>(
          true, from + r * ByteTile::kPitch + first + kDistinctWordBytes);
      rows[r] = funnel_shift(low[r], high, shift_of(shifts, r));
      low[r] = high;
    }
    TTLG_UNROLL
    for (std::uint32_t part = 0; part < ByteShare::kGroupLines; ++part) {
      visit(first + part, vector_word<1>(rows, part, 0));
    }
  }
}

// The rows that make less than a word at the end of a tile, element by element.
template <typename Context>
TTLG_DEVICE void drain_last_rows(const Context& context, const TilePosition& tile,
                                 std::int64_t column_offset, std::uint32_t buffer) {
  const std::uint32_t lane = context.thread() % kWarpSize;
  const std::uint32_t column = ByteShare::warp_line(context.thread()) + lane;
  const bool valid = lane < ByteShare::kGroups * ByteShare::kGroupLines && column < tile.columns;
  TTLG_UNROLL_BY(1)
  for (std::uint32_t row = tile.rows / ByteTile::kLaneRows * ByteTile::kLaneRows; row < tile.rows;
       ++row) {
    const std::uint32_t before =
        context.template shared_load<std::uint8_t>(true, buffer + ByteTile::kShifts + row) / 8;
    context.store(valid, tile.out + tile.first_row + row + column_offset,
                  context.template shared_load<std::uint8_t>(
                      valid, buffer + ByteTile::offset(row, column) + before));
  }
}

// Bytes whose lines are contiguous: words, each cut out of that of a lane and that of
// the lane before it. The words in which a line begins and ends are stored element by element.
template <typename Context>
TTLG_DEVICE void drain_words(const Context& context, const TilePosition& tile,
                             std::int64_t column_offset, std::uint32_t buffer) {
  constexpr std::uint32_t kColumns = ByteShare::kGroups * ByteShare::kGroupLines;
  static_assert(2 * kColumns == kWarpSize);
  // [budget: 0 times] Tiles are cut within a word.
  drain_last_rows(context, tile, column_offset, buffer);
  const std::uint32_t thread = context.thread();
  const std::uint32_t lane = thread % kWarpSize;
  const auto columns = static_cast<int>(tile.columns - ByteShare::warp_line(thread));
  const std::uint32_t count = tile.rows / kDistinctWordBytes;  // of words
  const std::uint32_t whole = count == 0 ? 0 : (count - 1) * kDistinctWordBytes + 1;
  const std::uint32_t phase = context.out_phase();
  const std::int64_t begin = tile.out + tile.first_row + phase + column_offset;
  // Offsets count from the word in which the output begins.
  const Context to = context.at(0, -std::int64_t{phase});
  // Each lane keeps one of the words that belong to a column in part only. If there are all rows,
  // the first lane has both of them in one: it follows the last lane.
  const std::uint32_t kept_from = lane < kColumns ? 0 : count;
  std::uint32_t ends = 0;
  for_each_column(context, tile, buffer, [&](std::uint32_t column, std::uint32_t word) {
    const std::int64_t at = context.shuffle(begin, column);
    const auto low = static_cast<std::uint32_t>(at);
    const std::uint32_t cut = funnel_shift_left(context.shuffle(word, thread - 1), word, 8 * low);
    const std::uint32_t along = lane * kDistinctWordBytes - low % kDistinctWordBytes;
    to.at(0, at + along).store(static_cast<int>(column) < columns && along < whole, 0, cut);
    const std::uint32_t end = context.shuffle(cut, kept_from);
    if (lane % kColumns == column) ends = end;
  });
  constexpr std::uint32_t kLanes = kDistinctWordBytes;  // for a column
  const std::uint32_t byte = lane % kLanes;
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < kColumns; first += kWarpSize / kLanes) {
    const std::uint32_t column = first + lane / kLanes;
    const std::int64_t at = context.shuffle(begin, column);
    const std::uint32_t before = static_cast<std::uint32_t>(at) % kDistinctWordBytes;
    const bool is_head = byte >= before;
    const std::uint32_t word = context.shuffle(ends, is_head ? column : kColumns + column);
    to.store(static_cast<int>(column) < columns && count > 0 && before > 0,
             at - before + byte + (is_head ? 0 : count * kDistinctWordBytes),
             static_cast<std::uint8_t>(word >> (8 * byte)));
  }
}

// Bytes which lie apart in the output, one by one: of the columns, first what is in
// the lanes' first rows.
template <typename Context>
TTLG_DEVICE void drain_elements(const AxisSide<std::int64_t>& row_axis, const Context& context,
                                const TilePosition& tile, std::int64_t column_offset,
                                std::uint32_t buffer) {
  const std::uint32_t thread = context.thread();
  const auto columns = static_cast<int>(tile.columns - ByteShare::warp_line(thread));
  TTLG_UNROLL_BY(1)
  for (std::uint32_t r = 0; r < ByteTile::kLaneRows; ++r) {
    const std::uint32_t row = thread % kWarpSize * ByteTile::kLaneRows + r;
    const bool in_rows = row < tile.rows;
    const Context line = context.at(0, tile.out + row_axis.offset(tile.first_row + row));
    for_each_column(context, tile, buffer, [&](std::uint32_t column, std::uint32_t word) {
      line.store(in_rows && static_cast<int>(column) < columns,
                 context.shuffle(column_offset, column),
                 static_cast<std::uint8_t>(word >> (8 * r)));
    });
  }
}

}  // namespace ttlg::cuda
