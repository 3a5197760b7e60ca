#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/skinny.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kForward>
__global__ void __launch_bounds__(SkinnyPolicy::kThreads, SkinnyPolicy::kMinBlocksPerSm)
    skinny_kernel(const __grid_constant__ SkinnyArguments p, const std::byte* in, std::byte* out) {
  skinny<kWidth, kForward>(p, InplaceDeviceContext(in, out));
}

template <int kWidth>
__global__ void __launch_bounds__(SkinnyPolicy::kThreads, SkinnyPolicy::kMinBlocksPerSm)
    skinny_heads_kernel(const __grid_constant__ SkinnyHeadsArguments p, const std::byte* in,
                        std::byte* out) {
  skinny_heads<kWidth>(p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const SkinnyArguments& p, const Launch& launch, const LaunchGrid&,
                           const std::byte* in, std::byte* out, cudaStream_t stream) {
  return with_forward(p, launch, [&](auto width, auto forward) {
    return launch_kernel(skinny_kernel<width(), forward()>, launch, stream, p, in, out);
  });
}

cudaError_t enqueue_kernel(const SkinnyHeadsArguments& p, const Launch& launch, const LaunchGrid&,
                           const std::byte* in, std::byte* out, cudaStream_t stream) {
  return with_width(launch, [&](auto width) {
    return launch_kernel(skinny_heads_kernel<width()>, launch, stream, p, in, out);
  });
}

}  // namespace ttlg::cuda
