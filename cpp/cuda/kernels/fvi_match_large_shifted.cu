#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/fvi_match_large_shifted.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, int kModes>
__global__ void __launch_bounds__(FviMatchLargePolicy::kThreads,
                                  FviMatchLargeShiftedPolicy::kMinBlocksPerSm)
    fvi_match_large_shifted_kernel(const __grid_constant__ Grid<kModes> grid,
                                   const __grid_constant__ MatchLargeShiftedArguments p,
                                   const std::byte* in, std::byte* out) {
  fvi_match_large_shifted<kWidth>(grid, p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const MatchLargeShiftedArguments& p, const Launching& to) {
  return with_grid(to.grid.grid, [&](const auto& grid) {
    return launch_kernel(fvi_match_large_shifted_kernel<FviMatchLargeShiftedPolicy::kWidth,
                                                        capacity_of<decltype(grid)>>,
                         to, grid, p);
  });
}

}  // namespace ttlg::cuda
