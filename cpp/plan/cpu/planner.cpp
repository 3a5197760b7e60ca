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
  const Problem folded = fold_run(problem);
  if (forced) check_kernel(*forced, folded);
  const Candidate best = best_candidate(folded, machine, threads, forced);
  Plan plan = assemble(request, std::move(problem), folded, best.parameters);
  plan.thread_limit = threads;
  plan.warm_seconds = best.seconds;
  plan.fresh_seconds = fresh_seconds(folded, best.parameters, machine);
  return plan;
}

double predict(const Request& request, const Machine& machine, int threads, bool fresh) {
  const Problem folded = fold_run(make_problem(request));
  const Candidate best = best_candidate(folded, machine, threads, std::nullopt);
  return fresh ? fresh_seconds(folded, best.parameters, machine) : best.seconds;
}

std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads) {
  return candidates_of(fold_run(make_problem(request)), machine, threads);
}

std::vector<Verdict> verdicts(const Request& request, const Machine& machine, int threads) {
  const Problem folded = fold_run(make_problem(request));
  std::vector<Verdict> result;
  for (const Kernel kernel : kKernels) {
    if (kernel == Kernel::reference) continue;
    Verdict& verdict = result.emplace_back(Verdict{.kernel = kernel});
    verdict.obstacle = obstacle(kernel, folded);
    if (!verdict.obstacle.empty()) continue;
    if (kernel == Kernel::shuffle && !machine.has_shuffle) {
      verdict.obstacle = "no instruction that permutes the bytes of a vector";
      continue;
    }
    verdict.seconds = best_candidate(folded, machine, threads, kernel).seconds;
  }
  return result;
}

}  // namespace ttlg::cpu
