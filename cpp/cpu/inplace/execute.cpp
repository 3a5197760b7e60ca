#include "cpu/inplace/execute.hpp"

#include "cpu/inplace/buffered.hpp"
#include "cpu/inplace/cells.hpp"
#include "cpu/inplace/passes.hpp"
#include "cpu/inplace/pieces.hpp"
#include "cpu/inplace/square.hpp"

namespace ttlg::cpu {
namespace {

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
