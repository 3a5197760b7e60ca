#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/orthogonal_distinct.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes>
__global__ void __launch_bounds__(OrthogonalDistinctPolicy::kThreads,
                                  OrthogonalDistinctPolicy::kMinBlocksPerSm)
    orthogonal_distinct_kernel(const __grid_constant__ Grid<kModes> grid,
                               const __grid_constant__ DistinctArguments p, const std::byte* in,
                               std::byte* out) {
  orthogonal_distinct<kWidth, kVectorIn, kVectorOut>(grid, p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const DistinctArguments& p, const Launching& to) {
  return with_distinct_access(to.launch, [&](auto width, auto vector_in, auto vector_out) {
    return with_grid(to.grid.grid, [&](const auto& grid) {
      return launch_kernel(orthogonal_distinct_kernel<width(), vector_in(), vector_out(),
                                                      capacity_of<decltype(grid)>>,
                           to, grid, p);
    });
  });
}

}  // namespace ttlg::cuda
