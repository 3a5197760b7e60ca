// Puts kernels on a stream. Nothing here allocates, copies or synchronises, so any of it may be
// captured in a CUDA graph.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/lower.hpp"

namespace ttlg::cuda {

// The first error of any launch. `in` and `out` are the pointers that `lower` was given.
cudaError_t enqueue(const Launch& launch, const std::byte* in, std::byte* out, cudaStream_t stream);

// One kernel's share of it: a launch from pointers that are shifted already.
cudaError_t enqueue_copy(const Launch& launch, const std::byte* in, std::byte* out,
                         cudaStream_t stream);
cudaError_t enqueue_match_large(const Launch& launch, const std::byte* in, std::byte* out,
                                cudaStream_t stream);
cudaError_t enqueue_match_small(const Launch& launch, const std::byte* in, std::byte* out,
                                cudaStream_t stream);
cudaError_t enqueue_distinct(const Launch& launch, const std::byte* in, std::byte* out,
                             cudaStream_t stream);
cudaError_t enqueue_arbitrary(const Launch& launch, const std::byte* in, std::byte* out,
                              cudaStream_t stream);

}  // namespace ttlg::cuda
