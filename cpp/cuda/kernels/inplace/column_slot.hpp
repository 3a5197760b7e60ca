// Rows of a group of columns in shared memory.
#pragma once

#include "cuda/kernels/context.hpp"

namespace ttlg::cuda {

// Where a byte of such rows, one after another, is kept. Where a row is as wide as shared memory, a
// word's bank follows from its column alone, so that no order of rows leads to conflicts. Of
// elements narrower than a bank, those that share one may be read from neighbouring rows: the
// sectors of these change places.
template <int kWidth>
TTLG_DEVICE std::uint32_t column_slot(std::uint32_t offset) {
  if constexpr (kWidth == 1) return offset ^ ((offset >> 2) & 0x60);
  if constexpr (kWidth == 2) return offset ^ ((offset >> 1) & 0x40);
  return offset;
}

}  // namespace ttlg::cuda
