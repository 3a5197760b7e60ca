// The planner: which kernel, in which blocks, with how many threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/cpu/candidates.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// Chooses every parameter for a request: `forced` fixes the kernel, `threads` is the most that may
// be used. Throws std::invalid_argument if the forced kernel does not apply.
Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced = std::nullopt);

// The predicted seconds of that plan, which takes less time than the plan itself.
double predict(const Request& request, const Machine& machine, int threads, bool fresh);

// The ways to carry a request out that the planner evaluates, the fastest first, so that the first
// is its choice; or all of those that it might evaluate.
std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads,
                                  CandidateSet set = CandidateSet::searched);

// What the planner thinks of a kernel: why it does not apply, in words, or what its best plan
// takes.
struct KernelReport {
  Kernel kernel;
  std::string obstacle{};
  double seconds = 0;
};

// Of all kernels but the reference.
std::vector<KernelReport> kernel_reports(const Request& request, const Machine& machine,
                                         int threads);

}  // namespace ttlg::cpu
