// The kernels, written once and compiled for every SIMD level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "cpu/kernels.hpp"
#include "cpu/simd/shuffle.hpp"
#include "cpu/simd/strided_copy.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Into L2: lines of a block may alias in L1, and they are read only after this block is done.
inline void request(Requests& requests, std::int64_t lines) {
  while (lines > 0 && requests.piece < requests.pieces.size()) {
    const std::byte* const piece = requests.next + requests.pieces[requests.piece];
    const std::int64_t left = ceil_div(requests.piece_bytes - requests.byte, kLineBytes);
    const std::int64_t now = lines < left ? lines : left;
    for (std::int64_t i = 0; i < now; ++i) {
      __builtin_prefetch(piece + requests.byte + i * kLineBytes, 0, 2);
    }
    requests.byte += now * kLineBytes;
    lines -= now;
    if (now < left) return;
    __builtin_prefetch(piece + requests.piece_bytes - 1, 0, 2);
    requests.byte = 0;
    ++requests.piece;
  }
}

// The part of a run before its first whole line, or after its last one, goes through the caches
// unless the neighbouring block makes the line whole.
inline std::int64_t depart_head(const Departure& block, std::byte* out, const std::byte* stage) {
  const std::int64_t offset = line_offset(out);
  if (offset == 0) return 0;
  if (block.continued) return -offset;
  const std::int64_t head =
      kLineBytes - offset < block.run_bytes ? kLineBytes - offset : block.run_bytes;
  move_run(out, stage, head);
  return head;
}

inline void depart_tail(const Departure& block, const RunPlace& place) {
  const std::int64_t rest = block.run_bytes - block.byte;
  if (rest == 0) return;
  // The run goes on at `rest` bytes into its line.
  std::byte* const to = block.continues_at == nullptr ? block.out + place.out + block.byte
                                                      : block.continues_at + place.stage - rest;
  move_run(to, block.stage + place.stage + block.byte, rest);
}

inline void depart_through_caches(Departure& block, std::int64_t lines) {
  for (; lines > 0 && block.run < block.runs.size(); ++block.run) {
    const RunPlace& place = block.runs[block.run];
    move_run(block.out + place.out, block.stage + place.stage, block.run_bytes);
    lines -= ceil_div(block.run_bytes, kLineBytes);
  }
}

// Streams a staged block's whole lines.
inline void depart(Departure& block, std::int64_t lines) {
  if (!block.streaming) return depart_through_caches(block, lines);
  while (lines > 0 && block.run < block.runs.size()) {
    const RunPlace& place = block.runs[block.run];
    std::byte* const out = block.out + place.out;
    const std::byte* const stage = block.stage + place.stage;
    if (block.byte == 0) {
      block.byte = depart_head(block, out, stage);
      --lines;
    }
    const std::int64_t left = (block.run_bytes - block.byte) / kLineBytes;
    const std::int64_t now = lines < left ? lines : left;
    for (std::int64_t i = 0; i < now; ++i) {
      store_line_past_caches(out + block.byte + i * kLineBytes,
                             stage + block.byte + i * kLineBytes);
    }
    block.byte += now * kLineBytes;
    lines -= now;
    if (now < left) return;
    depart_tail(block, place);
    block.byte = 0;
    ++block.run;
  }
}

inline void work(Background& background, std::int64_t lines) {
  request(background.requests, lines);
  depart(background.departure, lines);
}

inline bool is_busy(const Background& background) {
  return background.requests.piece < background.requests.pieces.size() ||
         background.departure.run < background.departure.runs.size();
}

// Where many kernels would repeat the code.
[[gnu::noinline]] void work_apart(Background& background, std::int64_t lines) {
  work(background, lines);
}

inline auto work_if_busy(const Cells& cells) {
  return [&background = *cells.background, busy = is_busy(*cells.background)](std::int64_t lines) {
    if (busy) work_apart(background, lines);
  };
}

template <typename T>
void run(const std::byte* in, std::byte* out, const Cells& cells) {
  move_elements(
      in, out, cells,
      [](std::byte* to, const std::byte* from) { std::memcpy(to, from, sizeof(T)); },
      work_if_busy(cells));
}

void run_any(const std::byte* in, std::byte* out, const Cells& cells) {
  move_any_elements(in, out, cells, work_if_busy(cells));
}

