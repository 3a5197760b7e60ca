// What the classes of plans have in common, whose differences a Device holds:
// - Plan, and kWay, the member that says in which way it carries its request out,
// - kernels_of(way) and parameters_of(plan, way), their names and a dict for Python,
// - trials(plan), the times that calls have taken so far, where calls learn.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"

namespace ttlg::bindings {

// The forced kernel, if any, as Device::parse reads it.
template <typename Device>
auto parse_forced(const std::optional<std::string>& kernel) {
  return kernel ? std::optional(Device::parse(*kernel)) : std::nullopt;
}

// What a plan holds a pointer to. Python has no const, and no method that changes it.
template <typename Plan, auto kMember>
auto shared(const Plan& plan) {
  using Value = typename std::remove_cvref_t<decltype(plan.*kMember)>::element_type;
  return std::const_pointer_cast<std::remove_const_t<Value>>(plan.*kMember);
}

// A tuple of kernels, parameters and seconds for each time.
template <typename Device, typename Times>
py::list timed_rows(const typename Device::Plan& plan, const Times& times) {
  py::list rows;
  for (const auto& [way, seconds] : times) {
    rows.append(py::make_tuple(Device::kernels_of(way), Device::parameters_of(plan, way), seconds));
  }
  return rows;
}

template <typename Device>
py::list measured_of(const typename Device::Plan& plan) {
  if constexpr (requires { plan.measured; }) return timed_rows<Device>(plan, plan.measured);
  return py::list();
}

template <typename Device>
py::list trials_of(const typename Device::Plan& plan) {
  if constexpr (requires { Device::trials(plan); }) {
    return timed_rows<Device>(plan, Device::trials(plan));
  }
  return py::list();
}

// The plan with the times of these, the planner's choice first.
template <typename Device, typename Plan = typename Device::Plan>
Plan with_measured(Plan plan, const std::vector<std::pair<const Plan*, double>>& timed) {
  plan.measured.clear();
  for (const auto& [each, seconds] : timed) {
    if (!(seconds > 0)) throw py::value_error("a measured time must be positive");
    plan.measured.push_back({each->*Device::kWay, seconds});
  }
  return plan;
}

template <typename Device, typename Plan = typename Device::Plan>
auto bind_plan_class(py::module_& module, const char* name, const char* doc) {
  py::class_<Plan, PlanBase, std::shared_ptr<Plan>> result(module, name, doc);
  result
      .def_property_readonly(
          "kernel", [](const Plan& plan) { return Device::kernels_of(plan.*Device::kWay); })
      .def_property_readonly(
          "parameters",
          [](const Plan& plan) { return Device::parameters_of(plan, plan.*Device::kWay); })
      .def_property_readonly("measured", &measured_of<Device>)
      .def_property_readonly("trials", &trials_of<Device>)
      .def(
          "__eq__", [](const Plan& plan, const Plan& other) { return plan == other; },
          py::is_operator());
  if constexpr (requires(Plan plan) { plan.measured; }) {
    result.def("with_measured", &with_measured<Device>, py::arg("timed"));
  }
  if constexpr (requires(Plan plan) { plan.machine; }) {
    result.def_property_readonly("machine", &shared<Plan, &Plan::machine>);
  } else {
    result.def_property_readonly("model", &shared<Plan, &Plan::model>);
  }
  return result;
}

}  // namespace ttlg::bindings
