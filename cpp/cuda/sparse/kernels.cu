#include <algorithm>

#include "cuda/sparse/enqueue.hpp"

namespace ttlg::cuda::sparse {
namespace {

// Threads of larger problems take several items.
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 22;

__device__ __forceinline__ std::int64_t first_item() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

__device__ __forceinline__ std::int64_t all_threads() { return std::int64_t{gridDim.x} * kThreads; }

template <typename Index, typename Position>
__global__ void __launch_bounds__(kThreads)
    pack_kernel(const __grid_constant__ PackArguments<Index, Position> p) {
  pack(p, first_item(), all_threads());
}

template <typename Index, typename Position>
__global__ void __launch_bounds__(kThreads)
    unpack_kernel(const __grid_constant__ UnpackArguments<Index, Position> p) {
  unpack(p, first_item(), all_threads());
}

template <int kWidth, typename Position>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const __grid_constant__ GatherArguments<Position> p) {
  gather<kWidth>(p, first_item(), all_threads());
}

template <typename Arguments>
cudaError_t launch(void (*kernel)(Arguments), Arguments p, int lanes, cudaStream_t stream) {
  const std::int64_t items_of_block = kThreads / lanes;
  const std::int64_t blocks =
      std::min((p.nonzeros + items_of_block - 1) / items_of_block, kMaxBlocks);
  void* pointers[] = {&p};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                          dim3(static_cast<unsigned>(blocks)), dim3(kThreads), pointers, 0, stream);
}

}  // namespace

template <typename Index, typename Position>
cudaError_t enqueue_pack(const PackArguments<Index, Position>& p, cudaStream_t stream) {
  return launch(pack_kernel<Index, Position>, p, 1, stream);
}

template <typename Index, typename Position>
cudaError_t enqueue_unpack(const UnpackArguments<Index, Position>& p, cudaStream_t stream) {
  return launch(unpack_kernel<Index, Position>, p, 1, stream);
}

template <typename Position>
cudaError_t enqueue_gather(const GatherArguments<Position>& p, cudaStream_t stream) {
  const int lanes = 1 << p.lanes_log2;
  switch (p.word_bytes) {
    case 1:
      return launch(gather_kernel<1, Position>, p, lanes, stream);
    case 2:
      return launch(gather_kernel<2, Position>, p, lanes, stream);
    case 4:
      return launch(gather_kernel<4, Position>, p, lanes, stream);
    case 8:
      return launch(gather_kernel<8, Position>, p, lanes, stream);
    default:
      return launch(gather_kernel<16, Position>, p, lanes, stream);
  }
}

cudaError_t enqueue_copy(std::byte* to, const std::byte* from, std::size_t bytes,
                         cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

#define TTLG_ENQUEUE(Index, Position)                                                       \
  template cudaError_t enqueue_pack(const PackArguments<Index, Position>& p, cudaStream_t); \
  template cudaError_t enqueue_unpack(const UnpackArguments<Index, Position>& p, cudaStream_t);
TTLG_ENQUEUE(std::int32_t, std::uint32_t)
TTLG_ENQUEUE(std::int32_t, std::uint64_t)
TTLG_ENQUEUE(std::int64_t, std::uint32_t)
TTLG_ENQUEUE(std::int64_t, std::uint64_t)
#undef TTLG_ENQUEUE
template cudaError_t enqueue_gather(const GatherArguments<std::uint32_t>& p, cudaStream_t);
template cudaError_t enqueue_gather(const GatherArguments<std::uint64_t>& p, cudaStream_t);

}  // namespace ttlg::cuda::sparse
