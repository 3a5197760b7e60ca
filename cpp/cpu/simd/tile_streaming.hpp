// The tile kernel around the caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/simd/stream.hpp"
#include "cpu/simd/tile.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Rows of the output may begin anywhere in their lines, where registers hold parts of two. So a few
// rows at a time are collected in L1, and leave from there in whole lines. Rows go on from block to
// block at the ends of lines, which are at another column in every row: a line that two blocks
// wrote would be fetched and written back for each of them.
template <typename T>
void tile_streaming(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr std::int64_t kMostRows = kSize >= 4 ? kLineBytes / kSize : 16;  // a line of the input
  constexpr std::int64_t kMostColumns = 1024 / kSize;
  static_assert(kMostColumns * kSize <= StreamedRun::kMostBytes);
  StreamedRun runs[kMostRows];
  std::int64_t stored[kMostRows];
  std::int64_t places[kMostRows];
  auto* const stage = reinterpret_cast<std::byte*>(runs);
  const std::int64_t rows = block.in_count < kMostRows ? block.in_count : kMostRows;
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
    const std::int64_t step = ceil_div(columns, ceil_div(columns, kMostColumns));
    for (std::int64_t o = 0; o < columns; o += step) {
      for (std::int64_t k = 0; k < rows; ++k) places[k] = runs[k].end() - stage;
      BlockArguments part = block;
      part.in_by_out += o;
      part.out_by_in = places;
      part.in_count = rows;
      part.out_count = o + step < columns ? step : columns - o;
      tile<T>(in + at_in * kSize, stage, part);
      for (std::int64_t k = first; k < rows; ++k) {
        const std::int64_t left = stored[k] - o * kSize;
        const std::int64_t bytes = part.out_count * kSize < left ? part.out_count * kSize : left;
        if (bytes > 0) runs[k].grow(bytes);
      }
    }
    for (std::int64_t k = first; k < rows; ++k) runs[k].finish();
  }
}

}  // namespace
}  // namespace ttlg::cpu
