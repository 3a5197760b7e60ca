#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/square.hpp"
#include "plan/cuda/inplace/policy.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, bool kVector>
__global__ void __launch_bounds__(SquarePolicy::kThreads, SquarePolicy::kMinBlocksPerSm)
    square_kernel(const __grid_constant__ SquareArguments p, const std::byte* in, std::byte* out) {
  square<kWidth, kVector>(p, InplaceDeviceContext(in, out));
}

template <int kWidth, bool kVector>
__global__ void __launch_bounds__(kMaxBlockThreads)
    square_any_threads_kernel(const __grid_constant__ SquareArguments p, const std::byte* in,
                              std::byte* out) {
  square_any_threads<kWidth, kVector>(p, InplaceDeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const SquareArguments& p, const Launching& to) {
  return with_width(to.launch, [&](auto any_width) {
    return with_vectors(to.launch, any_width, [&](auto width, auto vector) {
      return launch_kernel(to.launch.threads == SquarePolicy::kThreads
                               ? square_kernel<width(), vector()>
                               : square_any_threads_kernel<width(), vector()>,
                           to, p);
    });
  });
}

}  // namespace ttlg::cuda
