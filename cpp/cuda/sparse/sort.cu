// The radix sort is CUB's, which comes with the CUDA toolkit (N. Adinets and D. Merrill, "Onesweep:
// A Faster Least Significant Digit Radix Sort for GPUs", arXiv:2206.01784). Each type that it is
// compiled for costs build time and size, so there are two.
#include <cub/device/device_radix_sort.cuh>

#include "cuda/sparse/enqueue.hpp"

namespace ttlg::cuda::sparse {
namespace {

// Without temporary memory, CUB only says how much it needs.
template <typename Position>
cudaError_t sort(void* temporary, std::size_t& temporary_bytes, SortBuffers<Position>& buffers,
                 std::int64_t nonzeros, int begin_bit, int end_bit, cudaStream_t stream) {
  cub::DoubleBuffer<std::uint64_t> keys(buffers.keys, buffers.other_keys);
  cub::DoubleBuffer<Position> positions(buffers.positions, buffers.other_positions);
  // The type of the count is that of CUB's own offsets.
  const cudaError_t error =
      cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, keys, positions,
                                      static_cast<Position>(nonzeros), begin_bit, end_bit, stream);
  buffers = {keys.Current(), positions.Current(), keys.Alternate(), positions.Alternate()};
  return error;
}

}  // namespace

template <typename Position>
cudaError_t enqueue_sort(SortBuffers<Position>& buffers, std::int64_t nonzeros, int begin_bit,
                         int end_bit, std::byte* temporary, std::size_t temporary_bytes,
                         cudaStream_t stream) {
  cudaGetLastError();  // CUB would take an error that an earlier call left behind for its own
  return sort(temporary, temporary_bytes, buffers, nonzeros, begin_bit, end_bit, stream);
}

template <typename Position>
cudaError_t sort_temporary_bytes(std::int64_t nonzeros, int begin_bit, int end_bit,
                                 std::size_t& bytes) {
  SortBuffers<Position> none{};
  return sort(nullptr, bytes, none, nonzeros, begin_bit, end_bit, nullptr);
}

#define TTLG_SORT(Position)                                                                     \
  template cudaError_t enqueue_sort(SortBuffers<Position>&, std::int64_t, int, int, std::byte*, \
                                    std::size_t, cudaStream_t);                                 \
  template cudaError_t sort_temporary_bytes<Position>(std::int64_t, int, int, std::size_t&);
TTLG_SORT(std::uint32_t)
TTLG_SORT(std::uint64_t)
#undef TTLG_SORT

}  // namespace ttlg::cuda::sparse
