#include "plan/cuda/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/layout/choose_layout.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

std::int64_t first_element_alignment(const Problem& problem, std::int64_t pointer_alignment) {
  return common_power(pointer_alignment | problem.in_byte_offset | problem.out_byte_offset,
                      kMaxAccessBytes);
}

Problem recast_problem(const Problem& problem, std::int64_t pointer_alignment) {
  Problem recast = problem;
  if (!problem.moves_bits() || problem.bytes() == 0) return recast;
  const bool has_run = !recast.modes.empty() &&
                       recast.modes.front().in_byte_stride == recast.element_bytes() &&
                       recast.modes.front().out_byte_stride == recast.element_bytes();
  const std::int64_t element = recast.element_bytes();
  if (has_run) recast = fold_run(std::move(recast));
  const std::int64_t run = recast.element_bytes();
  // Longer runs keep their elements, which the taxonomy counts, except the narrowest.
  const std::int64_t widest =
      run > 1 && is_width(run) ? run
                               : std::max<std::int64_t>(common_power(element, kMaxAccessBytes), 4);
  std::int64_t bits = run | first_element_alignment(problem, pointer_alignment);
  for (const Mode& mode : recast.modes) bits |= mode.in_byte_stride | mode.out_byte_stride;
  recast.in_bytes = recast.out_bytes = common_power(bits, widest);
  if (recast.element_bytes() < run) {
    recast.modes.insert(recast.modes.begin(), {run / recast.element_bytes(), recast.element_bytes(),
                                               recast.element_bytes()});
    for (int& m : recast.perm) ++m;
    recast.perm.insert(recast.perm.begin(), 0);
  }
  return recast;
}

Plan::Plan(const Request& of_request, std::int64_t of_pointer_alignment, Problem normal_form,
           Problem of_recast, const Parameters& chosen, std::shared_ptr<const DeviceModel> of_model,
           const std::optional<ChosenLayout>& of_slice)
    : PlanBase(of_request, std::move(normal_form)),
      pointer_alignment(of_pointer_alignment),
      recast(std::move(of_recast)),
      parameters(chosen),
      model(std::move(of_model)) {
  refuse_inplace(of_request);
  const std::string reason =
      obstacle(recast, parameters, first_element_alignment(recast, pointer_alignment));
  if (!reason.empty()) {
    throw std::invalid_argument("kernel '" + std::string(schema_name(parameters.schema)) +
                                "' does not apply with these parameters: " + reason);
  }
  if (parameters.schema == Schema::orthogonal_arbitrary) {
    const ChosenLayout chosen_layout = of_slice ? *of_slice : choose_shared_layout(sliced());
    layout = chosen_layout.layout;
    if (counts_layout(sliced())) layout_cost = chosen_layout.cost;
  }
  const PredictedTime predicted = predict_time(*model, sliced());
  predicted_seconds = predicted.seconds;
  time_source = predicted.source;
}

SlicedProblem Plan::sliced() const {
  SlicedProblem result(recast, parameters, first_element_alignment(recast, pointer_alignment));
  result.layout_cost = layout_cost;
  return result;
}

Plan build_plan(const Request& request, std::int64_t pointer_alignment,
                const Parameters& parameters, std::shared_ptr<const DeviceModel> model) {
  Problem problem = make_problem(request);
  Problem recast = recast_problem(problem, pointer_alignment);
  return {request,    pointer_alignment, std::move(problem), std::move(recast),
          parameters, std::move(model),  std::nullopt};
}

}  // namespace ttlg::cuda
