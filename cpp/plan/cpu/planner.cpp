#include "plan/cpu/planner.hpp"

#include <algorithm>
#include <iterator>

#include "plan/cpu/cascade.hpp"

namespace ttlg::cpu {

Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced) {
  PlanningContext context(request, machine, threads);
  if (forced) {
    check_kernel(*forced, context.folded());
    return context.take_plan(*forced);
  }
  const auto rule =
      std::ranges::find_if(cascade(), [&](const Rule& each) { return each.applies(context); });
  return context.take_plan(rule->kernel);
}

std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads) {
  PlanningContext context(request, machine, threads);
  std::vector<Kernel> kernels;
  const auto add = [&](Kernel kernel) {
    if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
  };
  for (const Rule& rule : cascade()) {
    if (rule.applies(context)) add(rule.kernel);
  }
  for (const Kernel kernel : kKernels) {
    const bool has_instruction = kernel != Kernel::shuffle || machine.has_shuffle;
    if (has_instruction && can_carry_out(kernel, context.folded())) add(kernel);
  }
  std::erase(kernels, Kernel::reference);
  std::vector<Candidate> result;
  for (const Kernel kernel : kernels) {
    std::ranges::move(candidates_of(context.folded(), kernel, machine, threads),
                      std::back_inserter(result));
  }
  return result;
}

}  // namespace ttlg::cpu
