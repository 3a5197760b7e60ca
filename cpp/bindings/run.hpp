// What every way into the extension shares: the planner caches, and carrying a plan out.
#pragma once

#include <cstddef>

#include "plan/plan_cache.hpp"

namespace ttlg::bindings {

CpuPlanCache& plan_cache();
CudaPlanCache& cuda_plan_cache();

// Call with the GIL held; it is let go while much data moves.
void run(const Plan& plan, const std::byte* in, std::byte* out);

}  // namespace ttlg::bindings
