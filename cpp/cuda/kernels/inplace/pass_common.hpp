// What the passes of C2R and R2C have in common.
#pragma once

#include "cuda/kernels/context.hpp"
#include "cuda/kernels/cursors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// x mod n for x < 2 n, without a branch or a division.
TTLG_DEVICE std::uint32_t wrapped(std::uint32_t x, std::uint32_t n) {
  const std::uint32_t less = x - n;  // a large number where x is below n
  return less < x ? less : x;
}

// All of the block's shared memory. Its address stays in a register, where the compiler would work
// it out again for every access.
template <typename Context>
TTLG_DEVICE SharedCursor<Context> all_shared(const Context& context) {
  SharedCursor cursor(context, 0);
  cursor.advance(0);
  return cursor;
}

// Calls move(valid) for each of `count` iterations or some more, of which the first `own` are the
// thread's.
template <typename Move>
TTLG_DEVICE void for_iterations(std::uint32_t count, std::uint32_t own, const Move& move) {
  constexpr std::uint32_t kUnrolled = 4;
  for (std::uint32_t first = 0; first < count; first += kUnrolled) {
    TTLG_UNROLL
    for (std::uint32_t i = 0; i < kUnrolled; ++i) move(first + i < own);
  }
}

// Moves as for_iterations does, but in two steps, of several iterations together: all to registers,
// and from there.
template <int kBatch, typename T, typename Load, typename Store>
TTLG_DEVICE void for_batches(std::uint32_t count, std::uint32_t own, const Load& load,
                             const Store& store) {
  for (std::uint32_t first = 0; first < count; first += kBatch) {
    T held[kBatch];
    TTLG_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) held[i] = load(first + i < own);
    TTLG_UNROLL
    for (std::uint32_t i = 0; i < kBatch; ++i) store(first + i < own, held[i]);
  }
}

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

// Square matrices that lie in memory as [batch][order][between][order][element], the first mode the
// slowest: the two modes of the same order change places, all others stay where they are.
struct SquareMatrices {
  std::int64_t first;       // matrix of a launch
  FastDivisor between;      // how many matrices lie inside one another
  std::int64_t inner_step;  // from one of these to the next, in bytes
  std::int64_t outer_step;  // from all of these to the next ones
  std::int64_t row_stride;  // of a matrix

  // Where a launch's matrix begins.
  TTLG_DEVICE std::int64_t offset(std::int64_t number) const {
    const std::int64_t matrix = first + number;
    const std::int64_t outer = between.quotient(matrix);
    return outer * outer_step + (matrix - outer * between.divisor()) * inner_step;
  }
};

}  // namespace ttlg::cuda
