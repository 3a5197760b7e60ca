// The numbers of the kernels: the device's limits, and one tuning policy for each kernel, apart
// from its body, as CUB has them. Kernels, launch bounds, lowering, validation, slice search and
// the time model read them here. Device code includes this file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/width.hpp"

namespace ttlg::cuda {

inline constexpr int kWarpSize = 32;
// The widest access of a thread, and what pointers and strides must be multiples of for it.
inline constexpr std::int64_t kMaxAccessBytes = kMaxWidth;
// What the L2 cache and the memory keep and move at once.
inline constexpr std::int64_t kSectorBytes = 32;
// What the 32 banks of shared memory deliver in a cycle: a line of it.
inline constexpr std::uint32_t kSharedLineBytes = 128;
// A bank of it, and the least that is copied there asynchronously.
inline constexpr std::int64_t kBankBytes = 4;
// CUDA's limit for the x dimension of a grid.
inline constexpr std::int64_t kMaxGridBlocks = (std::int64_t{1} << 31) - 1;
// Most modes that one side of a slice may combine.
inline constexpr int kAxisModes = 8;

// Most buffers of an Orthogonal kernel.
inline constexpr int kMaxStages = 2;

// Whether threads use wide accesses on either side: of 16 bytes, see wide_in_bytes.
struct VectorAccess {
  bool vector_in = false;
  bool vector_out = false;

  bool operator==(const VectorAccess&) const = default;
};

struct CopyPolicy {
  static constexpr int kThreads = 256;
  static constexpr int kBatch = 4;  // words of a thread
};

struct FviMatchLargePolicy {
  static constexpr int kThreads = 256;
  static constexpr int kBatch = 4;  // loads of a thread in flight, at least
  // Narrow words need more of them for as many bytes, and registers for them.
  static constexpr int batch(int word_bytes) { return word_bytes <= 2 ? 32 / word_bytes : kBatch; }
  static constexpr int min_blocks_per_sm(int word_bytes) {
    return word_bytes == 1 ? 4 : word_bytes <= 2 ? 5 : 8;
  }
  // Longest chunk of a run that one group of lanes takes.
  static constexpr std::int64_t kChunkBytes = 16 << 10;
  // What the lanes of a group move side by side at least.
  static constexpr std::int64_t kGroupBytes = 128;
  // What a lane moves at most, where that leaves about four blocks for each multiprocessor of a
  // large device.
  static constexpr std::int64_t kLaneBytes = 64;
  static constexpr std::int64_t kMinBlocks = 512;
};

// Where runs have no wide words in common.
struct FviMatchLargeShiftedPolicy {
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr int kBatch = 8;  // loads of a thread in flight along a long run
  static constexpr int kWidth = 4;  // bytes of a word
  // Most bytes that are left at both ends of a chunk, rounded up to a power of two.
  static constexpr int kEnds = 16;
};

struct FviMatchSmallPolicy {
  static constexpr int kThreads = 256;
  // Loads of a thread in flight, and stores likewise.
  static constexpr int batch(int word_bytes) { return std::max(4, 32 / word_bytes); }
  // As many as the shared memory of whole slices allows, unless such batches take the registers.
  static constexpr int min_blocks_per_sm(int word_bytes) { return word_bytes == 1 ? 4 : 6; }
  // Most rows and columns of the buffer: one row for each of at most 32 warps (TTLG, Alg. 6).
  static constexpr std::int64_t kMaxBlock = 32;
  // Shared memory that a slice may take, so that several blocks share a multiprocessor.
  static constexpr std::int64_t kSliceBytes = 32 << 10;
};

// Numbers that follow from the width of an element, which the planner knows at run time and the
// kernel when it is compiled.
struct OrthogonalDistinctPolicy {
  static constexpr int kThreads = 256;

  constexpr explicit OrthogonalDistinctPolicy(std::int64_t element_bytes)
      : tile_rows(element_bytes == 1   ? 128
                  : element_bytes <= 8 ? 64
                                       : 32),
        tile_columns(element_bytes <= 2   ? 128
                     : element_bytes == 4 ? 64
                                          : 32),
        buffer_bytes(
            static_cast<int>(tile_rows * (tile_columns * element_bytes + kMaxAccessBytes))) {}

  // The tiles through which slices move, in elements: 16 KB, lines of 128 bytes or more on both
  // sides. Wider than the 32 x 32 of TTLG, Alg. 2, they need fewer instructions for each byte.
  int tile_rows;
  int tile_columns;
  // Of a tile in shared memory, its rows padded.
  int buffer_bytes;

  // Whether elements are read as vectors where these fit. Bytes that are written in words are read
  // in words.
  static constexpr bool reads_vectors(std::int64_t element_bytes, VectorAccess access) {
    return access.vector_in && (element_bytes > 1 || access.vector_out);
  }
  // Bytes of an access where elements are not read, or written, as vectors.
  static constexpr std::int64_t narrow_in_bytes(std::int64_t element_bytes) {
    return std::max(element_bytes, kBankBytes);
  }
  static constexpr std::int64_t narrow_out_bytes(std::int64_t element_bytes) {
    return element_bytes == 1 ? kBankBytes : element_bytes;
  }

  // Thread blocks whose registers a multiprocessor holds at once.
  static constexpr int kMinBlocksPerSm = 4;
};

// Tiles of square matrices in place, each made of one or two tiles of Orthogonal-Distinct.
struct SquarePolicy {
  static constexpr int kThreads = OrthogonalDistinctPolicy::kThreads;
  static constexpr int kMinBlocksPerSm = 4;

  constexpr explicit SquarePolicy(std::int64_t element_bytes) {
    const OrthogonalDistinctPolicy part(element_bytes);
    tile_order = std::max(part.tile_rows, part.tile_columns);
    tile_bytes = tile_order / part.tile_rows * (tile_order / part.tile_columns) * part.buffer_bytes;
  }

  int tile_order;  // in elements
  int tile_bytes;  // of shared memory; a tile and its partner take twice as many
};

// Runs of any length in place, in words.
struct RunsPolicy {
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr int kBatch = 4;  // words of a thread on either side of the diagonal
  static constexpr int kBand = 32;  // runs, in the order of V1B
};

struct OrthogonalArbitraryPolicy {
  // Threads hold offsets in registers: more of them hold fewer each.
  static constexpr int kThreads = 512;
  static constexpr int kMinBlocksPerSm = 2;
  static constexpr int kOffsetsPerThread = 8;  // of a side's accesses
  // Shared memory that a slice may take, packed and with the padding of its rows.
  static constexpr std::int64_t kSliceBytes = 32 << 10;
  static constexpr std::int64_t kPaddedSliceBytes = kSliceBytes + kSliceBytes / 4;

  // Whether elements move in words of several.
  static constexpr bool is_packed(std::int64_t element_bytes) { return element_bytes < kBankBytes; }

  // Bytes of a wide access to either side.
  static constexpr std::int64_t wide_bytes(std::int64_t element_bytes) {
    return is_packed(element_bytes) ? kBankBytes : kMaxAccessBytes;
  }

  // Elements that a slice may hold: for each of a thread's accesses an offset in registers.
  static constexpr std::int64_t max_elements(std::int64_t element_bytes) {
    const std::int64_t access_bytes = std::max(element_bytes, kBankBytes);
    return std::min(kThreads * kOffsetsPerThread * access_bytes, kSliceBytes) / element_bytes;
  }
};

}  // namespace ttlg::cuda
