// What every way into the extension shares: the planner caches, and carrying a plan out.
#pragma once

#include <cstddef>

#include "cuda/planning.hpp"
#include "plan/cpu/planning.hpp"

namespace ttlg::bindings {

cpu::PlanCache& cpu_plan_cache();
cuda::PlanCache& cuda_plan_cache();

// Call with the GIL held; it is let go while much data moves.
void run(const cpu::Plan& plan, const std::byte* in, std::byte* out);

}  // namespace ttlg::bindings
