#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/orthogonal_arbitrary_packed.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kAligned, int kModes>
__global__ void __launch_bounds__(OrthogonalArbitraryPolicy::kThreads,
                                  kModes > 6 ? 1 : OrthogonalArbitraryPolicy::kMinBlocksPerSm)
    orthogonal_arbitrary_packed_kernel(const __grid_constant__ Grid<kModes> grid,
                                       const __grid_constant__ PackedArguments p,
                                       const std::byte* in, std::byte* out) {
  orthogonal_arbitrary_packed<kWidth, kAligned>(grid, p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const PackedArguments& p, const Launching& to) {
  return with_packed_access(to.launch, [&](auto width, auto aligned) {
    return with_grid(to.grid.grid, [&](const auto& grid) {
      return launch_kernel(
          orthogonal_arbitrary_packed_kernel<width(), aligned(), capacity_of<decltype(grid)>>, to,
          grid, p);
    });
  });
}

}  // namespace ttlg::cuda
