#include "cuda/enqueue.hpp"

namespace ttlg::cuda {
namespace {

using Enqueue = cudaError_t (*)(const Launch&, const LaunchGrid&, const std::byte*, std::byte*,
                                cudaStream_t);

// In the order of Launch's KernelArguments.
constexpr Enqueue kEnqueue[] = {enqueue_copy,
                                enqueue_match_large,
                                enqueue_match_large_shifted,
                                enqueue_match_small,
                                enqueue_distinct,
                                enqueue_arbitrary,
                                enqueue_arbitrary_packed,
                                enqueue_square,
                                enqueue_runs,
                                enqueue_row_shuffle,
                                enqueue_column_shuffle,
                                enqueue_row_gather,
                                enqueue_column_gather,
                                enqueue_cut_cells,
                                enqueue_cells};

}  // namespace

cudaError_t enqueue(const Launch& launch, const LaunchGrid& grid, const std::byte* in,
                    std::byte* out, cudaStream_t stream) {
  if (launch.blocks == 0) return cudaSuccess;
  const Enqueue enqueue_kernel = kEnqueue[launch.arguments.index()];
  for (std::int64_t i = 0; i < grid.launches; ++i) {
    const Shift shift = grid.shift(i);
    const cudaError_t error = enqueue_kernel(launch, grid, in + shift.in, out + shift.out, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace ttlg::cuda
