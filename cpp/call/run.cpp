#include "call/run.hpp"

#include "cpu/this_machine.hpp"
#include "plan/cpu/model/count_terms.hpp"

namespace ttlg::call {

void run_and_learn(const std::shared_ptr<const cuda::LoweredPlan>& plan, const std::byte* in,
                   std::byte* out, int device, std::uintptr_t stream, std::uintptr_t out_stream) {
  auto kept = cuda::execute_and_learn(cuda_learner(), plan, in, out, device, stream, out_stream);
  if (kept == nullptr) return;
  const cuda::Planning::Choice choice{
      .pointer_alignment = kept->pointer_alignment, .model = kept->model, .learns = true};
  cuda_plan_cache().put(std::move(kept), choice);
}

std::shared_ptr<const cpu::Machine> machine_or_this(
    const std::shared_ptr<const cpu::Machine>& machine) {
  return machine ? machine : cpu::this_machine();
}

double planned_seconds(const cpu::Plan& plan, bool fresh) {
  const double planned = fresh ? plan.fresh_seconds : plan.warm_seconds;
  return planned > 0 ? planned : predicted_seconds(plan, fresh);
}

double predicted_seconds(const cpu::Plan& plan, bool fresh) {
  const auto machine = machine_or_this(plan.machine);
  const cpu::Terms terms = count_terms(gather_bits(plan.problem), plan.parameters, *machine, fresh);
  return predicted_seconds(terms, machine->model);
}

}  // namespace ttlg::call
