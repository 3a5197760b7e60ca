#include "plan/cuda/inplace/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "plan/cuda/inplace/step_choice.hpp"
#include "plan/cuda/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

constexpr std::int64_t kMinWorkspace = 16 << 20;  // little beside any device's memory

// Arrays begin at a multiple of their elements' size, or of the largest power of two that divides
// it.
std::int64_t word_bytes(const Request& request) {
  return common_power(request.itemsize, kMaxAccessBytes);
}

// With more than this nothing else becomes possible.
std::int64_t max_workspace(const Problem& folded) {
  constexpr std::int64_t kBeyondAnyDevice = std::int64_t{1} << 50;
  return 4 * std::min(folded.bytes(), kBeyondAnyDevice) + kMinWorkspace;
}

}  // namespace

InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               std::shared_ptr<const DeviceModel> model,
                               std::int64_t workspace_limit) {
  check_steps(request, steps);
  InplacePlan plan(request, make_problem(request));
  plan.steps = std::move(steps);
  plan.model = std::move(model);
  plan.workspace_limit = workspace_limit;
  for (const InplaceStep& step : plan.steps) {
    plan.predicted_seconds += step_seconds(step, *plan.model);
    plan.workspace_bytes =
        std::max(plan.workspace_bytes, cuda::workspace_bytes(step, *plan.model, workspace_limit));
  }
  return plan;
}

InplacePlan make_inplace_plan(const Request& request, std::shared_ptr<const DeviceModel> model,
                              const InplaceOptions& options) {
  const Problem folded = dense_problem(request);
  StepLimits limits{
      .model = *model, .workspace = 0, .word_bytes = word_bytes(request), .forced = options.forced};
  std::vector<InplaceStep> steps =
      steps_within(folded, limits, options.workspace, kMinWorkspace, max_workspace(folded));
  return build_inplace_plan(request, std::move(steps), std::move(model), limits.workspace);
}

std::vector<InplacePlan> inplace_candidates(const InplacePlan& plan) {
  const Problem folded = dense_problem(plan.request);
  if (folded.bytes() == 0) return {plan};
  std::vector<InplacePlan> plans;
  const StepLimits limits{.model = *plan.model,
                          .workspace = plan.workspace_limit,
                          .word_bytes = word_bytes(plan.request)};
  for (Decomposition<InplaceStep>& each : decompositions(folded, limits)) {
    plans.push_back(
        build_inplace_plan(plan.request, std::move(each.steps), plan.model, plan.workspace_limit));
  }
  return plans;
}

}  // namespace ttlg::cuda
