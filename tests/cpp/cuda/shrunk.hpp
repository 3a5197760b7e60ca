// The planner's choice for a large tensor, on one that the host executor can move.
#pragma once

#include "plan/cuda/plan.hpp"

namespace ttlg::test {

// The plan's slice, access and coarsening on a contiguous tensor of fewer slices: cut modes keep
// two whole blocks or more, their rest, and their extent modulo a sector; modes outside the slice
// become 2 or 3, odd where they were; the others stay. So every row of a slice begins and ends
// where it does in the large tensor, as seen from the sectors, wherever the extents before it are
// multiples of a sector, as in the TTC cases.
cuda::Plan shrunk(const cuda::Plan& plan, std::int64_t grain_bytes);

}  // namespace ttlg::test
