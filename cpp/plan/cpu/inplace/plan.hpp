// The plan of a transposition in place: steps that each transpose a batch of matrices where they
// lie. Any permutation of any rank is a sequence of them, as each swaps two neighbouring groups of
// modes; which sequence is the cheapest is searched for.
#pragma once

#include <cstdint>
#include <optional>
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
  std::int64_t workspace_limit = 0;  // what the planner could use
  std::int64_t workspace_bytes = 0;  // what the steps do use
  double seconds = 0;                // predicted

  bool operator==(const InplacePlan& other) const {
    return request == other.request && steps == other.steps && threads == other.threads;
  }
};

// What the planner chooses from.
struct InplaceOptions {
  int threads = 1;             // at most
  std::int64_t workspace = 0;  // the most bytes besides the array; 0: a twentieth of it, or what a
                               // few rows and columns take where that is more
  std::optional<InplaceKernel> forced{};

  bool operator==(const InplaceOptions&) const = default;
};

// Chooses the steps. Throws std::invalid_argument for an array with gaps, and where nothing can be
// done in this workspace or by this kernel.
InplacePlan make_inplace_plan(const Request& request, const Machine& machine,
                              const InplaceOptions& options);

// The ways that the planner has for this plan's request, threads and workspace, the fastest first.
std::vector<InplacePlan> inplace_candidates(const InplacePlan& plan, const Machine& machine);

// The plan with these very steps. Throws std::invalid_argument if they do not carry the request
// out.
InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               const Machine& machine, int threads, std::int64_t workspace_limit);

}  // namespace ttlg::cpu
