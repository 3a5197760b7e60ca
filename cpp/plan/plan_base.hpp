// What plans for every device have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg {

struct PlanBase {
  // `of_request` and its normal form.
  PlanBase(const Request& of_request, Problem normal_form)
      : request(of_request),
        out_shape(of_request.out_shape()),
        out_byte_strides(of_request.resolved_out_byte_strides()),
        problem(std::move(normal_form)) {}

  Request request;
  std::vector<std::int64_t> out_shape;
  std::vector<std::int64_t> out_byte_strides;
  Problem problem;  // fused; elements of the request's size
};

// For planners whose kernels write to another array. Throws std::invalid_argument.
inline void refuse_inplace(const Request& request) {
  if (!request.inplace) return;
  throw std::invalid_argument(
      "these kernels write to another array than they read: leave inplace=False");
}

// A way to carry a request out, and the seconds that a call took.
template <typename Parameters>
struct Timed {
  Parameters parameters;
  double seconds;
};

// Brings the time of a plan to the front; returns whether it has one.
template <typename Parameters>
bool bring_to_front(std::vector<Timed<Parameters>>& timed, const Parameters& parameters) {
  const auto found = std::ranges::find(timed, parameters, &Timed<Parameters>::parameters);
  if (found == timed.end()) return false;
  std::rotate(timed.begin(), found, found + 1);
  return true;
}

}  // namespace ttlg
