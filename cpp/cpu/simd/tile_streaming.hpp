// The tile kernel around the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/kernels.hpp"
#include "cpu/simd/carried_lines.hpp"
#include "cpu/simd/packed_fields.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/stream.hpp"
#include "cpu/simd/tile.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// As many tiles as make a line. Rows that another tile has stored already are skipped.
template <typename Tile, typename Row>
[[gnu::always_inline]] inline void stream_tiles(const Row& row, std::byte* out,
                                                const std::int64_t* out_by_in,
                                                std::int64_t skipped) {
  using OutVector = typename Tile::OutVector;
  constexpr int kTiles = kLineBytes / int{sizeof(OutVector)};
  OutVector lines[Tile::kInStep][kTiles];
#pragma GCC unroll 4
  for (int t = 0; t < kTiles; ++t) {
    Tile::move([&](int k) { return row(t * Tile::kOutStep + k); },
               [&](int k, const OutVector& vector) { lines[k][t] = vector; });
  }
#pragma GCC unroll 32
  for (int i = 0; i < Tile::kInStep; ++i) {
    if (i < skipped) continue;
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) {
      store_past_caches<sizeof(OutVector)>(out + out_by_in[i] + t * int{sizeof(OutVector)},
                                           lines[i][t]);
    }
  }
}

// Rows of the output that are stored side by side, before the next line of each. On a Zen 5 stores
// take twice as long where more of them than these are an even number of lines apart.
constexpr std::int64_t kRowsAtOnce = 32;

// Several tiles that are together as wide as a line, or as many rows as are stored at once, from a
// copy of what they read: in place, each tile would load its lines again, which many rows a power
// of two apart push out of L1. Returns where in the in axis it ended.
template <typename T, typename Tile>
inline std::int64_t stream_line_panels(const std::byte* in, const std::int64_t* rows,
                                       std::byte* out, const BlockArguments& block,
                                       std::int64_t begin, std::int64_t end) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kLineBytes / kSize;
  constexpr int kPanel = kElements < kRowsAtOnce ? kElements : kRowsAtOnce;
  std::int64_t i = begin;
  for (; i + kPanel <= end; i += kPanel) {
    std::byte lines[kElements][kPanel * kSize];
    for (int k = 0; k < kElements; ++k) {
      std::memcpy(lines[k], in + i * kSize + rows[k], kPanel * kSize);
    }
    for (int t = 0; t < kPanel; t += Tile::kInStep) {
      stream_tiles<Tile>([&](int k) { return lines[k] + t * kSize; }, out, block.out_by_in + i + t,
                         0);
      advance(*block.pipeline, Tile::kInStep);
    }
  }
  return i;
}

// Whole lines of a block with rows that begin at one.
template <typename T, typename Tile>
inline void stream_lines_with(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr std::int64_t kOutStep = kLineBytes / kSize;
  const std::int64_t last_in = block.in_count - Tile::kInStep;
  for (std::int64_t begin = 0; begin < block.in_count; begin += kRowsAtOnce) {
    const std::int64_t end =
        begin + kRowsAtOnce < block.in_count ? begin + kRowsAtOnce : block.in_count;
    for (std::int64_t o = 0; o < block.out_count; o += kOutStep) {
      const std::int64_t* rows = block.in_by_out + o;
      std::byte* to = out + o * kSize;
      std::int64_t i = begin;
      if constexpr (Tile::kInStep < kOutStep) {
        i = stream_line_panels<T, Tile>(in, rows, to, block, begin, end);
      }
      for (; i < end; i += Tile::kInStep) {
        const std::int64_t at_in = i < last_in ? i : last_in;
        const std::byte* from = in + at_in * kSize;
        stream_tiles<Tile>([&](int k) { return from + rows[k]; }, to, block.out_by_in + at_in,
                           i - at_in);
        advance(*block.pipeline, Tile::kInStep);
      }
    }
  }
}

// Divided by the same powers of two as the distances of the output's rows from the first one.
inline std::int64_t row_differences(const BlockArguments& block) {
  if (block.in_is_even) return block.in_count > 1 ? block.out_by_in[1] - block.out_by_in[0] : 0;
  std::int64_t differences = 0;
  for (std::int64_t i = 1; i < block.in_count; ++i) {
    differences |= block.out_by_in[i] - block.out_by_in[0];
  }
  return differences;
}

// Rows that begin at the same place of their lines: all lines leave the registers at once, and
// partial ones at the ends of the rows go through the caches.
template <typename T>
inline void stream_rows_alike(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  const std::byte* const row = out + block.out_by_in[0];
  const std::int64_t count = stored_bytes(row, block) / kSize;
  const std::int64_t line = kLineBytes / kSize;
  const std::int64_t to_line = (kLineBytes - line_offset(row)) % kLineBytes / kSize;
  const std::int64_t head = to_line < count ? to_line : count;
  const std::int64_t tail = head + (count - head) / line * line;
  const auto part = [&](BlockKernel kernel, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    BlockArguments arguments = block;
    arguments.in_by_out += begin;
    arguments.out_count = end - begin;
    kernel(in, out + begin * kSize, arguments);
  };
  using Wide = WideTile<T, kVectorBytes, kMaxGroups<T, kVectorBytes>>;
  using Narrow = NarrowTile<T, kVectorBytes>;
  // Partial lines must be read before they are written. Ordered first and stored last, they hold up
  // no store of a whole line.
  const bool has_head = !block.continued && head > 0;
  for (std::int64_t i = 0; i < block.in_count; ++i) {
    if (has_head) __builtin_prefetch(out + block.out_by_in[i], 1);
    if (tail < count) __builtin_prefetch(out + block.out_by_in[i] + count * kSize - 1, 1);
  }
  if (kSize >= 4 && block.in_count * kSize >= kVectorBytes) {
    part(stream_lines_with<T, Wide>, head, tail);
  } else {
    part(stream_lines_with<T, Narrow>, head, tail);
  }
  if (has_head) part(tile<T>, 0, head);
  part(tile<T>, tail, count);
}

