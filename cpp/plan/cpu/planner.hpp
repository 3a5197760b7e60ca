// The planner: which kernel, in which blocks, with how many threads.
#pragma once

#include <optional>

#include "plan/cpu/machine.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// Chooses every parameter for a request: `forced` fixes the kernel, `threads` is the most that may
// be used. Throws std::invalid_argument if the forced kernel does not apply.
Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced = std::nullopt);

}  // namespace ttlg::cpu
