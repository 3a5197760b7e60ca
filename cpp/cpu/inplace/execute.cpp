#include "cpu/inplace/execute.hpp"

#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/inplace/kernels.hpp"
#include "cpu/inplace/matrix.hpp"
#include "cpu/inplace/passes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

void copy_back(const std::byte* buffer, std::byte* matrix, std::int64_t bytes, int threads,
               const Kernels& table) {
  constexpr std::int64_t kChunk = 256 << 10;
  parallel_ranges(threads, ceil_div(bytes, kChunk), 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kChunk;
    table.copy(matrix + first, buffer + first, std::min(end * kChunk, bytes) - first);
  });
}

// One matrix. R2C is C2R backwards.
void transpose_c2r(const PermutedMatrix& permuted) {
  const bool rotates = permuted.apart && permuted.c2r.c > 1;
  if (permuted.forward) {
    if (rotates) pass_over_columns(permuted, ColumnOrder::rotation);
    pass_over_rows(permuted);
    pass_over_columns(permuted, ColumnOrder::shuffle);
  } else {
    pass_over_columns(permuted, ColumnOrder::shuffle);
    pass_over_rows(permuted);
    if (rotates) pass_over_columns(permuted, ColumnOrder::rotation);
  }
}

}  // namespace

void transpose_buffered(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                        std::byte* workspace, int threads, const Kernels& table) {
  const std::int64_t bytes = step.matrix_bytes();
  for_matrices(step, data, workspace, whole_lines(bytes), threads,
               [&](std::byte* matrix, std::byte* buffer) {
                 execute(into_buffer, matrix, buffer, table);
                 copy_back(buffer, matrix, bytes, threads_each(step, threads), table);
               });
}

void execute_inplace(const InplacePlan& plan, std::byte* data, std::byte* workspace,
                     const Kernels& table) {
  std::size_t buffered = 0;
  for (const InplaceStep& step : plan.steps) {
    switch (step.kernel) {
      case InplaceKernel::buffered:
        transpose_buffered(step, plan.into_buffer[buffered++], data, workspace, plan.threads,
                           table);
        break;
      case InplaceKernel::cells:
        transpose_cells(step, data, workspace, plan.threads, table);
        break;
      case InplaceKernel::pieces:
        transpose_pieces(step, plan.into_buffer[buffered++], data, workspace, plan.threads, table);
        break;
      case InplaceKernel::square:
        transpose_square(step, data, plan.threads, table);
        break;
      case InplaceKernel::c2r:
      case InplaceKernel::r2c:
        for (std::int64_t number = 0; number < step.batch; ++number) {
          transpose_c2r(PermutedMatrix(step, data + number * step.matrix_bytes(), workspace,
                                       plan.threads, table));
        }
        break;
    }
  }
}

}  // namespace ttlg::cpu
