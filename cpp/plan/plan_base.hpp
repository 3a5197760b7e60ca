// What plans for every device have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg {

struct PlanBase {
  // `of_request` and its normal form.
  PlanBase(const Request& of_request, Problem normal_form);

  Request request;
  std::vector<std::int64_t> out_shape;
  std::vector<std::int64_t> out_byte_strides;
  Problem problem;  // fused; elements of the request's size
};

// For planners whose kernels write to another array. Throws std::invalid_argument.
void refuse_inplace(const Request& request);

}  // namespace ttlg
