// Square matrices that lie in memory as [batch][order][between][order][element], the first mode
// the slowest: the two modes of the same order change places, all others stay where they are.
#pragma once

#include "cuda/kernels/context.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

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
