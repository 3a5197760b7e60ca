// The passes of C2R and R2C over a matrix of m rows and n columns (Catanzaro et al., PPoPP 2014,
// Alg. 1): gathers only, each with the rotation next to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/block_mover.hpp"
#include "cpu/inplace/matrix.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/inplace/step.hpp"

namespace ttlg::cpu {

// A matrix, and what the passes over it have in common.
struct PermutedMatrix {
  // `workspace_begin` is that of C2rWorkspace, at a line.
  PermutedMatrix(const InplaceStep& step, std::byte* data, std::byte* workspace_begin,
                 int max_threads, const Kernels& kernel_table)
      : c2r(c2r_of(step)),
        forward(step.kernel == InplaceKernel::c2r),
        apart(rotates_apart(c2r)),
        matrix{data, c2r.m, c2r.n, step.element_bytes},
        width(step.width),
        layout(step, max_threads),
        workspace(workspace_begin),
        threads(max_threads),
        table(kernel_table),
        skew(kernel_table.skew[width_index(step.element_bytes)]),
        skew_columns(kernel_table.skew_columns[width_index(step.element_bytes)]) {}

  C2r c2r;
  bool forward;  // C2R
  bool apart;    // whether rotations between blocks of columns are passes of their own
  Matrix matrix;
  std::int64_t width;  // of a band of columns
  C2rWorkspace layout;
  std::byte* workspace;
  int threads;
  const Kernels& table;
  SkewKernel skew;
  std::int64_t skew_columns;

  std::byte* own_workspace() const {
    return workspace + layout.first_thread + thread_number() * layout.thread_bytes;
  }
};

// The shuffle of every row, and the rotation, unless that is done apart.
void pass_over_rows(const PermutedMatrix& permuted);

// The rotation between blocks of columns, or the rotation and permutation of every column.
enum class ColumnOrder : std::uint8_t { rotation, shuffle };
void pass_over_columns(const PermutedMatrix& permuted, ColumnOrder order);

}  // namespace ttlg::cpu
