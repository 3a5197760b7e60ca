// Puts the steps of a sparse transposition on a stream. Nothing here allocates or synchronises, so
// any of it may be captured in a CUDA graph. All return the first error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/sparse/kernels.hpp"

namespace ttlg::cuda::sparse {

// For indices of 32 and 64 bits with positions of 32 and 64 bits.
template <typename Index, typename Position>
cudaError_t enqueue_pack(const PackArguments<Index, Position>& p, cudaStream_t stream);
template <typename Index, typename Position>
cudaError_t enqueue_unpack(const UnpackArguments<Index, Position>& p, cudaStream_t stream);
template <typename Position>
cudaError_t enqueue_gather(const GatherArguments<Position>& p, cudaStream_t stream);

cudaError_t enqueue_copy(std::byte* to, const std::byte* from, std::size_t bytes,
                         cudaStream_t stream);

// What is sorted, with room of the same size beside it.
template <typename Position>
struct SortBuffers {
  std::uint64_t* keys;
  Position* positions;
  std::uint64_t* other_keys;
  Position* other_positions;
};

// Sorts keys by the bits from `begin_bit` to before `end_bit`, stably, and the positions with them.
// Both may then be in the other buffers: the two change names.
template <typename Position>
cudaError_t enqueue_sort(SortBuffers<Position>& buffers, std::int64_t nonzeros, int begin_bit,
                         int end_bit, std::byte* temporary, std::size_t temporary_bytes,
                         cudaStream_t stream);

// How much temporary memory that needs, on the current device.
template <typename Position>
cudaError_t sort_temporary_bytes(std::int64_t nonzeros, int begin_bit, int end_bit,
                                 std::size_t& bytes);

}  // namespace ttlg::cuda::sparse
