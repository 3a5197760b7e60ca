#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/copy.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth>
__global__ void __launch_bounds__(CopyPolicy::kThreads)
    copy_kernel(const __grid_constant__ CopyArguments p, const std::byte* in, std::byte* out) {
  copy<kWidth>(p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_copy(const Launch& launch, const LaunchGrid&, const std::byte* in,
                         std::byte* out, cudaStream_t stream) {
  const auto& p = std::get<CopyArguments>(launch.arguments);
  return with_width(launch, [&](auto width) {
    return launch_kernel(copy_kernel<width()>, launch, stream, p, in, out);
  });
}

}  // namespace ttlg::cuda
