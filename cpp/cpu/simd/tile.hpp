// The tile kernel: transposes tiles in registers, as many as cover a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/kernels.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/strided_copy.hpp"
#include "cpu/simd/vectors.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/memory_units.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Transposes n elements in each 16-byte lane of n vectors, n = 16/sizeof(T): each round interleaves
// vector i with vector i + n/2 and so moves one bit of the vector's number into the element's
// (the butterfly of GenTT, section 4.2, in the form that needs only unpack instructions).
template <typename T, int kBytes>
[[gnu::always_inline]] inline void transpose_in_lanes(Bytes<kBytes>* rows) {
  constexpr int kRows = 16 / int{sizeof(T)};
  if constexpr (kRows > 1) {
    for (int round = 1; round < kRows; round *= 2) interleave_vectors<T, kBytes, kRows>(rows);
  }
}

// A tile that is as wide as a vector on the input's side. Lane l of source row k holds the elements
// l*n .. l*n+n-1 of the in axis; kGroups groups of n rows are transposed in their lanes, and then
// their lanes are brought together, so that each output row receives 16 * kGroups bytes at once.
template <typename T, int kBytes, int kGroups>
struct WideTile {
  static constexpr int kRows = 16 / int{sizeof(T)};
  static constexpr int kInStep = kBytes / int{sizeof(T)};
  static constexpr int kOutStep = kRows * kGroups;
  using OutVector = Bytes<16 * kGroups>;  // of an output row

  // write(k, vector) stores what the tile has of the output row of in index k.
  template <typename Row, typename Write>
  [[gnu::always_inline]] static inline void move(const Row& row, const Write& write) {
    Bytes<kBytes> rows[kGroups][kRows];
    for (int g = 0; g < kGroups; ++g) {
      for (int k = 0; k < kRows; ++k) rows[g][k] = load<Bytes<kBytes>>(row(g * kRows + k));
      transpose_in_lanes<T, kBytes>(rows[g]);
    }
    for (int k = 0; k < kRows; ++k) {
      Bytes<kBytes> lanes[kGroups];
      for (int g = 0; g < kGroups; ++g) lanes[g] = rows[g][k];
      gather_groups<kBytes, kGroups>(lanes);
      constexpr int kOutVectors = kBytes / 16 / kGroups;
      for (int g = 0; g < kGroups; ++g) {
        for (int p = 0; p < kOutVectors; ++p) {
          const auto* const vector =
              reinterpret_cast<const std::byte*>(&lanes[g]) + p * 16 * kGroups;
          write((g * kOutVectors + p) * kRows + k, load<OutVector>(vector));
        }
      }
    }
  }
};

// A tile that is 16 bytes wide on the input's side. Lane l of vector k holds 16 bytes of source row
// l*n + k, so that every store is a whole vector of one output row.
template <typename T, int kBytes>
struct NarrowTile {
  static constexpr int kRows = 16 / int{sizeof(T)};
  static constexpr int kInStep = kRows;
  static constexpr int kOutStep = kBytes / int{sizeof(T)};
  using OutVector = Bytes<kBytes>;

  template <typename Row, typename Write>
  [[gnu::always_inline]] static inline void move(const Row& row, const Write& write) {
    Bytes<kBytes> rows[kRows];
    for (int k = 0; k < kRows; ++k) {
      rows[k] = load_lanes<kBytes>([&](int l) { return row(l * kRows + k); });
    }
    transpose_in_lanes<T, kBytes>(rows);
    for (int k = 0; k < kRows; ++k) write(k, rows[k]);
  }
};

constexpr std::int64_t kOutputRowsBytes = 12 << 10;

inline RowSteps row_steps(const BlockArguments& block) {
  RowSteps steps;
  if (block.out_is_even && block.out_count > 1) steps.in = block.in_by_out[1] - block.in_by_out[0];
  if (block.in_is_even && block.in_count > 1) steps.out = block.out_by_in[1] - block.out_by_in[0];
  return steps;
}

