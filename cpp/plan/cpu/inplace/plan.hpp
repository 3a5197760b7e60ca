// The plan of a transposition in place on the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/plan.hpp"
#include "plan/inplace/plan.hpp"

namespace ttlg::cpu {

struct InplacePlan : BasicInplacePlan<InplaceStep> {
  using BasicInplacePlan<InplaceStep>::BasicInplacePlan;

  // How the matrices of each `buffered` step, and the pieces of `pieces`, get into the workspace,
  // in the order of these steps.
  std::vector<Plan> into_buffer{};
  int threads = 1;
  std::shared_ptr<const Machine> machine{};  // as in Plan

  bool operator==(const InplacePlan& other) const {
    return is_same(other) && threads == other.threads;
  }
};

// What the planner chooses from.
struct InplaceOptions {
  int threads = 1;                          // at most
  std::optional<std::int64_t> workspace{};  // the most bytes besides the array: see steps_within
  std::optional<InplaceKernel> forced{};

  bool operator==(const InplaceOptions&) const = default;
};

// Chooses the steps. Throws std::invalid_argument for an array with gaps, and where nothing can be
// done in this workspace or by this kernel.
InplacePlan make_inplace_plan(const Request& request, const Machine& machine,
                              const InplaceOptions& options);

// The ways that the planner has for this plan's request, threads and workspace, the fastest first.
std::vector<InplacePlan> inplace_candidates(const InplacePlan& plan, const Machine& machine);

// The plan with exactly these steps. Throws std::invalid_argument if they do not carry the request
// out.
InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               const Machine& machine, int threads, std::int64_t workspace_limit);

}  // namespace ttlg::cpu
