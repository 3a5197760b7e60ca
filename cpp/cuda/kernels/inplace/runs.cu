#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/runs.hpp"
#include "plan/cuda/inplace/policy.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth>
__global__ void __launch_bounds__(RunsPolicy::kThreads, RunsPolicy::kMinBlocksPerSm)
    runs_kernel(const __grid_constant__ RunsArguments p, const std::byte* in, std::byte* out) {
  runs<kWidth>(p, InplaceDeviceContext(in, out));
}

template <int kWidth>
__global__ void __launch_bounds__(kMaxBlockThreads)
    runs_any_threads_kernel(const __grid_constant__ RunsArguments p, const std::byte* in,
                            std::byte* out) {
  runs<kWidth>(p, InplaceDeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const RunsArguments& p, const Launching& to) {
  return with_width(to.launch, [&](auto width) {
    return launch_kernel(to.launch.threads == RunsPolicy::kThreads
                             ? runs_kernel<width()>
                             : runs_any_threads_kernel<width()>,
                         to, p);
  });
}

}  // namespace ttlg::cuda
