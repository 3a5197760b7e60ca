// What all entry points of the extension share: the planner caches, and executing a plan.
#pragma once

#include <cstddef>

#include "cuda/planning.hpp"
#include "plan/cpu/planning.hpp"

namespace ttlg::bindings {

cpu::PlanCache& cpu_plan_cache();
cuda::PlanCache& cuda_plan_cache();

// Call with the GIL held; it is released while much data moves.
void run(const cpu::Plan& plan, const std::byte* in, std::byte* out);

}  // namespace ttlg::bindings
