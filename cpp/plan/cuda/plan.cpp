#include "plan/cuda/plan.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/access_width.hpp"
#include "plan/cuda/recast.hpp"
#include "plan/cuda/shared_layout.hpp"
#include "plan/cuda/validate.hpp"

namespace ttlg::cuda {

Plan::Plan(const Request& of_request, std::int64_t of_alignment, Problem normal_form,
           Problem of_recast, const Parameters& chosen, std::shared_ptr<const DeviceModel> of_model)
    : PlanBase(of_request, std::move(normal_form)),
      alignment(of_alignment),
      recast(std::move(of_recast)),
      parameters(chosen),
      model(std::move(of_model)) {
  refuse_inplace(of_request);
  const std::string reason =
      rejection_reason(recast, parameters, first_element_alignment(recast, alignment));
  if (!reason.empty()) {
    throw std::invalid_argument("kernel '" + std::string(schema_name(parameters.schema)) +
                                "' does not apply with these parameters: " + reason);
  }
  const SlicedProblem slices = sliced();
  if (parameters.schema == Schema::orthogonal_arbitrary) {
    layout = choose_shared_layout(slice_in_output_order(slices), recast.element_bytes,
                                  planned_access(slices));
  }
  predicted_seconds = predict_seconds(*model, slices);
}

SlicedProblem Plan::sliced() const {
  return {recast, parameters, first_element_alignment(recast, alignment)};
}

Plan build_plan(const Request& request, std::int64_t alignment, const Parameters& parameters,
                std::shared_ptr<const DeviceModel> model) {
  Problem problem = make_problem(request);
  Problem recast = recast_problem(problem, alignment);
  return {request, alignment, std::move(problem), std::move(recast), parameters, std::move(model)};
}

}  // namespace ttlg::cuda
