// Which tiles the tile kernel uses for blocks of given sides; the kernel and the time model agree
// on it.
#pragma once

#include <cstdint>

#include "plan/cpu/memory_units.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

enum class TileKind : std::uint8_t {
  none,    // the block is too narrow for a tile; elements are moved one by one
  wide,    // as wide as a vector on the input's side
  narrow,  // as wide as a vector on the output's side
  lane,    // 16 bytes on the input's side and at most half a vector on the output's
};

// Elements on either side.
struct TileShape {
  TileKind kind = TileKind::none;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// Vectors of a wide tile's output row: at most 16 vectors are in registers at a time.
constexpr int tile_groups(int vector_bytes, int element_bytes) {
  if (element_bytes * vector_bytes / 16 >= vector_bytes / 4) return vector_bytes / 16;
  return element_bytes >= 2 && vector_bytes >= 32 ? 2 : 1;
}

// Bytes from one row of a block to the next, on either side: the output's rows are the indices of
// the in axis, the input's those of the out axis. A line where the distances differ.
struct RowSteps {
  std::int64_t in = kLineBytes;
  std::int64_t out = kLineBytes;
};

// Rows that are `step` bytes apart of which L1 holds a line each: powers of two share its sets.
constexpr std::int64_t rows_in_sets(std::int64_t step) {
  return kWays * kPageBytes / common_power(step, kPageBytes);
}

// Whether a block is moved by wide tiles. They read whole vectors and write to as many rows as a
// vector has elements, narrow ones the other way round. Where those rows push one another's lines
// out of L1, wide tiles that write less than a vector to each would fetch these lines several
// times; those that write whole vectors are no worse than narrow ones whose input's rows do so.
// Inlined always: a copy that is compiled for one SIMD level must not serve the others.
[[gnu::always_inline]] constexpr bool tiles_are_wide(int vector_bytes, std::int64_t element_bytes,
                                                     std::int64_t in_bytes, std::int64_t out_bytes,
                                                     const RowSteps& steps) {
  const int written = 16 * tile_groups(vector_bytes, static_cast<int>(element_bytes));
  if (in_bytes < vector_bytes || out_bytes < written) return false;
  const std::int64_t rows = vector_bytes / element_bytes;
  return out_bytes < vector_bytes || rows_in_sets(steps.out) >= rows ||
         (written == vector_bytes && rows_in_sets(steps.in) < rows);
}

constexpr TileShape tile_shape(int vector_bytes, std::int64_t element_bytes, std::int64_t in_bytes,
                               std::int64_t out_bytes, const RowSteps& steps) {
  const std::int64_t lane = 16 / element_bytes;
  if (in_bytes < 16 || out_bytes < 16) return {};
  if (tiles_are_wide(vector_bytes, element_bytes, in_bytes, out_bytes, steps)) {
    const int groups = tile_groups(vector_bytes, static_cast<int>(element_bytes));
    return {TileKind::wide, vector_bytes / element_bytes, lane * groups};
  }
  if (out_bytes >= vector_bytes) return {TileKind::narrow, lane, vector_bytes / element_bytes};
  if (vector_bytes == 64 && out_bytes >= 32) return {TileKind::lane, lane, 2 * lane};
  return {TileKind::lane, lane, lane};
}

// Whether the strided copy makes a run of elements at these steps by a loop of vectors: repeated,
// reversed and every other one. Inlined always, as above.
[[gnu::always_inline]] constexpr bool moves_vectors(std::int64_t element_bytes,
                                                    std::int64_t in_step, std::int64_t out_step) {
  return out_step == element_bytes && (in_step == 0 || in_step == -element_bytes ||
                                       (in_step == 2 * element_bytes && element_bytes < 8));
}

// Rows that the strided copy packs at a time, and the most bytes of each.
inline constexpr std::int64_t kPackedRows = 128;
inline constexpr std::int64_t kPackedRowBytes = 2 * kLineBytes;

// Whether it does: rows of elements that are some bytes apart, some of them in every line, in
// either direction, and which are columns of the output. Inlined always, as above.
[[gnu::always_inline]] constexpr bool packs_rows(std::int64_t element_bytes, std::int64_t in_step,
                                                 std::int64_t in_count, std::int64_t out_count) {
  const std::int64_t distance = in_step < 0 ? -in_step : in_step;
  return element_bytes <= 8 && in_step != element_bytes && distance >= element_bytes &&
         distance <= kLineBytes / 2 && in_count * element_bytes >= 16 &&
         out_count * element_bytes >= 16;
}

// Whether rows that begin anywhere in their lines are streamed from registers. Otherwise they pass
// through a buffer in L1.
constexpr bool carries_lines(int vector_bytes) { return vector_bytes == kLineBytes; }

// Whether runs of such elements are streamed in lines that are put together in registers.
constexpr bool gathers_lines(int vector_bytes, std::int64_t element_bytes) {
  return carries_lines(vector_bytes) && element_bytes >= kLineBytes;
}

// Whether packed structures with this many fields, which are too short for a tile, are split in
// registers where their arrays are streamed.
constexpr bool splits_rows(int vector_bytes, std::int64_t element_bytes, std::int64_t fields) {
  return carries_lines(vector_bytes) && fields >= 2 && fields <= 4 && fields * element_bytes < 16;
}

// Whether they are joined so. That is faster than tiles for longer ones, too, which would leave
// with parts of lines.
constexpr bool joins_rows(int vector_bytes, std::int64_t element_bytes, std::int64_t fields) {
  const std::int64_t most = element_bytes >= 4 ? 5 : 4;
  return carries_lines(vector_bytes) && fields >= 2 && fields <= most && element_bytes <= 8;
}

}  // namespace ttlg::cpu
