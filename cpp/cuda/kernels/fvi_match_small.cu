#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/fvi_match_small.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, int kModes>
__global__ void __launch_bounds__(FviMatchSmallPolicy::kThreads,
                                  FviMatchSmallPolicy::min_blocks_per_sm(kWidth))
    fvi_match_small_kernel(const __grid_constant__ Grid<kModes> grid,
                           const __grid_constant__ MatchSmallArguments p, const std::byte* in,
                           std::byte* out) {
  fvi_match_small<kWidth>(grid, p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const MatchSmallArguments& p, const Launching& to) {
  return with_width(to.launch, [&](auto width) {
    return with_grid(to.grid.grid, [&](const auto& grid) {
      return launch_kernel(fvi_match_small_kernel<width(), capacity_of<decltype(grid)>>, to, grid,
                           p);
    });
  });
}

}  // namespace ttlg::cuda
