// Measured times of plans, in Python's terms.
#pragma once

#include <utility>
#include <vector>

#include "bindings/bind.hpp"

namespace ttlg::bindings {

// A tuple of a kernel's name, parameters as a dict and seconds for each time.
template <typename Timed, typename NameOf, typename ToDict>
py::list measured_rows(const std::vector<Timed>& timed, const NameOf& name_of,
                       const ToDict& dict_of) {
  py::list rows;
  for (const auto& [parameters, seconds] : timed) {
    rows.append(py::make_tuple(name_of(parameters), dict_of(parameters), seconds));
  }
  return rows;
}

// The plan with the times of these, the planner's choice first, each named by what kMember holds.
template <typename Plan, auto kMember>
Plan with_measured(Plan plan, const std::vector<std::pair<const Plan*, double>>& timed) {
  plan.measured.clear();
  for (const auto& [each, seconds] : timed) {
    if (!(seconds > 0)) throw py::value_error("a measured time must be positive");
    plan.measured.push_back({each->*kMember, seconds});
  }
  return plan;
}

}  // namespace ttlg::bindings
