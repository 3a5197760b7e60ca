#include "plan/cpu/planner.hpp"

#include <algorithm>
#include <utility>

#include "plan/cpu/model/count_terms.hpp"

namespace ttlg::cpu {
namespace {

double fresh_seconds(const Problem& folded, const Parameters& parameters, const Machine& machine) {
  return predicted_seconds(count_terms(folded, parameters, machine, true), machine.model);
}

}  // namespace

Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced) {
  Problem problem = make_problem(request);
  const Problem folded = gather_bits(problem);
  if (forced) check_kernel(*forced, folded);
  const Candidate best = best_candidate(folded, machine, threads, forced);
  Plan plan = assemble(request, std::move(problem), folded, best.parameters);
  plan.thread_limit = threads;
  plan.warm_seconds = best.seconds;
  plan.fresh_seconds = fresh_seconds(folded, best.parameters, machine);
  return plan;
}

double predict(const Request& request, const Machine& machine, int threads, bool fresh) {
  const Problem folded = gather_bits(make_problem(request));
  const Candidate best = best_candidate(folded, machine, threads, std::nullopt);
  return fresh ? fresh_seconds(folded, best.parameters, machine) : best.seconds;
}

std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads,
                                  CandidateSet set) {
  return candidates_of(gather_bits(make_problem(request)), machine, threads, set);
}

std::vector<KernelReport> kernel_reports(const Request& request, const Machine& machine,
                                         int threads) {
  const Problem folded = gather_bits(make_problem(request));
  std::vector<KernelReport> result;
  for (const Kernel kernel : kKernels) {
    if (kernel == Kernel::reference) continue;
    KernelReport& report = result.emplace_back(KernelReport{.kernel = kernel});
    report.obstacle = obstacle(kernel, folded);
    if (!report.obstacle.empty()) continue;
    if (kernel == Kernel::shuffle && !machine.has_shuffle) {
      report.obstacle = "no instruction that permutes the bytes of a vector";
      continue;
    }
    report.seconds = best_candidate(folded, machine, threads, kernel).seconds;
  }
  return result;
}

}  // namespace ttlg::cpu
