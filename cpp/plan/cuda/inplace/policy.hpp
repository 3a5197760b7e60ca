// The numbers of the kernels that transpose in place, as plan/cuda/policy.hpp has those of the
// others. Device code includes this file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/cuda/policy.hpp"

namespace ttlg::cuda {

// What all passes of C2R and R2C have in common.
struct C2rPolicy {
  static constexpr int kMaxThreads = 1024;
  static constexpr int kMinThreads = 64;
  // Registers for that many threads of a multiprocessor.
  static constexpr int kMinBlocksPerSm = 1;
  // What a thread moves at least, unless there are too many of them: so much of the shared memory
  // of a multiprocessor for each of the threads that it holds.
  static constexpr std::int64_t kBytesPerThread = 256;
  // Elements of a thread in flight where they are too narrow for asynchronous copies.
  static constexpr int kBatch = 16;

  // Dimensions, and sums of two of them, are counted in 32 bits on the device.
  static constexpr std::int64_t kMaxExtent = INT32_MAX;
  // The words of an element, which the threads of a block share out.
  static constexpr std::int64_t kMaxWords = kMaxThreads;
};

struct RowShufflePolicy {
  // Short rows are moved together, about so many bytes of them.
  static constexpr std::int64_t kPieceBytes = 32 << 10;
};

struct ColumnShufflePolicy {
  // Bytes of the columns that are moved together: a line.
  static constexpr std::int64_t kGroupBytes = 128;
  // Short columns are moved in wider groups, up to so many bytes of them together, of which no row
  // has more words than this.
  static constexpr std::int64_t kPieceBytes = 16 << 10;
  static constexpr std::int64_t kMaxRowWords = 256;
};

// Longer rows and taller columns go through a workspace.
struct RowGatherPolicy {
  static constexpr int kThreads = 256;
  static constexpr int kBatch = 8;  // words of a thread
};

struct ColumnGatherPolicy {
  // Shared memory of a tile of a group of columns.
  static constexpr std::int64_t kTileBytes = 48 << 10;
  // Of narrow elements a line has so many that too many rows would be loaded by two tiles.
  static constexpr std::int64_t group_bytes(std::int64_t element_bytes) {
    return element_bytes <= 2 ? 64 : 128;
  }
};

}  // namespace ttlg::cuda
