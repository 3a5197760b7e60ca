// What plans for the CPU and for CUDA devices have in common: the request and the fused problem.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/tensor_view.hpp"
#include "plan/plan_cache.hpp"
#include "tensor/problem.hpp"

namespace ttlg::bindings {

using Integers = std::vector<std::int64_t>;

inline py::tuple to_tuple(const Integers& values) { return py::tuple(py::cast(values)); }

inline Request make_request(Integers shape, Integers in_byte_strides, std::int64_t itemsize,
                            std::vector<int> axes, std::optional<Integers> out_byte_strides) {
  return {.shape = std::move(shape),
          .in_byte_strides = std::move(in_byte_strides),
          .axes = std::move(axes),
          .itemsize = itemsize,
          .out_byte_strides = std::move(out_byte_strides).value_or(Integers{})};
}

// The key of moving one view into another, or into a new array where there is no `out`; borrows
// from all three.
inline LayoutKey key_of(const TensorView& x, const std::vector<int>& axes, const TensorView* out) {
  LayoutKey key{
      .shape = x.shape, .in_byte_strides = x.byte_strides, .axes = axes, .itemsize = x.itemsize};
  if (out != nullptr) key.out_byte_strides = out->byte_strides;
  return key;
}

// Throws ValueError, with the mend, unless the view is of the shape and strides that were planned.
void check_matches(const TensorView& view, const Integers& shape, const Integers& byte_strides,
                   const Request& request, std::string_view argument);

template <typename Plan, typename Class>
Class& bind_request_of(Class& plans) {
  return plans
      .def_property_readonly("shape", [](const Plan& plan) { return to_tuple(plan.request.shape); })
      .def_property_readonly(
          "byte_strides", [](const Plan& plan) { return to_tuple(plan.request.in_byte_strides); })
      .def_property_readonly(
          "axes", [](const Plan& plan) { return py::tuple(py::cast(plan.request.axes)); })
      .def_property_readonly("itemsize", [](const Plan& plan) { return plan.request.itemsize; })
      .def_property_readonly("out_shape", [](const Plan& plan) { return to_tuple(plan.out_shape); })
      .def_property_readonly("out_byte_strides",
                             [](const Plan& plan) -> py::object {
                               if (plan.request.out_byte_strides.empty()) return py::none();
                               return to_tuple(plan.request.out_byte_strides);
                             })
      .def_property_readonly("extents",
                             [](const Plan& plan) {
                               Integers extents;
                               for (const Mode& mode : plan.problem.modes) {
                                 extents.push_back(mode.extent);
                               }
                               return to_tuple(extents);
                             })
      .def_property_readonly(
          "perm", [](const Plan& plan) { return py::tuple(py::cast(plan.problem.perm)); })
      .def(
          "__eq__", [](const Plan& plan, const Plan& other) { return plan == other; },
          py::is_operator());
}

}  // namespace ttlg::bindings
