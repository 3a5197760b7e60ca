// What lowering to the passes of C2R and R2C has in common: blocks, and groups of columns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

#include "cuda/inplace/c2r.hpp"
#include "cuda/lower_common.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

inline std::uint32_t blocks_of(std::int64_t blocks) {
  if (blocks > kMaxGridBlocks) throw std::invalid_argument("too many thread blocks");
  return narrow32(blocks);
}

// For that many bytes of shared memory, but each of that many words of an element or a row.
inline int threads_of(std::int64_t bytes, std::int64_t words) {
  const std::int64_t threads = std::clamp<std::int64_t>(
      bytes / C2rPolicy::kBytesPerThread, C2rPolicy::kMinThreads, C2rPolicy::kMaxThreads);
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::max(threads, words))));
}

// How many columns before the first one the first group begins, so that groups begin with lines, or
// with sectors.
inline std::int64_t columns_before(const PermutedMatrices& matrices, std::int64_t columns) {
  const std::int64_t size = matrices.element_bytes;
  if (columns == matrices.c2r.n) return 0;
  for (std::int64_t unit : {128, 64, 32}) {
    if (matrices.row_bytes() % unit != 0 || columns * size % unit != 0) continue;
    for (std::int64_t before = 0; before < columns; ++before) {
      if ((matrices.address - before * size) % unit == 0) return before;
    }
  }
  return 0;
}

// The widest access with which rows of groups can be read: a vector, a bank of shared memory, or a
// word.
inline std::int64_t access_of_groups(const PermutedMatrices& matrices, std::int64_t columns,
                                     std::int64_t before) {
  const std::int64_t size = matrices.element_bytes;
  const std::int64_t word = matrices.word_bytes();
  const std::int64_t aligned = common_power(
      matrices.address | matrices.row_bytes() | columns * size | before * size, kMaxAccessBytes);
  if (aligned == kMaxAccessBytes) return aligned;
  return aligned >= kBankBytes ? std::max(word, kBankBytes) : word;
}

}  // namespace ttlg::cuda
