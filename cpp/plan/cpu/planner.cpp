#include "plan/cpu/planner.hpp"

#include <algorithm>

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

}  // namespace ttlg::cpu
