// Puts kernels on a stream. Nothing here allocates, copies or synchronises, so any of it may be
// captured in a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/launch.hpp"

namespace ttlg::cuda {

// All launches of a grid, between the pointers that `launch` was bound to. Returns the first error
// of any.
cudaError_t enqueue(const Launch& launch, const LaunchGrid& grid, const std::byte* in,
                    std::byte* out, cudaStream_t stream);

// Launches a kernel and returns this launch's own error, not one that an earlier call left behind.
template <typename... Parameters>
cudaError_t launch_kernel(void (*kernel)(Parameters...), const Launch& launch, cudaStream_t stream,
                          Parameters... parameters) {
  // What a kernel may take without being asked, since shared memory is shared with the L1 cache.
  constexpr int kUsualSharedBytes = 48 << 10;
  if (launch.shared_bytes > kUsualSharedBytes) {
    const cudaError_t error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes);
    if (error != cudaSuccess) return error;
  }
  void* pointers[] = {&parameters...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(launch.blocks),
                          dim3(static_cast<unsigned>(launch.threads)), pointers,
                          static_cast<std::size_t>(launch.shared_bytes), stream);
}

// One kernel's share of it: a launch on a grid, from pointers that are shifted already.
cudaError_t enqueue_copy(const Launch& launch, const LaunchGrid& launch_grid, const std::byte* in,
                         std::byte* out, cudaStream_t stream);
cudaError_t enqueue_match_large(const Launch& launch, const LaunchGrid& launch_grid,
                                const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_match_large_shifted(const Launch& launch, const LaunchGrid& launch_grid,
                                        const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_match_small(const Launch& launch, const LaunchGrid& launch_grid,
                                const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_distinct(const Launch& launch, const LaunchGrid& launch_grid,
                             const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_arbitrary(const Launch& launch, const LaunchGrid& launch_grid,
                              const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_arbitrary_packed(const Launch& launch, const LaunchGrid& launch_grid,
                                     const std::byte* in, std::byte* out, cudaStream_t stream);

// The same of those that work in place, where both pointers are the array's.
cudaError_t enqueue_square(const Launch& launch, const LaunchGrid& launch_grid, const std::byte* in,
                           std::byte* out, cudaStream_t stream);
cudaError_t enqueue_runs(const Launch& launch, const LaunchGrid& launch_grid, const std::byte* in,
                         std::byte* out, cudaStream_t stream);
cudaError_t enqueue_row_shuffle(const Launch& launch, const LaunchGrid& launch_grid,
                                const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_column_shuffle(const Launch& launch, const LaunchGrid& launch_grid,
                                   const std::byte* in, std::byte* out, cudaStream_t stream);

// And between the array and a workspace.
cudaError_t enqueue_row_gather(const Launch& launch, const LaunchGrid& launch_grid,
                               const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_column_gather(const Launch& launch, const LaunchGrid& launch_grid,
                                  const std::byte* in, std::byte* out, cudaStream_t stream);

cudaError_t enqueue_cut_cells(const Launch& launch, const LaunchGrid& launch_grid,
                              const std::byte* in, std::byte* out, cudaStream_t stream);
cudaError_t enqueue_cells(const Launch& launch, const LaunchGrid& launch_grid, const std::byte* in,
                          std::byte* out, cudaStream_t stream);

}  // namespace ttlg::cuda
