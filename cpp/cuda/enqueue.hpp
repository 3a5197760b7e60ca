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

// One kernel's share of it: a launch on a grid, from pointers that are shifted already. The type of
// its arguments, which are those of `launch`, says which kernel it is.
cudaError_t enqueue_kernel(const CopyArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const MatchLargeArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const MatchLargeShiftedArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const MatchSmallArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const DistinctArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const ArbitraryArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const PackedArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);

// The same of those that work in place, where both pointers are the array's.
cudaError_t enqueue_kernel(const SquareArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const RunsArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const RowShuffleArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const ColumnShuffleArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const CellsArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const SkinnyArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);

// And between the array and a workspace.
cudaError_t enqueue_kernel(const RowGatherArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const ColumnGatherArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const SkinnyHeadsArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);
cudaError_t enqueue_kernel(const CutCellsArguments& p, const Launch& launch,
                           const LaunchGrid& launch_grid, const std::byte* in, std::byte* out,
                           cudaStream_t stream);

}  // namespace ttlg::cuda
