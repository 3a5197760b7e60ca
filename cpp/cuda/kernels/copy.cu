#include "cuda/enqueue.hpp"
#include "cuda/kernels/copy.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth>
__global__ void __launch_bounds__(CopyPolicy::kThreads)
    copy_kernel(const __grid_constant__ CopyArguments p, const std::byte* in, std::byte* out) {
  copy<kWidth>(p, DeviceContext(in, out));
}

template <int kWidth>
__global__ void __launch_bounds__(CopyPolicy::kThreads)
    copy_shifted_kernel(const __grid_constant__ CopyArguments p, const std::byte* in,
                        std::byte* out) {
  copy_shifted<kWidth>(p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const CopyArguments& p, const Launching& to) {
  return launch_kernel(
      p.shift == 0 ? copy_kernel<kMaxAccessBytes> : copy_shifted_kernel<kMaxAccessBytes>, to, p);
}

}  // namespace ttlg::cuda
