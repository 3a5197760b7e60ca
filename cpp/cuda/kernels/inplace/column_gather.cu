#include "cuda/dispatch.hpp"
#include "cuda/enqueue.hpp"
#include "cuda/kernels/inplace/column_gather.hpp"

namespace ttlg::cuda {
namespace {

template <int kWidth, int kAccess>
__global__ void __launch_bounds__(C2rPolicy::kMaxThreads, C2rPolicy::kMinBlocksPerSm)
    column_gather_kernel(const __grid_constant__ ColumnGatherArguments p, const std::byte* in,
                         std::byte* out) {
  column_gather<kWidth, kAccess>(p, DeviceContext(in, out));
}

}  // namespace

cudaError_t enqueue_kernel(const ColumnGatherArguments& p, const Launching& to) {
  return with_column_access(to.launch, p.access_bytes, [&](auto width, auto access) {
    return launch_kernel(column_gather_kernel<width(), access()>, to, p);
  });
}

}  // namespace ttlg::cuda
