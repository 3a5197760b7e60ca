#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/cells.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kGaps>
__global__ void __launch_bounds__(CellsPolicy::kThreads, CellsPolicy::kMinBlocksPerSm)
    cut_cells_kernel(const __grid_constant__ CutCellsArguments p, const std::byte* in,
                     std::byte* out) {
  cut_cells<kWidth, kGaps>(p, DeviceContext(in, out));
}

template <int kWidth, bool kGaps>
__global__ void __launch_bounds__(CellsPolicy::kThreads, CellsPolicy::kMinBlocksPerSm)
    cells_kernel(const __grid_constant__ CellsArguments p, const std::byte* in, std::byte* out) {
  cells<kWidth, kGaps>(p, InplaceDeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const CutCellsArguments& p, const Launching& to) {
  return with_gaps(p, to.launch, [&](auto width, auto gaps) {
    return launch_kernel(cut_cells_kernel<width(), gaps()>, to, p);
  });
}

cudaError_t enqueue_kernel(const CellsArguments& p, const Launching& to) {
  return with_gaps(p, to.launch, [&](auto width, auto gaps) {
    return launch_kernel(cells_kernel<width(), gaps()>, to, p);
  });
}

}  // namespace ttlg::cuda
