// What the kernels for transposition in place have in common: a matrix in memory, and how its parts
// are handed to the kernels that move blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "plan/cpu/block.hpp"

namespace ttlg::cpu {

// Row after row, without gaps.
struct Matrix {
  std::byte* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t element_bytes;

  std::int64_t row_bytes() const { return columns * element_bytes; }
  std::int64_t bytes() const { return rows * row_bytes(); }
  std::byte* at(std::int64_t row, std::int64_t column) const {
    return data + row * row_bytes() + column * element_bytes;
  }
};

// The kernel of a table that moves elements of so many bytes between any places.
inline BlockKernel strided_copy_of(const Kernels& table, std::int64_t element_bytes) {
  if (!is_vector_width(element_bytes)) return table.strided_copy.back();
  return table.strided_copy[static_cast<std::size_t>(
      std::countr_zero(static_cast<std::uint64_t>(element_bytes)))];
}

}  // namespace ttlg::cpu
