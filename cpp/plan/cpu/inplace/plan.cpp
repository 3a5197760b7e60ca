#include "plan/cpu/inplace/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cpu/inplace/decompose.hpp"
#include "plan/cpu/planner.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kShareOfArray = 20;
constexpr std::int64_t kLeastWorkspace = 2 << 20;  // of each thread: rows and columns, in L2

// Whether both sides fill the same memory without gaps.
bool is_dense(const Problem& problem) {
  std::int64_t in_step = problem.element_bytes;
  std::int64_t out_step = problem.element_bytes;
  for (std::size_t k = 0; k < problem.modes.size(); ++k) {
    const Mode& in = problem.modes[k];
    const Mode& out = problem.modes[static_cast<std::size_t>(problem.perm[k])];
    if (in.in_byte_stride != in_step || out.out_byte_stride != out_step) return false;
    in_step *= in.extent;
    out_step *= out.extent;
  }
  return problem.in_byte_offset == 0 && problem.out_byte_offset == 0;
}

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

std::int64_t default_workspace(std::int64_t bytes, int threads) {
  return std::max(bytes / kShareOfArray, threads * kLeastWorkspace);
}

}  // namespace

InplacePlan build_inplace_plan(const Request& request, std::vector<InplaceStep> steps,
                               const Machine& machine, int threads) {
  InplacePlan plan(request, make_problem(request));
  plan.threads = threads;
  plan.steps = std::move(steps);
  for (const InplaceStep& step : plan.steps) {
    plan.workspace_bytes = std::max(plan.workspace_bytes, cpu::workspace_bytes(step, threads));
    if (step.kernel == InplaceKernel::buffered) {
      plan.into_buffer.push_back(plan_into_buffer(step, machine, threads));
    } else if (step.kernel == InplaceKernel::pieces) {
      plan.into_buffer.push_back(plan_into_buffer(LongMatrix(step).inside, machine, threads));
    }
  }
  return plan;
}

InplacePlan make_inplace_plan(const Request& request, const Machine& machine, int threads,
                              std::int64_t workspace) {
  const Problem folded = fold_run(make_problem(request));
  const std::int64_t bytes = folded.bytes();
  if (bytes == 0) return build_inplace_plan(request, {}, machine, 1);
  if (!is_dense(folded)) {
    throw std::invalid_argument(
        "only an array that fills its memory without gaps can be transposed in place");
  }
  // Threads would wait for one another longer than they work.
  constexpr std::int64_t kBytesPerThread = 256 << 10;
  const int most = std::clamp(threads, 1, kMaxThreads);
  const int team = static_cast<int>(std::clamp<std::int64_t>(bytes / kBytesPerThread, 1, most));
  StepLimits limits{.machine = machine,
                    .threads = team,
                    .workspace = workspace > 0 ? workspace : default_workspace(bytes, team)};
  std::optional<Decomposition> found = decompose(folded, limits);
  // A few rows of a short and wide matrix may be more than its twentieth part.
  while (!found && workspace == 0) {
    limits.workspace *= 2;
    found = decompose(folded, limits);
  }
  if (!found) {
    throw std::invalid_argument("a workspace of " + std::to_string(workspace) +
                                " bytes is too small for any way to transpose " +
                                std::to_string(bytes) + " bytes in place");
  }
  InplacePlan plan = build_inplace_plan(request, found->steps, machine, team);
  plan.seconds = found->seconds;
  return plan;
}

}  // namespace ttlg::cpu
