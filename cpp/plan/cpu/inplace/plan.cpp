#include "plan/cpu/inplace/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "plan/cpu/inplace/step_choice.hpp"
#include "plan/cpu/planner.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kMinWorkspace = 2 << 20;  // of each thread: rows and columns, in L2

// How a matrix of a `buffered` step gets into the workspace.
Plan plan_into_buffer(const InplaceStep& step, const Machine& machine, int threads) {
  const std::int64_t row = step.columns * step.element_bytes;
  const Request request{.shape = {step.rows, step.columns},
                        .in_byte_strides = {row, step.element_bytes},
                        .axes = {1, 0},
                        .itemsize = step.element_bytes,
                        .out_byte_strides = {},
                        .inplace = false,
                        .out_alignment = kLineBytes};
  return make_plan(request, machine, threads_each(step, threads));
}

// Threads would wait for one another longer than they work.
int team_of(std::int64_t bytes, int threads) {
  constexpr std::int64_t kBytesPerThread = 256 << 10;
  const int max_threads = std::clamp(threads, 1, kMaxThreads);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / kBytesPerThread, 1, max_threads));
}

// With more than this there is no further way.
std::int64_t max_workspace(const Problem& folded, int threads) {
  constexpr std::int64_t kBeyondAnyMachine = std::int64_t{1} << 50;
  return threads * (4 * std::min(folded.bytes(), kBeyondAnyMachine) + kMinWorkspace);
}

}  // namespace

InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               const Machine& machine, int threads, std::int64_t workspace_limit) {
  check_threads(threads);
  check_steps(request, steps);
  InplacePlan plan(request, make_problem(request));
  plan.threads = threads;
  plan.workspace_limit = workspace_limit;
  plan.steps = std::move(steps);
  for (const InplaceStep& step : plan.steps) {
    plan.predicted_seconds += step_seconds(step, machine, threads);
    plan.workspace_bytes = std::max(plan.workspace_bytes, cpu::workspace_bytes(step, threads));
    if (step.kernel == InplaceKernel::buffered) {
      plan.into_buffer.push_back(plan_into_buffer(step, machine, threads));
    } else if (step.kernel == InplaceKernel::pieces) {
      plan.into_buffer.push_back(plan_into_buffer(LongMatrix(step).inside, machine, 1));
    }
  }
  return plan;
}

InplacePlan make_inplace_plan(const Request& request, const Machine& machine,
                              const InplaceOptions& options) {
  const Problem folded = dense_problem(request);
  StepLimits limits{.machine = machine,
                    .threads = team_of(folded.bytes(), options.threads),
                    .workspace = 0,
                    .forced = options.forced};
  std::vector<InplaceStep> steps =
      steps_within(folded, limits, options.workspace, limits.threads * kMinWorkspace,
                   max_workspace(folded, limits.threads));
  return build_inplace_plan(request, std::move(steps), machine, limits.threads, limits.workspace);
}

std::vector<InplacePlan> inplace_candidates(const InplacePlan& plan, const Machine& machine) {
  const Problem folded = dense_problem(plan.request);
  if (folded.bytes() == 0) return {plan};
  std::vector<InplacePlan> plans;
  const StepLimits limits{
      .machine = machine, .threads = plan.threads, .workspace = plan.workspace_limit};
  for (Decomposition<InplaceStep>& each : decompositions(folded, limits)) {
    plans.push_back(build_inplace_plan(plan.request, std::move(each.steps), machine, plan.threads,
                                       plan.workspace_limit));
  }
  return plans;
}

}  // namespace ttlg::cpu
