#include "cuda/inplace/lower.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/inplace/c2r.hpp"

namespace ttlg::cuda {
namespace {

// The passes of C2R, or the inverse of each in the opposite order.
class C2rLowering {
 public:
  C2rLowering(const InplaceStep& step, const InplaceMemory& memory)
      : matrices_{.c2r = c2r_of(step),
                  .forward = step.kernel == InplaceKernel::c2r,
                  .batch = step.batch,
                  .element_bytes = step.element_bytes,
                  .address = memory.address},
        memory_(memory) {
    if (!is_supported(matrices_)) {
      throw std::invalid_argument("elements of " + std::to_string(step.element_bytes) +
                                  " bytes are too large to be moved in words of " +
                                  std::to_string(matrices_.word_bytes()) +
                                  ", as the array's address asks for; pass an array that begins at "
                                  "a multiple of 16 bytes, or call ttlg.transpose(x, axes)");
    }
  }

  std::vector<InplaceLaunch> all() {
    matrices_.forward ? rotate() : shuffle_columns();
    shuffle_rows();
    matrices_.forward ? shuffle_columns() : rotate();
    return std::move(launches_);
  }

 private:
  void rotate() {
    if (matrices_.c2r.c > 1) append_columns(ColumnPass::rotation);
  }
  void shuffle_columns() { append_columns(ColumnPass::shuffle); }

  void append_columns(ColumnPass pass) {
    if (columns_fit(matrices_, memory_.on_chip_bytes)) {
      launches_.push_back({.launch = lower_column_shuffle(matrices_, pass, memory_.on_chip_bytes)});
    } else {
      append(lower_tall_columns(matrices_, pass, memory_.workspace_bytes));
    }
  }

  void shuffle_rows() {
    if (rows_fit(matrices_, memory_.on_chip_bytes)) {
      launches_.push_back({.launch = lower_row_shuffle(matrices_, memory_.on_chip_bytes)});
    } else {
      append(lower_long_rows(matrices_, memory_.workspace_bytes));
    }
  }

  void append(const std::vector<InplaceLaunch>& more) {
    launches_.insert(launches_.end(), more.begin(), more.end());
  }

  const PermutedMatrices matrices_;
  const InplaceMemory& memory_;
  std::vector<InplaceLaunch> launches_{};
};

}  // namespace

std::vector<InplaceLaunch> lower_inplace(const InplaceStep& step, const InplaceMemory& memory) {
  switch (step.kernel) {
    case InplaceKernel::c2r:
    case InplaceKernel::r2c:
      return C2rLowering(step, memory).all();
    case InplaceKernel::cells:
      return lower_cells(step, memory.address);
    case InplaceKernel::skinny:
      return lower_skinny(step, memory.address);
    case InplaceKernel::square_v1b:
    case InplaceKernel::square_v1:
    case InplaceKernel::square_v1r:
    case InplaceKernel::square_v2:
    case InplaceKernel::square_ip:
    case InplaceKernel::square_sg:
    case InplaceKernel::square_tw:
    case InplaceKernel::runs:
      break;
  }
  std::vector<InplaceLaunch> launches;
  for (const Launch& launch : lower_square(step, memory.address)) {
    launches.push_back({.launch = launch});
  }
  return launches;
}

}  // namespace ttlg::cuda