// Transposes n elements in each 16-byte lane of n vectors, n = 16/sizeof(T): each round interleaves
// vector i with vector i + n/2 and so moves one bit of the vector's number into the element's
// (requirement G-07, in the form that needs only unpack instructions).
template <typename T, int kBytes>
inline void transpose_in_lanes(Bytes<kBytes>* rows) {
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

  template <typename Row>
  [[gnu::always_inline]] static inline void move(const Row& row, std::byte* out,
                                                 const std::int64_t* out_by_in) {
    Bytes<kBytes> rows[kGroups][kRows];
    for (int g = 0; g < kGroups; ++g) {
      for (int k = 0; k < kRows; ++k) rows[g][k] = load<Bytes<kBytes>>(row(g * kRows + k));
      transpose_in_lanes<T, kBytes>(rows[g]);
    }
    for (int k = 0; k < kRows; ++k) {
      Bytes<kBytes> lanes[kGroups];
      for (int g = 0; g < kGroups; ++g) lanes[g] = rows[g][k];
      gather_groups<kBytes, kGroups>(lanes);
      constexpr int kPieces = kBytes / 16 / kGroups;
      for (int g = 0; g < kGroups; ++g) {
        for (int p = 0; p < kPieces; ++p) {
          std::memcpy(out + out_by_in[(g * kPieces + p) * kRows + k],
                      reinterpret_cast<const std::byte*>(&lanes[g]) + p * 16 * kGroups,
                      16 * kGroups);
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

  template <typename Row>
  [[gnu::always_inline]] static inline void move(const Row& row, std::byte* out,
                                                 const std::int64_t* out_by_in) {
    Bytes<kBytes> rows[kRows];
    for (int k = 0; k < kRows; ++k) {
      rows[k] = load_lanes<kBytes>([&](int l) { return row(l * kRows + k); });
    }
    transpose_in_lanes<T, kBytes>(rows);
    for (int k = 0; k < kRows; ++k) store(out + out_by_in[k], rows[k]);
  }
};

constexpr std::int64_t kChunkBytes = 12 << 10;

// Tiles that do not fit any more are moved back until they do: elements in the overlap are written
// twice, with the same value.
template <typename T, typename Tile>
inline void tile_with(const std::byte* in, std::byte* out, const Cells& cells) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr std::int64_t kLines = ceil_div(Tile::kInStep * Tile::kOutStep * kSize, kLineBytes);
  const std::int64_t last_in = cells.in_count - Tile::kInStep;
  const std::int64_t last_out = cells.out_count - Tile::kOutStep;
  // So many output rows at a time that they stay in L1 until they are complete; over them, a few
  // source rows are swept along the in axis.
  const std::int64_t rows_at_once = kChunkBytes / (cells.out_count * kSize) / Tile::kInStep;
  const std::int64_t chunk = (rows_at_once > 4 ? rows_at_once : 4) * Tile::kInStep;
  for (std::int64_t begin = 0; begin < cells.in_count; begin += chunk) {
    const std::int64_t end = begin + chunk < cells.in_count ? begin + chunk : cells.in_count;
    for (std::int64_t o = 0; o < cells.out_count; o += Tile::kOutStep) {
      const std::int64_t at_out = o < last_out ? o : last_out;
      const std::int64_t* rows = cells.in_by_out + at_out;
      std::byte* to = out + at_out * kSize;
      for (std::int64_t i = begin; i < end; i += Tile::kInStep) {
        const std::int64_t at_in = i < last_in ? i : last_in;
        const std::byte* from = in + at_in * kSize;
        Tile::move([&](int k) { return from + rows[k]; }, to, cells.out_by_in + at_in);
        work(*cells.background, kLines);
      }
    }
  }
}

// At most 16 vectors are at work at a time.
template <typename T, int kBytes>
constexpr int kMostGroups =
    int{sizeof(T)} * kBytes / 16 >= kBytes / 4 ? kBytes / 16
                                               : (int{sizeof(T)} >= 2 && kBytes >= 32 ? 2 : 1);

template <typename T>
void tile(const std::byte* in, std::byte* out, const Cells& cells) {
  constexpr std::int64_t kSize = sizeof(T);
  constexpr int kGroups = kMostGroups<T, kVectorBytes>;
  const std::int64_t in_bytes = cells.in_count * kSize;
  const std::int64_t out_bytes = cells.out_count * kSize;
  if (in_bytes < 16 || out_bytes < 16) {
    run<T>(in, out, cells);
  } else if (in_bytes >= kVectorBytes && out_bytes >= 16 * kGroups) {
    tile_with<T, WideTile<T, kVectorBytes, kGroups>>(in, out, cells);
  } else if (out_bytes >= kVectorBytes) {
    tile_with<T, NarrowTile<T, kVectorBytes>>(in, out, cells);
#if defined(__AVX512BW__)
  } else if (out_bytes >= 32) {
    tile_with<T, NarrowTile<T, 32>>(in, out, cells);
#endif
  } else {
    tile_with<T, NarrowTile<T, 16>>(in, out, cells);
  }
}

[[maybe_unused]] void shuffle(const std::byte* in, std::byte* out, const Shuffle& program,
                              const std::int64_t* stores, const TileGroups& groups,
                              Background& background) {
  const std::int64_t lines = ceil_div(std::ssize(program.loads) * kVectorBytes, kLineBytes);
  const bool busy = is_busy(background);
  const auto done = [&](std::int64_t count) {
    if (busy) work_apart(background, count * lines);
  };
  interpret(in, out, program, stores, groups, done);
}

void copy(std::byte* out, const std::byte* in, std::int64_t bytes) {
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

// Only whole lines bypass the caches: a partial line written around them would cost a read and a
// write of the full line in memory.
void stream(std::byte* out, const std::byte* in, std::int64_t bytes) {
  std::int64_t head = (kLineBytes - line_offset(out)) % kLineBytes;
  if (head > bytes) head = bytes;
  move_run(out, in, head);
  std::int64_t i = head;
  for (; i + kLineBytes <= bytes; i += kLineBytes) store_line_past_caches(out + i, in + i);
  move_run(out + i, in + i, bytes - i);
}

constexpr Kernels make_kernels(const char* name) {
  return {
      .name = name,
      .tile = {tile<std::uint8_t>, tile<std::uint16_t>, tile<std::uint32_t>, tile<std::uint64_t>,
               tile<Bytes<16>>},
      .run = {run<std::uint8_t>, run<std::uint16_t>, run<std::uint32_t>, run<std::uint64_t>,
              run<Bytes<16>>, run_any},
      .shuffle = kHasShuffle ? shuffle : nullptr,
      .lanes = kVectorBytes / 16,
      .copy = copy,
      .stream = stream,
      .work = work,
      .fence = order_streamed_stores,
  };
}

}  // namespace
}  // namespace ttlg::cpu
