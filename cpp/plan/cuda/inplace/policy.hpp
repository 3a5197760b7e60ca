// The numbers of the kernels that transpose in place, as plan/cuda/policy.hpp has those of the
// others. Device code includes this file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "plan/cuda/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// What all passes of C2R and R2C have in common.
struct C2rPolicy {
  static constexpr int kMaxThreads = 1024;
  static constexpr int kMinThreads = 64;
  // Registers for that many threads of a multiprocessor.
  static constexpr int kMinBlocksPerSm = 1;
  // What a thread moves, unless these are too many threads or too few.
  static constexpr std::int64_t kBytesPerThread = 256;
  // Elements of a thread in flight where they are too narrow for asynchronous copies.
  static constexpr int kBatch = 16;

  // Dimensions, and sums of two of them, are counted in 32 bits on the device.
  static constexpr std::int64_t kMaxExtent = INT32_MAX;
  // The words of an element, which the threads of a block share out.
  static constexpr std::int64_t kMaxWords = kMaxThreads;

  // Of columns, as many as make up whole sectors, unless there are fewer.
  static constexpr std::int64_t in_sectors(std::int64_t columns, std::int64_t element_bytes) {
    const std::int64_t grain = kSectorBytes / std::gcd(element_bytes, kSectorBytes);
    return columns < grain ? columns : columns / grain * grain;
  }

  static constexpr std::int64_t in_lines(std::int64_t bytes) {
    return ceil_div(bytes, std::int64_t{kSharedLineBytes}) * kSharedLineBytes;
  }
};

struct RowShufflePolicy {
  // Short rows are moved together, about this many bytes of them.
  static constexpr std::int64_t kBlockBytes = 32 << 10;

  // Bytes of a word in which rows are copied in order.
  static constexpr int part_bytes(int word_bytes) {
    return std::max(word_bytes, static_cast<int>(kBankBytes));
  }

  // Shared memory for this many bytes of rows, which may begin anywhere in a bank.
  static constexpr std::int64_t shared_bytes(std::int64_t bytes) {
    return C2rPolicy::in_lines(kBankBytes + bytes);
  }
};

struct ColumnShufflePolicy {
  // Bytes of the columns that are moved together: a line.
  static constexpr std::int64_t kGroupBytes = 128;
  // Short columns are moved in wider groups, up to this many bytes of them together, of which no
  // row has more words than this.
  static constexpr std::int64_t kMaxGroupBytes = 16 << 10;
  static constexpr std::int64_t kMaxRowWords = 256;

  // Shared memory for columns of m x n elements, a sector of them at least.
  static constexpr std::int64_t shared_bytes(std::int64_t m, std::int64_t columns,
                                             std::int64_t element_bytes) {
    return C2rPolicy::in_lines(m * columns * element_bytes);
  }
  static constexpr std::int64_t min_shared_bytes(std::int64_t m, std::int64_t n,
                                                 std::int64_t element_bytes) {
    return shared_bytes(m, std::min(ceil_div(kSectorBytes, element_bytes), n), element_bytes);
  }
};

// Large elements that move along cycles.
struct CellsPolicy {
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr int kDepth = 4;               // cells on their way to a thread
  static constexpr int kBatch = 4;               // words of a thread to or from the workspace
  static constexpr std::int64_t kMinBytes = 32;  // of a cell
  // Cells for each that is saved: fewer of them keep more threads busy and take more workspace.
  static constexpr std::int64_t kSpacing = 64;
  static constexpr std::int64_t kMaxCells = INT32_MAX;  // of a matrix
};

// Matrices of few rows or columns, the fields of structures, in pieces of the other dimension.
struct SkinnyPolicy {
  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  // Elements of a thread that are too narrow for asynchronous copies.
  static constexpr int kBatch = 8;
  static constexpr std::int64_t kMinFields = 2;
  static constexpr std::int64_t kMaxFields = 31;
  static constexpr std::int64_t kMaxElementBytes = 32;
  // What every device gives to several blocks of a multiprocessor.
  static constexpr std::int64_t kSharedBytes = 47 << 10;
  // What pieces have of a field.
  static constexpr std::int64_t kMinCellBytes = 256;
  static constexpr std::int64_t kMaxCellBytes = 16 << 10;

  // Shared memory for that many elements of each field, which begin in different banks.
  static constexpr std::int64_t shared_bytes(std::int64_t fields, std::int64_t length,
                                             std::int64_t element_bytes) {
    return fields * (length * element_bytes + kSharedLineBytes);
  }
  static constexpr std::int64_t max_length(std::int64_t fields, std::int64_t element_bytes,
                                           std::int64_t shared_bytes) {
    return (shared_bytes / fields - kSharedLineBytes) / element_bytes;
  }
};

// Longer rows and taller columns go through a workspace.
struct RowGatherPolicy {
  static constexpr int kThreads = 256;  // at least
  static constexpr int kBatch = 8;      // words of a thread
};

struct ColumnGatherPolicy {
  // Shared memory of a tile of a group of columns.
  static constexpr std::int64_t kTileBytes = 48 << 10;
  // Columns of a group: a line of them. Of narrow elements these are so many that too many rows
  // would be loaded by two tiles.
  static constexpr std::int64_t group_columns(std::int64_t n, std::int64_t element_bytes) {
    const std::int64_t columns = (element_bytes <= 2 ? 64 : 128) / element_bytes;
    return std::min(std::max<std::int64_t>(C2rPolicy::in_sectors(columns, element_bytes), 1), n);
  }
  // The workspace for a group.
  static constexpr std::int64_t workspace_bytes(std::int64_t m, std::int64_t n,
                                                std::int64_t element_bytes) {
    return m * group_columns(n, element_bytes) * element_bytes;
  }
};

// The width of square_v1b's bands, in tiles of a matrix that has `tiles` on a side: 8 as in the
// paper, and less than all, as its section 5 has it. The pages that a band's tiles touch at a time,
// and those of their mirror images, must be within the reach of the TLB.
constexpr std::int64_t band_width(std::int64_t tiles) {
  return std::clamp<std::int64_t>(tiles - 1, 1, 8);
}

// The order of square_sg's regions, in tiles. Smaller ones touch fewer pages, but there is a launch
// for each of them.
constexpr std::int64_t region_order(std::int64_t tiles) {
  return std::min<std::int64_t>(tiles, 128);
}

// What the threads of a block may be, powers of two, where a kernel takes any number of them:
// Gorawski and Lorek tried several (section 7). All but the usual number share one kernel more,
// whose threads have the registers of the largest block.
inline constexpr int kMinBlockThreads = 64;
inline constexpr int kMaxBlockThreads = 1024;

}  // namespace ttlg::cuda
