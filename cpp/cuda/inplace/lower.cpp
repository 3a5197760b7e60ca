#include "cuda/inplace/lower.hpp"

#include "cuda/inplace/c2r.hpp"

namespace ttlg::cuda {
namespace {

// C2R, or the inverse of each of its passes in the opposite order.
std::vector<Launch> lower_c2r(const InplaceStep& step, const DeviceModel& model,
                              std::int64_t address) {
  const PermutedMatrices matrices{.c2r = c2r_of(step),
                                  .forward = step.kernel == InplaceKernel::c2r,
                                  .batch = step.batch,
                                  .element_bytes = step.element_bytes,
                                  .address = address};
  const std::int64_t on_chip = on_chip_bytes(model);
  std::vector<Launch> launches;
  const auto rotate = [&] {
    if (matrices.c2r.c == 1) return;
    launches.push_back(lower_column_shuffle(matrices, ColumnPass::rotation, on_chip));
  };
  const auto shuffle = [&] {
    launches.push_back(lower_column_shuffle(matrices, ColumnPass::shuffle, on_chip));
  };
  matrices.forward ? rotate() : shuffle();
  launches.push_back(lower_row_shuffle(matrices, on_chip));
  matrices.forward ? shuffle() : rotate();
  return launches;
}

}  // namespace

std::vector<InplaceLaunch> lower_inplace(const InplaceStep& step, const DeviceModel& model,
                                         std::int64_t address) {
  const bool is_square = step.kernel != InplaceKernel::c2r && step.kernel != InplaceKernel::r2c;
  std::vector<InplaceLaunch> launches;
  for (const Launch& launch :
       is_square ? lower_square(step, address) : lower_c2r(step, model, address)) {
    launches.push_back({.launch = launch});
  }
  return launches;
}

}  // namespace ttlg::cuda
