// The plan of a transposition in place: steps that each transpose a batch of matrices where they
// lie. Any permutation of any rank is a sequence of them, as each swaps two neighbouring groups of
// modes; which sequence is the cheapest is searched for.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/machine.hpp"
#include "plan/cpu/plan.hpp"
#include "plan/plan_base.hpp"

namespace ttlg::cpu {

struct InplacePlan : PlanBase {
  using PlanBase::PlanBase;

  std::vector<InplaceStep> steps{};
  // How the matrices of each `buffered` step, and the pieces of `pieces`, get into the workspace,
  // in the order of these steps.
  std::vector<Plan> into_buffer{};
  int threads = 1;
  std::int64_t workspace_bytes = 0;
  double seconds = 0;  // predicted
};

// Chooses the steps. `workspace` is the most bytes to use besides the array; 0 means a twentieth of
// it, or what a few rows and columns take where that is more. Throws std::invalid_argument for an
// array with gaps and for a workspace in which nothing can be done.
InplacePlan make_inplace_plan(const Request& request, const Machine& machine, int threads,
                              std::int64_t workspace);

// The plan with these very steps.
InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               const Machine& machine, int threads);

}  // namespace ttlg::cpu
