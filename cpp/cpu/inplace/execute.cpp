#include "cpu/inplace/execute.hpp"

#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/inplace/cells.hpp"
#include "cpu/inplace/passes.hpp"
#include "cpu/inplace/square.hpp"
#include "cpu/threads.hpp"

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

void transpose_buffered(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                        std::byte* workspace, int threads, const Kernels& table) {
  const std::int64_t bytes = step.matrix_bytes();
  const std::int64_t pitch = ceil_div(bytes, kLineBytes) * kLineBytes;
  const bool together = buffers(step, threads) == 1;
  parallel_ranges(together ? 1 : threads, step.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    std::byte* const buffer = workspace + (together ? 0 : thread_number() * pitch);
    for (std::int64_t number = begin; number < end; ++number) {
      std::byte* const matrix = data + number * bytes;
      execute(into_buffer, matrix, buffer, table);
      copy_back(buffer, matrix, bytes, together ? threads : 1, table);
    }
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
