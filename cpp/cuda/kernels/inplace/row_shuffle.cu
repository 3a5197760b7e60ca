#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/row_shuffle.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, int kPer, bool kForward>
__global__ void __launch_bounds__(C2rPolicy::kMaxThreads, C2rPolicy::kMinBlocksPerSm)
    row_shuffle_kernel(const __grid_constant__ RowShuffleArguments p, const std::byte* in,
                       std::byte* out) {
  row_shuffle<kWidth, kPer, kForward>(p, InplaceDeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const RowShuffleArguments& p, const Launch& launch, const LaunchGrid&,
                           const std::byte* in, std::byte* out, cudaStream_t stream) {
  return with_row_shuffle(p, launch, [&](auto width, auto in_word, auto forward) {
    return launch_kernel(row_shuffle_kernel<width(), in_word(), forward()>, launch, stream, p, in,
                         out);
  });
}

}  // namespace ttlg::cuda
