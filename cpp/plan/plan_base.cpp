#include "plan/plan_base.hpp"

#include <stdexcept>
#include <utility>

namespace ttlg {

PlanBase::PlanBase(const Request& of_request, Problem normal_form)
    : request(of_request),
      out_shape(of_request.out_shape()),
      out_byte_strides(of_request.resolved_out_byte_strides()),
      problem(std::move(normal_form)) {}

void refuse_inplace(const Request& request) {
  if (!request.inplace) return;
  throw std::invalid_argument(
      "these kernels write to another array than they read: leave inplace=False");
}

}  // namespace ttlg
