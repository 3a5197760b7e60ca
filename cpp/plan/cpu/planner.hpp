// The planner: which kernel, in which blocks, with how many threads.
#pragma once

#include <optional>
#include <vector>

#include "plan/cpu/candidates.hpp"
#include "plan/cpu/machine.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// Chooses every parameter for a request: `forced` fixes the kernel, `threads` is the most that may
// be used. Throws std::invalid_argument if the forced kernel does not apply.
Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced = std::nullopt);

// Every way to carry a request out but the reference kernel's, in the order in which the planner
// would take them: the kernels as the cascade does, then those that no rule takes here; of each
// kernel the cheapest first. So the first is the planner's choice.
std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads);

}  // namespace ttlg::cpu
