// Everything that the planner chooses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/cpu/kernel.hpp"

namespace ttlg::cpu {

// More would only be mistakes.
inline constexpr int kMaxThreads = 1024;

// Shares per thread: threads on slower or busier cores take fewer of them, so that none waits long
// for the slowest. Small calls have fewer: to take a share over moves its lines from core to core,
// which takes longer than to wait.
inline constexpr std::int64_t kSharesPerThread = 8;
inline constexpr std::int64_t kMinShareBytes = 128 << 10;

constexpr std::int64_t shares_per_thread(std::int64_t bytes, int threads) {
  return std::clamp<std::int64_t>(bytes / kMinShareBytes / threads, 1, kSharesPerThread);
}

// Threads that have less to do than this do not help, even where they watch for calls.
inline constexpr std::int64_t kMinBytesPerThread = 96 << 10;

constexpr bool is_thread_count(std::int64_t threads) {
  return threads >= 1 && threads <= kMaxThreads;
}

// Blocks that a prefetch may be ahead: what it brings must stay in L2 until it is read.
inline constexpr int kMaxPrefetchDistance = 16;

// A Plan is a function of its request and of these.
struct Parameters {
  Kernel kernel = Kernel::reference;
  // Extents of a block, one for each mode of the folded problem; of `copy`, the bytes of a chunk.
  std::vector<std::int64_t> block{};
  // The modes that are cut into blocks, outermost loop first.
  std::vector<int> loop_order{};
  bool staged = false;     // blocks pass through the staging buffer
  bool streaming = false;  // whole output lines bypass the caches, from the buffer or directly
  int prefetch = 0;        // while a block is moved, the one that many ahead is prefetched
  int threads = 1;

  // Whether lines go around the caches without a staging buffer.
  bool streams_directly() const { return streaming && !staged; }

  bool operator==(const Parameters&) const = default;
};

// How a block's modes are split among the two axes along which a kernel works, and `rest`.
enum class AxisSplit : std::uint8_t {
  contiguous,  // axes that are contiguous on their side, for vectors that are read or written whole
  strided,     // axes of any strides
  runs,        // the output's run in out_axis, everything else in `rest`
  none,        // everything in `rest`
};

// The split that the kernel works with.
inline AxisSplit axis_split_of(const Parameters& parameters) {
  switch (parameters.kernel) {
    case Kernel::tile:
      return AxisSplit::contiguous;
    case Kernel::shuffle:
      return AxisSplit::none;
    case Kernel::copy:
    case Kernel::strided_copy:
    case Kernel::reference:
      return parameters.streams_directly() ? AxisSplit::runs : AxisSplit::strided;
  }
  return AxisSplit::none;
}

}  // namespace ttlg::cpu
