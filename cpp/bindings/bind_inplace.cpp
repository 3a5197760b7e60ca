#include "bindings/bind_inplace.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind_plan.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/inplace_layout.hpp"
#include "bindings/run.hpp"
#include "cpu/inplace/execute.hpp"
#include "cpu/this_machine.hpp"
#include "plan/cpu/inplace/step_choice.hpp"
#include "plan/cpu/memory_units.hpp"

namespace ttlg::bindings {
namespace {

using cpu::InplaceKernel;
using cpu::InplacePlan;
using cpu::InplaceStep;

InplaceKernel parse_kernel(const std::string& name) {
  if (const auto kernel = cpu::inplace_kernel_from_name(name)) return *kernel;
  throw py::value_error("unknown kernel '" + name + "'; in place, choose one of " +
                        cpu::inplace_kernel_names());
}

py::dict to_dict(const InplaceStep& step) {
  py::dict result;
  result["kernel"] = kernel_name(step.kernel);
  result["batch"] = step.batch;
  result["rows"] = step.rows;
  result["columns"] = step.columns;
  result["element_bytes"] = step.element_bytes;
  result["width"] = step.width;
  return result;
}

InplaceStep to_step(const py::dict& values) {
  const auto number = [&](const char* name) { return values[name].cast<std::int64_t>(); };
  return {.kernel = parse_kernel(values["kernel"].cast<std::string>()),
          .batch = number("batch"),
          .rows = number("rows"),
          .columns = number("columns"),
          .element_bytes = number("element_bytes"),
          .width = number("width")};
}

py::dict parameters_of(const InplacePlan& plan) {
  py::list steps;
  for (const InplaceStep& step : plan.steps) steps.append(to_dict(step));
  py::dict result;
  result["steps"] = py::tuple(steps);
  result["threads"] = plan.threads;
  result["workspace_limit"] = plan.workspace_limit;
  return result;
}

// How often each step reads and writes the array, and its predicted seconds.
py::list costs_of(const InplacePlan& plan) {
  const auto machine = cpu::this_machine();
  py::list costs;
  for (const InplaceStep& step : plan.steps) {
    costs.append(py::make_tuple(passes(step), step_seconds(step, *machine, plan.threads)));
  }
  return costs;
}

py::list candidates_for(const InplacePlan& plan) {
  py::list rows;
  for (const InplacePlan& each : inplace_candidates(plan, *cpu::this_machine())) {
    rows.append(
        py::make_tuple(kernels_of(each), parameters_of(each), each.workspace_bytes, each.seconds));
  }
  return rows;
}

std::shared_ptr<InplacePlan> cached_plan(const Integers& shape, const Integers& byte_strides,
                                         std::int64_t itemsize, const std::vector<int>& order,
                                         int threads, std::int64_t workspace,
                                         const std::optional<std::string>& kernel) {
  const InplaceLayout layout(shape, byte_strides, itemsize, order);
  const auto forced = kernel ? std::optional(parse_kernel(*kernel)) : std::nullopt;
  return std::const_pointer_cast<InplacePlan>(inplace_plan_cache().get(
      layout.key, {{.threads = threads, .workspace = workspace, .forced = forced}}));
}

InplacePlan build(const Request& request, const std::vector<py::dict>& steps, int threads,
                  std::int64_t workspace_limit) {
  std::vector<InplaceStep> parsed;
  for (const py::dict& each : steps) parsed.push_back(to_step(each));
  return build_inplace_plan(request, std::move(parsed), *cpu::this_machine(), threads,
                            workspace_limit);
}

// Everything that can fail happens before the first element moves.
void run_inplace(const InplacePlan& plan, const TensorView& x) {
  check_planned_inplace(plan, x);
  const std::int64_t bytes = cpu::whole_lines(plan.workspace_bytes);
  const std::unique_ptr<std::byte, decltype(&std::free)> workspace(
      static_cast<std::byte*>(std::aligned_alloc(cpu::kLineBytes, static_cast<std::size_t>(bytes))),
      &std::free);
  if (bytes > 0 && !workspace) {
    PyErr_SetString(PyExc_MemoryError,
                    ("transposing in place needs a workspace of " + std::to_string(bytes) +
                     " bytes, which this machine does not give; pass a smaller workspace=")
                        .c_str());
    throw py::error_already_set();
  }
  const GilRelease release;
  execute_inplace(plan, x.data, workspace.get());
}

}  // namespace

void bind_inplace(py::module_& module) {
  py::class_<InplacePlan, PlanBase, std::shared_ptr<InplacePlan>>(
      module, "InplacePlan", "How an array is transposed on the CPU where it lies.")
      .def_property_readonly("kernel", &kernels_of<InplacePlan>)
      .def_property_readonly("parameters", &parameters_of)
      .def_property_readonly("costs", &costs_of)
      .def_readonly("threads", &InplacePlan::threads)
      .def_readonly("workspace_bytes", &InplacePlan::workspace_bytes)
      .def_readonly("predicted_seconds", &InplacePlan::seconds)
      .def("candidates", &candidates_for)
      .def("run", &run_inplace, py::arg("x"))
      .def(
          "__eq__", [](const InplacePlan& plan, const InplacePlan& other) { return plan == other; },
          py::is_operator());
  module.def(
      "inplace_plan_for",
      [](const TensorView& x, const py::object& axes, const py::object& threads,
         std::int64_t workspace, const std::optional<std::string>& kernel) {
        return cached_plan(x.shape, x.byte_strides, x.itemsize, read_axes(axes, x.shape),
                           read_threads(threads), workspace, kernel);
      },
      py::arg("x"), py::arg("axes"), py::arg("threads"), py::arg("workspace"),
      py::arg("kernel") = py::none(),
      "The plan for a view where it lies; of all bytes besides, at most so many (0: as the planner "
      "likes).");
  module.def("cached_inplace_plan", &cached_plan, py::arg("shape"), py::arg("byte_strides"),
             py::arg("itemsize"), py::arg("axes"), py::arg("threads"), py::arg("workspace"),
             py::arg("kernel"), "The same for a layout.");
  module.def("build_inplace_plan", &build, py::arg("request"), py::kw_only(), py::arg("steps"),
             py::arg("threads"), py::arg("workspace_limit"), "The plan with these very steps.");
}

}  // namespace ttlg::bindings
