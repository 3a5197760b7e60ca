#include "cuda/shrunk.hpp"

#include <algorithm>

#include "plan/cuda/cases.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

std::int64_t shrunk_extent(std::int64_t extent, std::int64_t block, std::int64_t grain) {
  if (block == extent) return extent;
  if (block == 1) return 2;
  std::int64_t result = std::min(2 * block + extent % block, extent);
  while (result < extent && (extent - result) % grain != 0) result += block;
  return result;
}

}  // namespace

cuda::Plan shrunk(const cuda::Plan& plan, std::int64_t grain_bytes) {
  const std::int64_t grain = std::max<std::int64_t>(grain_bytes / plan.recast.element_bytes(), 1);
  const std::vector<std::int64_t> blocks = slice_extents({plan.recast, plan.parameters});
  std::vector<std::int64_t> extents = extents_of(plan.recast);
  for (std::size_t m = 0; m < extents.size(); ++m) {
    if (static_cast<int>(m) == plan.parameters.coarsened_mode) continue;
    extents[m] = shrunk_extent(extents[m], blocks[m], grain);
  }
  const Request request = paper_request(extents, plan.recast.perm, plan.recast.element_bytes());
  return built(request, plan.pointer_alignment, plan.parameters, *plan.model);
}

}  // namespace ttlg::test
