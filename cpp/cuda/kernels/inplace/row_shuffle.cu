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

cudaError_t enqueue_kernel(const RowShuffleArguments& p, const Launching& to) {
  return with_row_shuffle(p, to.launch, [&](auto width, auto in_word, auto forward) {
    return launch_kernel(row_shuffle_kernel<width(), in_word(), forward()>, to, p);
  });
}

}  // namespace ttlg::cuda