// Tiles that do not fit any more are moved back until they do: elements in the overlap are written
// twice, with the same value.
template <typename T, typename Tile>
inline void tile_with(const std::byte* in, std::byte* out, const BlockArguments& block,
                      const RowSteps& steps) {
  constexpr std::int64_t kSize = sizeof(T);
  const auto done = advance_if_busy(block);
  constexpr std::int64_t kLines = ceil_div(Tile::kInStep * Tile::kOutStep * kSize, kLineBytes);
  const std::int64_t last_in = block.in_count - Tile::kInStep;
  const std::int64_t last_out = block.out_count - Tile::kOutStep;
  // As many output rows at a time as stay in L1 until they are complete; over them, a few source
  // rows are swept along the in axis.
  const std::int64_t rows_at_once = kOutputRowsBytes / (block.out_count * kSize) / Tile::kInStep;
  const std::int64_t by_bytes = (rows_at_once > 4 ? rows_at_once : 4) * Tile::kInStep;
  const std::int64_t by_sets = rows_in_sets(steps.out) / Tile::kInStep * Tile::kInStep;
  const std::int64_t fewer = by_sets < by_bytes ? by_sets : by_bytes;
  const std::int64_t chunk = fewer > Tile::kInStep ? fewer : Tile::kInStep;
  for (std::int64_t begin = 0; begin < block.in_count; begin += chunk) {
    const std::int64_t end = begin + chunk < block.in_count ? begin + chunk : block.in_count;
    for (std::int64_t o = 0; o < block.out_count; o += Tile::kOutStep) {
      const std::int64_t at_out = o < last_out ? o : last_out;
      const std::int64_t* rows = block.in_by_out + at_out;
      std::byte* to = out + at_out * kSize;
      for (std::int64_t i = begin; i < end; i += Tile::kInStep) {
        const std::int64_t at_in = i < last_in ? i : last_in;
        const std::byte* from = in + at_in * kSize;
        const std::int64_t* out_rows = block.out_by_in + at_in;
        Tile::move([&](int k) { return from + rows[k]; },
                   [&](int k, const typename Tile::OutVector& vector) {
                     store(to + out_rows[k], vector);
                   });
        done(kLines);
      }
    }
  }
}

template <typename T, int kBytes>
constexpr int kMaxGroups = tile_groups(kBytes, sizeof(T));

// The tiles that tile_shape names for the planner.
template <typename T>
void tile(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  const std::int64_t in_bytes = block.in_count * kSize;
  const std::int64_t out_bytes = block.out_count * kSize;
  const RowSteps steps = row_steps(block);
  if (in_bytes < 16 || out_bytes < 16) {
    strided_copy<T>(in, out, block);
  } else if (tiles_are_wide(kVectorBytes, kSize, in_bytes, out_bytes, steps)) {
    tile_with<T, WideTile<T, kVectorBytes, kMaxGroups<T, kVectorBytes>>>(in, out, block, steps);
  } else if (out_bytes >= kVectorBytes) {
    tile_with<T, NarrowTile<T, kVectorBytes>>(in, out, block, steps);
#if defined(__AVX512BW__)
  } else if (out_bytes >= 32) {
    tile_with<T, NarrowTile<T, 32>>(in, out, block, steps);
#endif
  } else {
    tile_with<T, NarrowTile<T, 16>>(in, out, block, steps);
  }
}

// Rows of the input at equal steps that are not those of elements, so that no vector reads them
// whole: some are packed at a time, and tiles transpose what is packed.
template <typename T>
void tile_packed(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr std::int64_t kColumns = kPackedRowBytes / kSize;
  static constexpr auto kRowOffsets = [] {
    std::array<std::int64_t, kPackedRows> offsets{};
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      offsets[k] = static_cast<std::int64_t>(k) * kPackedRowBytes;
    }
    return offsets;
  }();
  alignas(kLineBytes) std::byte packed[kPackedRows * kPackedRowBytes];
  const std::int64_t step = block.in_by_in[1] - block.in_by_in[0];
  const std::int64_t last_out = block.out_count - kPackedRows;
  const std::int64_t last_in = block.in_count - kColumns;
  BlockArguments part = block;
  part.in_by_out = kRowOffsets.data();
  part.out_count = last_out < 0 ? block.out_count : kPackedRows;
  part.in_count = last_in < 0 ? block.in_count : kColumns;
  // The last ones are moved back until they fit, so that tiles do.
  for (std::int64_t o = 0; o < block.out_count; o += kPackedRows) {
    const std::int64_t at_out = o < last_out ? o : block.out_count - part.out_count;
    for (std::int64_t i = 0; i < block.in_count; i += kColumns) {
      const std::int64_t at_in = i < last_in ? i : block.in_count - part.in_count;
      for (std::int64_t row = 0; row < part.out_count; ++row) {
        move_evenly<T>(in + block.in_by_out[at_out + row] + block.in_by_in[at_in], step,
                       packed + row * kPackedRowBytes, kSize, part.in_count);
      }
      part.out_by_in = block.out_by_in + at_in;
      tile<T>(packed, out + at_out * kSize, part);
    }
  }
}

template <typename T>
void strided_copy_or_tiles(const std::byte* in, std::byte* out, const BlockArguments& block) {
  const bool has_axes =
      block.in_is_even && block.out_is_even && block.in_count > 1 && block.out_count > 1;
  if (has_axes && block.out_by_out[1] - block.out_by_out[0] == sizeof(T) &&
      packs_rows(sizeof(T), block.in_by_in[1] - block.in_by_in[0], block.in_count,
                 block.out_count)) {
    tile_packed<T>(in, out + block.out_by_out[0], block);
  } else {
    strided_copy<T>(in, out, block);
  }
}

}  // namespace
}  // namespace ttlg::cpu
