#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/row_gather.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kForward>
__global__ void __launch_bounds__(C2rPolicy::kMaxThreads, C2rPolicy::kMinBlocksPerSm)
    row_gather_kernel(const __grid_constant__ RowGatherArguments p, const std::byte* in,
                      std::byte* out) {
  row_gather<kWidth, kForward>(p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const RowGatherArguments& p, const Launching& to) {
  return with_forward(p, to.launch, [&](auto width, auto forward) {
    return launch_kernel(row_gather_kernel<width(), forward()>, to, p);
  });
}

}  // namespace ttlg::cuda
