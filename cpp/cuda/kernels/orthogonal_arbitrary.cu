#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/orthogonal_arbitrary.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes>
__global__ void __launch_bounds__(OrthogonalArbitraryPolicy::kThreads,
                                  kModes > 6 ? 1 : OrthogonalArbitraryPolicy::kMinBlocksPerSm)
    orthogonal_arbitrary_kernel(const __grid_constant__ Grid<kModes> grid,
                                const __grid_constant__ ArbitraryArguments p, const std::byte* in,
                                std::byte* out) {
  orthogonal_arbitrary<kWidth, kVectorIn, kVectorOut>(grid, p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const ArbitraryArguments& p, const Launching& to) {
  return with_wide_width(to.launch, [&](auto any_width) {
    return with_access(to.launch, any_width, [&](auto width, auto vector_in, auto vector_out) {
      return with_grid(to.grid.grid, [&](const auto& grid) {
        return launch_kernel(orthogonal_arbitrary_kernel<width(), vector_in(), vector_out(),
                                                         capacity_of<decltype(grid)>>,
                             to, grid, p);
      });
    });
  });
}

}  // namespace ttlg::cuda
