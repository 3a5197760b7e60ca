#include "cuda/enqueue.hpp"

namespace ttlg::cuda {

cudaError_t enqueue(const Launch& launch, const LaunchGrid& grid, const std::byte* in,
                    std::byte* out, cudaStream_t stream) {
  if (launch.blocks == 0) return cudaSuccess;
  for (std::int64_t i = 0; i < grid.launches; ++i) {
    const Shift shift = grid.shift(i);
    const cudaError_t error = std::visit(
        [&](const auto& p) {
          return enqueue_kernel(p, launch, grid, in + shift.in, out + shift.out, stream);
        },
        launch.arguments);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace ttlg::cuda
