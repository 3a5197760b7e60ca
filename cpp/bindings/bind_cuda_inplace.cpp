#include "bindings/bind_cuda_inplace.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/inplace_layout.hpp"
#include "bindings/run.hpp"
#include "cuda/execute.hpp"
#include "plan/cuda/inplace/step_choice.hpp"

namespace ttlg::bindings {
namespace {

using cuda::DeviceModel;
using cuda::InplaceExecutable;
using cuda::InplaceKernel;
using cuda::InplaceStep;

InplaceKernel parse_kernel(const std::string& name) {
  if (const auto kernel = cuda::inplace_kernel_from_name(name)) return *kernel;
  throw py::value_error("unknown kernel '" + name + "'; in place on a GPU, choose one of " +
                        cuda::inplace_kernel_names());
}

py::dict to_dict(const InplaceStep& step) {
  py::dict result;
  result["kernel"] = kernel_name(step.kernel);
  result["batch"] = step.batch;
  result["rows"] = step.rows;
  result["between"] = step.between;
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
          .between = number("between"),
          .columns = number("columns"),
          .element_bytes = number("element_bytes"),
          .width = number("width")};
}

py::dict parameters_of(const cuda::InplacePlan& plan) {
  py::list steps;
  for (const InplaceStep& step : plan.steps) steps.append(to_dict(step));
  py::dict result;
  result["steps"] = py::tuple(steps);
  result["workspace_limit"] = plan.workspace_limit;
  return result;
}

// How often each step reads and writes the array, and its predicted seconds.
py::list costs_of(const InplaceExecutable& plan) {
  py::list costs;
  for (const InplaceStep& step : plan.steps) {
    costs.append(py::make_tuple(passes(step, *plan.model), step_seconds(step, *plan.model)));
  }
  return costs;
}

py::list candidates_for(const InplaceExecutable& plan) {
  py::list rows;
  for (const cuda::InplacePlan& each : inplace_candidates(plan)) {
    rows.append(py::make_tuple(kernels_of(each), parameters_of(each), each.workspace_bytes,
                               each.predicted_seconds));
  }
  return rows;
}

std::shared_ptr<InplaceExecutable> cached_plan(const Integers& shape, const Integers& byte_strides,
                                               std::int64_t itemsize, const std::vector<int>& order,
                                               std::int64_t workspace,
                                               const std::shared_ptr<DeviceModel>& model,
                                               const std::optional<std::string>& kernel) {
  const InplaceLayout layout(shape, byte_strides, itemsize, order);
  const auto forced = kernel ? std::optional(parse_kernel(*kernel)) : std::nullopt;
  return std::const_pointer_cast<InplaceExecutable>(cuda_inplace_plan_cache().get(
      layout.key, {.model = model, .options = {.workspace = workspace, .forced = forced}}));
}

InplaceExecutable build(const Request& request, const std::vector<py::dict>& steps,
                        const std::shared_ptr<DeviceModel>& model, std::int64_t workspace_limit) {
  std::vector<InplaceStep> parsed;
  for (const py::dict& each : steps) parsed.push_back(to_step(each));
  return InplaceExecutable(build_inplace_plan(request, std::move(parsed), model, workspace_limit));
}

void run_inplace(const InplaceExecutable& plan, const TensorView& x, const TensorView* workspace) {
  check_planned_inplace(plan, x);
  if (plan.workspace_bytes > 0 && workspace == nullptr) {
    throw py::value_error("this plan needs a workspace");
  }
  const GilRelease release;
  cuda::execute_inplace(plan, x.data, workspace == nullptr ? nullptr : workspace->data,
                        x.cuda_device, x.stream);
}

}  // namespace

void bind_cuda_inplace(py::module_& module) {
  py::class_<InplaceExecutable, PlanBase, std::shared_ptr<InplaceExecutable>>(
      module, "CudaInplacePlan", "How an array is transposed on a CUDA device where it lies.")
      .def_property_readonly("kernel", &kernels_of<InplaceExecutable>)
      .def_property_readonly("parameters",
                             [](const InplaceExecutable& plan) { return parameters_of(plan); })
      .def_property_readonly("costs", &costs_of)
      .def_property_readonly("model",
                             [](const InplaceExecutable& plan) {
                               return std::const_pointer_cast<DeviceModel>(plan.model);
                             })
      .def_readonly("workspace_bytes", &InplaceExecutable::workspace_bytes)
      .def_readonly("predicted_seconds", &InplaceExecutable::predicted_seconds)
      .def("candidates", &candidates_for)
      .def("run", &run_inplace, py::arg("x"), py::arg("workspace"),
           "Transpose x, with workspace_bytes of memory besides, or None where there are none.")
      .def(
          "__eq__",
          [](const InplaceExecutable& plan, const InplaceExecutable& other) {
            return plan == other;
          },
          py::is_operator());
  module.def(
      "cuda_inplace_plan_for",
      [](const TensorView& x, const py::object& axes, std::int64_t workspace,
         const std::shared_ptr<DeviceModel>& model, const std::optional<std::string>& kernel) {
        return cached_plan(x.shape, x.byte_strides, x.itemsize, read_axes(axes, x.shape), workspace,
                           model, kernel);
      },
      py::arg("x"), py::arg("axes"), py::arg("workspace"), py::arg("model"),
      py::arg("kernel") = py::none(),
      "The plan for a view where it lies; of all bytes besides, at most so many (0: as the planner "
      "likes).");
  module.def("cached_cuda_inplace_plan", &cached_plan, py::arg("shape"), py::arg("byte_strides"),
             py::arg("itemsize"), py::arg("axes"), py::arg("workspace"), py::arg("model"),
             py::arg("kernel"), "The same for a layout.");
  module.def("build_cuda_inplace_plan", &build, py::arg("request"), py::kw_only(), py::arg("steps"),
             py::arg("model"), py::arg("workspace_limit"), "The plan with these very steps.");
}

}  // namespace ttlg::bindings
