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

cudaError_t enqueue_kernel(const SkinnyArguments& p, const Launching& to) {
  return with_forward(p, to.launch, [&](auto width, auto forward) {
    return launch_kernel(skinny_kernel<width(), forward()>, to, p);
  });
}

cudaError_t enqueue_kernel(const SkinnyHeadsArguments& p, const Launching& to) {
  return with_width(to.launch,
                    [&](auto width) { return launch_kernel(skinny_heads_kernel<width()>, to, p); });
}

}  // namespace ttlg::cuda
