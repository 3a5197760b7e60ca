#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bindings/bind.hpp"
#include "call/run.hpp"
#include "cpu/this_machine.hpp"
#include "plan/cpu/model/count_terms.hpp"

namespace ttlg::bindings {
namespace {

namespace py = pybind11;
using cpu::TimeModel;
using Named = std::map<std::string, double>;

TimeModel make_model(const std::string& name, std::int64_t cached_bytes, const Named& coefficients,
                     double low, double high) {
  if (cached_bytes < 0) throw py::value_error("cached_bytes must not be negative");
  if (!(low > 0 && low <= high && std::isfinite(high))) {
    throw py::value_error("low and high must be positive, low not above high");
  }
  TimeModel model{
      .name = name, .cached_bytes = cached_bytes, .seconds = {}, .low = low, .high = high};
  for (const auto& [term, seconds] : coefficients) {
    const std::size_t number = cpu::term_number(term);
    if (number == cpu::kTerms) throw py::value_error("the time model has no term '" + term + "'");
    if (!(seconds >= 0 && std::isfinite(seconds))) {
      throw py::value_error("the coefficient of '" + term + "' must be a number of seconds >= 0");
    }
    model.seconds[number] = seconds;
  }
  return model;
}

// What is not 0, by name.
Named by_name(const cpu::TermValues& values) {
  Named result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) result[cpu::term_names()[i]] = values[i];
  }
  return result;
}

}  // namespace

void bind_machine(py::module_& module) {
  py::class_<TimeModel>(module, "CpuTimeModel", "Seconds of every term of a plan on the CPU.")
      .def(py::init(&make_model), py::kw_only(), py::arg("name"), py::arg("cached_bytes"),
           py::arg("coefficients"), py::arg("low"), py::arg("high"))
      .def_readonly("name", &TimeModel::name)
      .def_readonly("cached_bytes", &TimeModel::cached_bytes)
      .def_property_readonly("coefficients",
                             [](const TimeModel& model) { return by_name(model.seconds); })
      .def_readonly("low", &TimeModel::low)
      .def_readonly("high", &TimeModel::high);
  py::class_<cpu::Machine, std::shared_ptr<cpu::Machine>>(module, "CpuMachine",
                                                          "What the planner knows of a CPU.")
      .def(py::init([](std::int64_t l1, std::int64_t l2, std::int64_t last, int vector_bytes,
                       bool has_shuffle, const TimeModel& model) {
             return cpu::Machine{.l1_cache_bytes = l1,
                                 .l2_cache_bytes = l2,
                                 .last_level_cache_bytes = last,
                                 .vector_bytes = vector_bytes,
                                 .has_shuffle = has_shuffle,
                                 .model = model};
           }),
           py::kw_only(), py::arg("l1_cache_bytes"), py::arg("l2_cache_bytes"),
           py::arg("last_level_cache_bytes"), py::arg("vector_bytes"), py::arg("has_shuffle"),
           py::arg("model"))
      .def_readonly("l1_cache_bytes", &cpu::Machine::l1_cache_bytes)
      .def_readonly("l2_cache_bytes", &cpu::Machine::l2_cache_bytes)
      .def_readonly("last_level_cache_bytes", &cpu::Machine::last_level_cache_bytes)
      .def_readonly("vector_bytes", &cpu::Machine::vector_bytes)
      .def_readonly("has_shuffle", &cpu::Machine::has_shuffle)
      .def_readonly("model", &cpu::Machine::model);
}

void bind_time_model(py::module_& module) {
  module.def(
      "cpu_time_model", [] { return cpu::this_machine(false)->model; },
      "The time model by which plans are chosen, without what calls have taught.");
  module.def(
      "set_cpu_time_model",
      [](const TimeModel& model) {
        cpu::set_time_model(model);
        call::cpu_plan_cache().clear();
        call::cpu_inplace_plan_cache().clear();
      },
      py::arg("model"), "Choose plans by this model from now on, those in the cache again.");
  module.def(
      "cpu_term_names", [] { return cpu::term_names(); }, "All that a model may give seconds to.");
  module.def(
      "this_cpu_machine", [] { return *cpu::this_machine(false); },
      "This machine, with that time model.");
  module.def(
      "cpu_machine_with",
      [](const TimeModel& model) {
        auto machine = std::make_shared<cpu::Machine>(*cpu::this_machine(false));
        machine->model = model;
        return machine;
      },
      py::arg("model"), "This machine with another time model, which is not installed.");
  module.def(
      "cpu_time_factors",
      [] {
        const cpu::Correction correction = cpu::time_model_correction();
        Named factors;
        for (const cpu::Cost cost : cpu::kCosts) {
          factors.emplace(cpu::kCosts.name(cost), correction.factors()[index_of(cost)]);
        }
        return py::make_tuple(factors, correction.trials());
      },
      "The factors of the model's costs that calls have taught, and by how many trials.");
  module.def(
      "set_cpu_time_factors",
      [](const Named& named) {
        cpu::Costs factors;
        factors.fill(1);
        for (const auto& [name, factor] : named) {
          const std::optional<cpu::Cost> cost = cpu::kCosts.parse(name);
          if (!cost) throw py::value_error("the time model has no cost '" + name + "'");
          factors.at(index_of(*cost)) = factor;
        }
        cpu::set_time_model_correction(cpu::Correction(factors));
      },
      py::arg("factors"), "Begin with these; they hold for layouts that have no plan yet.");
  module.def(
      "count_cpu_terms",
      [](const cpu::Plan& plan, const cpu::Machine& machine, bool fresh) {
        const cpu::Terms terms =
            cpu::count_terms(gather_bits(plan.problem), plan.parameters, machine, fresh);
        return by_name(values_of(terms));
      },
      py::arg("plan"), py::arg("machine"), py::arg("fresh"),
      "What a plan's predicted time on a machine is the sum of.");
  module.def("planned_cpu_seconds", &call::planned_seconds, py::arg("plan"), py::arg("fresh"),
             "The same by the model that the planner chose the plan by, as it was then.");
  module.def("predict_cpu_seconds", &call::predicted_seconds, py::arg("plan"), py::arg("fresh"),
             "The seconds that a plan will take by the time model in use.");
}

}  // namespace ttlg::bindings
