// How many thread blocks of a kernel a device holds at once.
#pragma once

#include <cstdint>

#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/model/kernel_figures.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// Bytes of the slice, or of the tile of Orthogonal-Distinct, for which the instructions of a kernel
// are counted: the largest.
constexpr std::int64_t largest_slice_bytes(Schema schema, int width) {
  switch (schema) {
    case Schema::copy:
      return CopyPolicy::kThreads * CopyPolicy::kBatch * width;
    case Schema::fvi_match_large:
      return FviMatchLargePolicy::kChunkBytes;
    case Schema::fvi_match_small:
      return FviMatchSmallPolicy::kSliceBytes;
    case Schema::orthogonal_distinct: {
      const OrthogonalDistinctPolicy policy(width);
      return policy.tile_rows * policy.tile_columns * width;
    }
    case Schema::orthogonal_arbitrary:
      return OrthogonalArbitraryPolicy::max_elements(width) * width;
  }
  return 0;
}

constexpr int threads_of(Schema schema) {
  switch (schema) {
    case Schema::copy:
      return CopyPolicy::kThreads;
    case Schema::fvi_match_large:
      return FviMatchLargePolicy::kThreads;
    case Schema::fvi_match_small:
      return FviMatchSmallPolicy::kThreads;
    case Schema::orthogonal_distinct:
      return OrthogonalDistinctPolicy::kThreads;
    case Schema::orthogonal_arbitrary:
      return OrthogonalArbitraryPolicy::kThreads;
  }
  return 0;
}

// The figures of a kernel. `access` counts for the Orthogonal kernels, but not for elements of 16
// bytes, which are vectors.
const KernelFigures& figures_of(Schema schema, int width, VectorAccess access);

// The thread blocks of a kernel that the multiprocessors of a device hold together, one each at
// least: as many as have the registers that the compiler gave to the kernel, threads and, of
// `shared_bytes` each, shared memory.
std::int64_t resident_blocks(const DeviceModel& model, const KernelFigures& kernel,
                             std::int64_t shared_bytes);

}  // namespace ttlg::cuda
