// Puts kernels on a stream. Nothing here allocates, copies or synchronises, so any of it may be
// captured in a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>

#include "cuda/launch.hpp"

namespace ttlg::cuda {

// One launch of a grid, from pointers that are shifted already. Those that work in place get the
// array in both.
struct Launching {
  const Launch& launch;
  const LaunchGrid& grid;
  const std::byte* in;
  std::byte* out;
  cudaStream_t stream;
};

// Launches a kernel and returns this launch's own error, not one that an earlier call left behind.
template <typename Kernel, typename... Arguments>
cudaError_t launch_kernel(Kernel* kernel, Launching to, Arguments... arguments) {
  static_assert(std::is_same_v<Kernel, void(Arguments..., const std::byte*, std::byte*)>);
  const Launch& launch = to.launch;
  // What a kernel may take without being asked, since shared memory is shared with the L1 cache.
  constexpr int kUsualSharedBytes = 48 << 10;
  if (launch.shared_bytes > kUsualSharedBytes) {
    const cudaError_t error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, launch.shared_bytes);
    if (error != cudaSuccess) return error;
  }
  void* pointers[] = {&arguments..., &to.in, &to.out};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(launch.blocks),
                          dim3(static_cast<unsigned>(launch.threads)), pointers,
                          static_cast<std::size_t>(launch.shared_bytes), to.stream);
}

// Launches the kernel of these arguments, which are those of `to.launch`; the ones from
// SquareArguments on work in place or between the array and a workspace.
cudaError_t enqueue_kernel(const CopyArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const MatchLargeArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const MatchLargeShiftedArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const MatchSmallArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const DistinctArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const ArbitraryArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const PackedArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const SquareArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const RunsArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const RowShuffleArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const ColumnShuffleArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const CellsArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const SkinnyArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const RowGatherArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const ColumnGatherArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const SkinnyHeadsArguments& p, const Launching& to);
cudaError_t enqueue_kernel(const CutCellsArguments& p, const Launching& to);

}  // namespace ttlg::cuda
