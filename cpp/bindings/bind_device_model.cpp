#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "cuda/execute.hpp"
#include "plan/cuda/model/device_model.hpp"

namespace ttlg::bindings {

namespace py = pybind11;
using cuda::Coefficients;
using cuda::DeviceModel;

namespace {

using Named = std::map<std::string, double>;

void check_properties(const DeviceModel& model) {
  const auto check = [&](const char* name, bool is_possible) {
    if (is_possible) return;
    throw py::value_error("the device model '" + model.name +
                          "' has a property that is not positive, '" + name +
                          "'; every rate and count must be");
  };
  const auto is_positive = [](double value) { return value > 0 && std::isfinite(value); };
  check("multiprocessors", model.multiprocessors > 0);
  check("clock_hz", is_positive(model.clock_hz));
  check("memory_bytes_per_second", is_positive(model.memory_bytes_per_second));
  check("l2_cache_bytes", model.l2_cache_bytes >= 0);
  check("shared_bytes_per_multiprocessor", model.shared_bytes_per_multiprocessor > 0);
  check("threads_per_multiprocessor", model.threads_per_multiprocessor > 0);
  check("launch_seconds", is_positive(model.launch_seconds));
  check("regression_bytes", model.regression_bytes >= 0);
  if (model.overlap < 1 || model.overlap > cuda::kMaxOverlap ||
      (model.overlap & (model.overlap - 1)) != 0) {
    throw py::value_error("overlap must be a power of two from 1 to " +
                          std::to_string(cuda::kMaxOverlap) + ", not " +
                          std::to_string(model.overlap));
  }
}

cuda::Costs read_costs(const Named& named) {
  cuda::Costs costs = cuda::default_costs();
  for (const auto& [name, cost] : named) {
    const std::size_t number = cuda::cost_number(name);
    if (number == costs.size()) {
      throw py::value_error("the time model of a GPU has no term '" + name + "'");
    }
    if (!(cost >= 0 && std::isfinite(cost))) {
      throw py::value_error("the cost of '" + name + "' must be a number >= 0");
    }
    costs[number] = cost;
  }
  return costs;
}

DeviceModel make_model(std::string name, int multiprocessors, double clock_hz,
                       double memory_bytes_per_second, std::int64_t l2_cache_bytes,
                       std::int64_t shared_bytes_per_multiprocessor, int threads_per_multiprocessor,
                       double launch_seconds, int overlap, const Named& costs,
                       const std::map<std::string, Coefficients>& coefficients,
                       std::int64_t regression_bytes) {
  DeviceModel model{.name = std::move(name),
                    .multiprocessors = multiprocessors,
                    .clock_hz = clock_hz,
                    .memory_bytes_per_second = memory_bytes_per_second,
                    .l2_cache_bytes = l2_cache_bytes,
                    .shared_bytes_per_multiprocessor = shared_bytes_per_multiprocessor,
                    .threads_per_multiprocessor = threads_per_multiprocessor,
                    .launch_seconds = launch_seconds,
                    .overlap = overlap,
                    .regression_bytes = regression_bytes};
  check_properties(model);
  model.costs = read_costs(costs);
  for (const auto& [schema, values] : coefficients) {
    for (const auto& [feature, value] : values) {
      if (std::isfinite(value)) continue;
      throw py::value_error("the coefficient of '" + feature + "' must be a finite number");
    }
    model.coefficients[parse_kernel(cuda::kSchemas, schema, "CUDA devices have")] = values;
  }
  return model;
}

// What differs from the default.
Named by_name(const cuda::Costs& costs) {
  Named result;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] != cuda::default_costs()[i]) result[cuda::cost_names()[i]] = costs[i];
  }
  return result;
}

py::dict to_dict(const DeviceModel& model) {
  py::dict coefficients;
  for (const auto& [schema, values] : model.coefficients) {
    coefficients[py::str(std::string(schema_name(schema)))] = py::cast(values);
  }
  py::dict result;
  result["name"] = model.name;
  result["multiprocessors"] = model.multiprocessors;
  result["clock_hz"] = model.clock_hz;
  result["memory_bytes_per_second"] = model.memory_bytes_per_second;
  result["l2_cache_bytes"] = model.l2_cache_bytes;
  result["shared_bytes_per_multiprocessor"] = model.shared_bytes_per_multiprocessor;
  result["threads_per_multiprocessor"] = model.threads_per_multiprocessor;
  result["launch_seconds"] = model.launch_seconds;
  result["overlap"] = model.overlap;
  result["costs"] = by_name(model.costs);
  result["coefficients"] = coefficients;
  result["regression_bytes"] = model.regression_bytes;
  return result;
}

}  // namespace

void bind_device_model(py::module_& module) {
  const DeviceModel defaults;
  py::class_<DeviceModel, std::shared_ptr<DeviceModel>>(module, "DeviceModel",
                                                        "What the planner knows of a GPU.")
      .def(py::init(&make_model), py::kw_only(), py::arg("name"),
           py::arg("multiprocessors") = defaults.multiprocessors,
           py::arg("clock_hz") = defaults.clock_hz,
           py::arg("memory_bytes_per_second") = defaults.memory_bytes_per_second,
           py::arg("l2_cache_bytes") = defaults.l2_cache_bytes,
           py::arg("shared_bytes_per_multiprocessor") = defaults.shared_bytes_per_multiprocessor,
           py::arg("threads_per_multiprocessor") = defaults.threads_per_multiprocessor,
           py::arg("launch_seconds") = defaults.launch_seconds,
           py::arg("overlap") = defaults.overlap, py::arg("costs") = Named{},
           py::arg("coefficients") = std::map<std::string, Coefficients>{},
           py::arg("regression_bytes") = defaults.regression_bytes)
      .def_readonly("name", &DeviceModel::name)
      .def_property_readonly("calibrated", &DeviceModel::is_calibrated,
                             "Whether anything of it was fitted to measurements.")
      .def("to_dict", [](const DeviceModel& model) { return to_dict(model); })
      .def(
          "__eq__", [](const DeviceModel& x, const DeviceModel& y) { return x == y; },
          py::is_operator());
  module.def("device_model", &cuda::device_model, py::arg("device"),
             "What the driver tells of a CUDA device.");
  module.def(
      "cuda_cost_names", [] { return cuda::cost_names(); },
      "All that a model may give a cost to, by group: memory, issue, latency.");
  module.def(
      "default_cuda_costs", [] { return cuda::default_costs(); },
      "What these cost where a model does not say, in the same order.");
}

}  // namespace ttlg::bindings
