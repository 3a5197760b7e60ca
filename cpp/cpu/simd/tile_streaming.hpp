// The tile kernel around the caches: tiles of a line's width in the output, which leave the
// registers row by row, so that every line is stored at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/simd/pipeline.hpp"
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
  using Piece = typename Tile::Piece;
  constexpr int kTiles = kLineBytes / int{sizeof(Piece)};
  Piece lines[Tile::kInStep][kTiles];
#pragma GCC unroll 4
  for (int t = 0; t < kTiles; ++t) {
    Tile::move([&](int k) { return row(t * Tile::kOutStep + k); },
               [&](int k, const Piece& piece) { lines[k][t] = piece; });
  }
#pragma GCC unroll 32
  for (int i = 0; i < Tile::kInStep; ++i) {
    if (i < skipped) continue;
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) {
      store_past_caches<sizeof(Piece)>(out + out_by_in[i] + t * int{sizeof(Piece)}, lines[i][t]);
    }
  }
}

// Whole lines of a block with rows that begin at one.
template <typename T, typename Tile>
inline void stream_lines_with(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr std::int64_t kOutStep = kLineBytes / kSize;
  const std::int64_t last_in = block.in_count - Tile::kInStep;
  for (std::int64_t o = 0; o < block.out_count; o += kOutStep) {
    const std::int64_t* rows = block.in_by_out + o;
    std::byte* to = out + o * kSize;
    for (std::int64_t i = 0; i < block.in_count; i += Tile::kInStep) {
      const std::int64_t at_in = i < last_in ? i : last_in;
      const std::byte* from = in + at_in * kSize;
      stream_tiles<Tile>([&](int k) { return from + rows[k]; }, to, block.out_by_in + at_in,
                         i - at_in);
      advance(*block.pipeline, Tile::kInStep);
    }
  }
}

// What lies of the rows before their first whole line or after the last one goes through the
// caches.
template <typename T>
void tile_streaming(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  const std::int64_t in_bytes = block.in_count * kSize;
  const std::int64_t head_bytes = (kLineBytes - line_offset(out)) % kLineBytes;
  const std::int64_t lines = (block.out_count * kSize - head_bytes) / kLineBytes;
  if (in_bytes < 16 || lines <= 0 || head_bytes % kSize != 0) return tile<T>(in, out, block);
  const auto part = [&](BlockKernel kernel, std::int64_t begin, std::int64_t end) {
    if (begin == end) return;
    BlockArguments arguments = block;
    arguments.in_by_out += begin;
    arguments.out_count = end - begin;
    kernel(in, out + begin * kSize, arguments);
  };
  const std::int64_t head = head_bytes / kSize;
  const std::int64_t tail = head + lines * kLineBytes / kSize;
  using Wide = WideTile<T, kVectorBytes, kMostGroups<T, kVectorBytes>>;
  using Narrow = NarrowTile<T, kVectorBytes>;
  part(tile<T>, 0, head);
  if (kSize >= 4 && in_bytes >= kVectorBytes) {
    part(stream_lines_with<T, Wide>, head, tail);
  } else {
    part(stream_lines_with<T, Narrow>, head, tail);
  }
  part(tile<T>, tail, block.out_count);
}

}  // namespace
}  // namespace ttlg::cpu