// Where rows begin at different places of their lines, registers hold parts of two. Vectors of
// whole lines are joined there. Otherwise a few rows at a time are collected in L1, and leave from
// there in whole lines. Rows go on from block to block at the ends of lines, which are at another
// column in every row: a line that two blocks wrote would be fetched and written back for each of
// them.
template <typename T>
void stream_rows(const std::byte* in, std::byte* out, const BlockArguments& block,
                 std::int64_t differences) {
  constexpr std::int64_t kSize = sizeof(T);
  if ((line_offset(out + block.out_by_in[0]) | differences) % kSize == 0 &&
      block.in_count * kSize >= 16) {
    if (differences % kLineBytes == 0) return stream_rows_alike<T>(in, out, block);
#if defined(__AVX512BW__)
    return carry_lines<T>(in, out, block);
#endif
  }
  constexpr std::int64_t kMaxRows = kSize >= 4 ? kLineBytes / kSize : 16;  // a line of the input
  constexpr std::int64_t kMaxColumns = 1024 / kSize;
  static_assert(kMaxColumns * kSize <= StreamedRun::kMaxBytes);
  StreamedRun runs[kMaxRows];
  std::int64_t stored[kMaxRows];
  std::int64_t offsets[kMaxRows];
  auto* const buffer = reinterpret_cast<std::byte*>(runs);
  const std::int64_t rows = block.in_count < kMaxRows ? block.in_count : kMaxRows;
  for (std::int64_t i = 0; i < block.in_count; i += rows) {
    // Rows that would be too few are moved back, and those that are stored already, left out.
    const std::int64_t at_in = i + rows < block.in_count ? i : block.in_count - rows;
    const std::int64_t first = i - at_in;
    std::int64_t longest = 0;
    for (std::int64_t k = 0; k < rows; ++k) {
      std::byte* const row = out + block.out_by_in[at_in + k];
      runs[k].begin(row, block.continued);
      stored[k] = stored_bytes(row, block);
      longest = stored[k] > longest ? stored[k] : longest;
      // Partial lines must be read before they are written.
      if (!block.continued) __builtin_prefetch(row, 1);
      if (block.following == 0) __builtin_prefetch(row + stored[k] - 1, 1);
    }
    const std::int64_t columns = ceil_div(longest, kSize);
    const std::int64_t step = ceil_div(columns, ceil_div(columns, kMaxColumns));
    for (std::int64_t o = 0; o < columns; o += step) {
      for (std::int64_t k = 0; k < rows; ++k) offsets[k] = runs[k].end() - buffer;
      BlockArguments part = block;
      part.in_by_out += o;
      part.out_by_in = offsets;
      part.in_is_even = false;
      part.in_count = rows;
      part.out_count = o + step < columns ? step : columns - o;
      tile<T>(in + at_in * kSize, buffer, part);
      for (std::int64_t k = first; k < rows; ++k) {
        const std::int64_t left = stored[k] - o * kSize;
        const std::int64_t bytes = part.out_count * kSize < left ? part.out_count * kSize : left;
        if (bytes > 0) runs[k].grow(bytes);
      }
    }
    for (std::int64_t k = first; k < rows; ++k) runs[k].finish();
  }
}

// Rows that follow one another: the line in which two meet is the earlier one's, so that only the
// ends of all of them are partial lines.
template <typename T>
void stream_adjoining_rows(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  const auto to_line = [](const std::byte* at) {
    return (kLineBytes - line_offset(at)) % kLineBytes / kSize;
  };
  const bool ends = block.following == 0;
  BlockArguments part = block;
  part.continued = true;
  part.following = kLineBytes / kSize;
  part.out_is_even = false;  // no longer where a row ends
  part.in_count = block.in_count - (ends ? 1 : 0);
  if (part.in_count > 0) stream_rows<T>(in, out, part, row_differences(part));
  part.in_count = 1;
  if (!block.continued) {
    part.out_count = to_line(out);
    strided_copy<T>(in, out, part);
  }
  if (!ends) return;
  // The last row, from its first line on.
  const std::int64_t last = block.in_count - 1;
  std::byte* const row = out + block.out_by_in[last];
  const std::int64_t begin = to_line(row);
  part.in_by_out = block.in_by_out + begin;
  part.out_count = block.out_count - begin;
  part.continued = false;
  part.following = 0;
  strided_copy_streaming(in + last * kSize, row + begin * kSize, part);
}

template <typename T>
void tile_streaming(const std::byte* in, std::byte* out, const BlockArguments& block) {
  const std::int64_t differences = row_differences(block);
  const bool aligned = (line_offset(out + block.out_by_in[0]) | differences) % int{sizeof(T)} == 0;
  BlockArguments own = block;
  if (block.rows_adjoin) {
    own.continued = false;
    own.following = 0;
  }
#if defined(__AVX512BW__)
  if (aligned && carry_packed<T>(in, out, own)) return;
#endif
  if (block.rows_adjoin && aligned) return stream_adjoining_rows<T>(in, out, block);
  stream_rows<T>(in, out, own, differences);
}

}  // namespace
}  // namespace ttlg::cpu
