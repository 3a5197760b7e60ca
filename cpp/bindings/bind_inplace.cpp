#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/plan_class.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/this_machine.hpp"
#include "plan/cpu/inplace/step_choice.hpp"
#include "plan/cuda/inplace/step_choice.hpp"
#include "plan/cuda/model/predict.hpp"

namespace ttlg::bindings {
namespace {

using cuda::DeviceModel;
using cuda::LoweredInplacePlan;

// A step says what lies between its matrices, and how many threads a block has, on a GPU alone. The
// usual number of threads is written out, and what stands for it in a step is read again.
template <typename Step>
constexpr bool kIsOnGpu = std::is_same_v<Step, cuda::InplaceStep>;

template <typename Step>
py::dict to_dict(const Step& step) {
  py::dict result;
  result["kernel"] = kernel_name(step.kernel);
  result["batch"] = step.batch;
  result["rows"] = step.rows;
  if (kIsOnGpu<Step>) result["between"] = step.between;
  result["columns"] = step.columns;
  result["element_bytes"] = step.element_bytes;
  result["width"] = step.width;
  if constexpr (kIsOnGpu<Step>) result["threads"] = cuda::block_threads(step);
  return result;
}

// What the devices share.
template <typename OfDevice>
struct InPlace {
  using Plan = OfDevice;
  using Steps = decltype(Plan::steps);
  using Step = typename Steps::value_type;
  static constexpr auto kWay = &Plan::steps;
  // In their order.
  static std::string kernels_of(const Steps& steps) {
    std::string names;
    for (const Step& step : steps) {
      names += (names.empty() ? "" : " + ") + std::string(kernel_name(step.kernel));
    }
    return names.empty() ? "none" : names;
  }
  // Of a plan, or of another one that does the same in these steps.
  static py::dict parameters_of(const auto& plan, const Steps& steps) {
    py::list dicts;
    for (const Step& step : steps) dicts.append(to_dict(step));
    py::dict result;
    result["steps"] = py::tuple(dicts);
    if constexpr (requires { plan.threads; }) result["threads"] = plan.threads;
    result["workspace_limit"] = plan.workspace_limit;
    return result;
  }
};

struct Cpu : InPlace<cpu::InplacePlan> {
  static auto parse(const std::string& name) {
    return parse_kernel(cpu::kInplaceKernels, name, "in place, choose one of");
  }
  static auto candidates(const Plan& plan) {
    return inplace_candidates(plan, *call::machine_or_this(plan.machine));
  }
  static auto cost(const Plan& plan, const Step& step) {
    const auto machine = call::machine_or_this(plan.machine);
    return py::make_tuple(passes(step), step_seconds(step, *machine, plan.threads));
  }
};

struct Cuda : InPlace<LoweredInplacePlan> {
  static auto parse(const std::string& name) {
    return parse_kernel(cuda::kInplaceKernels, name, "in place on a GPU, choose one of");
  }
  static auto candidates(const Plan& plan) { return inplace_candidates(plan); }
  static auto cost(const Plan& plan, const Step& step) {
    return py::make_tuple(passes(step, *plan.model), step_seconds(step, *plan.model));
  }
};

template <typename Number>
Number number_of(const py::dict& step, const char* name) {
  try {
    return step[name].cast<Number>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + " of a step must be an integer of " +
                         std::to_string(8 * sizeof(Number)) + " bits");
  }
}

template <typename Device, typename Step = typename Device::Step>
std::vector<Step> to_steps(const std::vector<py::dict>& dicts) {
  std::vector<Step> steps;
  for (const py::dict& values : dicts) {
    const auto number = [&](const char* name) { return number_of<std::int64_t>(values, name); };
    Step& step = steps.emplace_back(Step{.kernel = Device::parse(py::str(values["kernel"])),
                                         .batch = number("batch"),
                                         .rows = number("rows"),
                                         .between = kIsOnGpu<Step> ? number("between") : 1,
                                         .columns = number("columns"),
                                         .element_bytes = number("element_bytes"),
                                         .width = number("width")});
    // Versions that do not write it know the usual number alone.
    if constexpr (kIsOnGpu<Step>) {
      if (!values.contains("threads")) continue;
      const int threads = number_of<int>(values, "threads");
      if (threads != cuda::block_threads(step)) step.threads = threads;
    }
  }
  return steps;
}

template <typename Device>
py::list candidates_for(const typename Device::Plan& plan) {
  py::list rows;
  for (const auto& each : Device::candidates(plan)) {
    rows.append(py::make_tuple(Device::kernels_of(each.steps),
                               Device::parameters_of(each, each.steps), each.predicted_seconds,
                               each.workspace_bytes));
  }
  return rows;
}

// How often each step reads and writes the array, and its predicted seconds.
template <typename Device>
py::list costs_of(const typename Device::Plan& plan) {
  py::list costs;
  for (const typename Device::Step& step : plan.steps) costs.append(Device::cost(plan, step));
  return costs;
}

// The key for an array of this layout; throws where such an array has no place for the result.
LayoutKey checked_key(const call::Layout& x, const call::InplaceLayout& inplace) {
  if (inplace.fault) {
    throw py::value_error("an array of shape " + text_of(x.shape) + " and byte strides " +
                          text_of(x.byte_strides) +
                          " does not fill its memory in C or Fortran order, so it has no place for "
                          "the result; pass a contiguous copy, or call ttlg.transpose(x, axes), "
                          "which returns a new array");
  }
  return inplace.key;
}

std::shared_ptr<cpu::InplacePlan> cached_cpu_plan(const call::Layout& x,
                                                  const std::vector<int>& axes,
                                                  const py::object& threads,
                                                  std::optional<std::int64_t> workspace,
                                                  const std::optional<std::string>& kernel,
                                                  const std::shared_ptr<cpu::Machine>& machine) {
  const call::InplaceLayout layout(x, axes);
  const LayoutKey key = checked_key(x, layout);
  const cpu::InplaceOptions options{.threads = read_threads(threads),
                                    .workspace = workspace,
                                    .forced = parse_forced<Cpu>(kernel)};
  if (!machine) {
    return std::const_pointer_cast<cpu::InplacePlan>(
        call::cpu_inplace_plan_cache().get(key, {options}));
  }
  auto plan =
      std::make_shared<cpu::InplacePlan>(make_inplace_plan(key.request(), *machine, options));
  plan->machine = machine;
  return plan;
}

std::shared_ptr<LoweredInplacePlan> cached_cuda_plan(const call::Layout& x,
                                                     const std::vector<int>& axes,
                                                     std::optional<std::int64_t> workspace,
                                                     const std::shared_ptr<DeviceModel>& model,
                                                     const std::optional<std::string>& kernel) {
  const call::InplaceLayout layout(x, axes);
  return std::const_pointer_cast<LoweredInplacePlan>(call::cuda_inplace_plan_cache().get(
      checked_key(x, layout),
      {.model = model, .options = {.workspace = workspace, .forced = parse_forced<Cuda>(kernel)}}));
}

void check_planned_inplace(const PlanBase& plan, const TensorView& x) {
  check_planned_input(plan, x);
  if (x.readonly) {
    throw py::value_error(
        "x is read-only; pass a writable array, or call ttlg.transpose(x, axes), which returns a "
        "new one");
  }
}

void run_on_cpu(const cpu::InplacePlan& plan, const TensorView& x) {
  check_planned_inplace(plan, x);
  const call::Fault fault = call::run_inplace<GilRelease>(plan, x.data);
  if (!fault) return;
  PyErr_SetString(PyExc_MemoryError,
                  ("transposing in place needs a workspace of " + std::to_string(fault.bytes) +
                   " bytes, which this machine does not give; pass a smaller workspace=")
                      .c_str());
  throw py::error_already_set();
}

void run_on_cuda(const LoweredInplacePlan& plan, const TensorView& x, const TensorView* workspace) {
  check_planned_inplace(plan, x);
  std::byte* const memory = workspace == nullptr ? nullptr : workspace->data;
  if (call::run_inplace<GilRelease>(plan, x.data, memory, x.cuda_device, x.stream)) {
    throw py::value_error("this plan needs a workspace");
  }
}

template <typename Device, typename Plan = typename Device::Plan>
auto bind_class(py::module_& module, const char* name, const char* doc) {
  return bind_plan_class<Device>(module, name, doc)
      .def_property_readonly("costs", &costs_of<Device>)
      .def_readonly("workspace_bytes", &Plan::workspace_bytes)
      .def_readonly("predicted_seconds", &Plan::predicted_seconds)
      .def("candidates", &candidates_for<Device>);
}

// Refuses steps that need more than the plan says that they may.
template <typename Plan>
Plan within_limit(Plan plan) {
  if (plan.workspace_bytes <= plan.workspace_limit) return plan;
  throw py::value_error("these steps need a workspace of " + std::to_string(plan.workspace_bytes) +
                        " bytes, and workspace_limit is " + std::to_string(plan.workspace_limit));
}

constexpr const char* kPlanForDoc =
    "The plan for a view where it lies, with at most `workspace` bytes besides, or None for the "
    "planner's default.";

void bind_cpu_inplace(py::module_& module) {
  module.attr("CPU_INPLACE_KERNELS") = names_of(cpu::kInplaceKernels);
  bind_class<Cpu>(module, "CpuInplacePlan", "How an array is transposed on the CPU where it lies.")
      .def("run", &run_on_cpu, py::arg("x"));
  module.def(
      "cpu_inplace_plan_for",
      [](const TensorView& x, const py::object& axes, const py::object& threads,
         std::optional<std::int64_t> workspace, const std::optional<std::string>& kernel) {
        return cached_cpu_plan(x.layout(), read_axes(axes, x.shape), threads, workspace, kernel,
                               nullptr);
      },
      py::arg("x"), py::arg("axes"), py::arg("threads"), py::arg("workspace"),
      py::arg("kernel") = py::none(), kPlanForDoc);
  module.def(
      "cached_cpu_inplace_plan",
      [](const Request& request, const py::object& threads, std::optional<std::int64_t> workspace,
         const std::optional<std::string>& kernel, const std::shared_ptr<cpu::Machine>& machine) {
        return cached_cpu_plan(call::input_of(request), request.axes, threads, workspace, kernel,
                               machine);
      },
      py::arg("request"), py::arg("threads"), py::arg("workspace"), py::arg("kernel"),
      py::arg("machine") = py::none(),
      "The same for a layout; for another machine than this one, not from the cache.");
  module.def(
      "build_cpu_inplace_plan",
      [](const Request& request, const std::vector<py::dict>& steps, int threads,
         std::int64_t workspace_limit, const std::shared_ptr<cpu::Machine>& machine) {
        auto plan = within_limit(build_inplace_plan(request, to_steps<Cpu>(steps),
                                                    *call::machine_or_this(machine), threads,
                                                    workspace_limit));
        plan.machine = machine;
        return plan;
      },
      py::arg("request"), py::kw_only(), py::arg("steps"), py::arg("threads"),
      py::arg("workspace_limit"), py::arg("machine") = py::none(), "The plan with these steps.");
}

void bind_cuda_inplace(py::module_& module) {
  module.attr("CUDA_INPLACE_KERNELS") = names_of(cuda::kInplaceKernels);
  bind_class<Cuda>(module, "CudaInplacePlan",
                   "How an array is transposed on a CUDA device where it lies.")
      .def_property_readonly("time_source",
                             [](const LoweredInplacePlan& plan) {
                               return describe(*plan.model, cuda::TimeSource::terms);
                             })
      .def("run", &run_on_cuda, py::arg("x"), py::arg("workspace"),
           "Transpose x, with workspace_bytes of memory besides, or None where there are none.");
  module.def(
      "cuda_inplace_plan_for",
      [](const TensorView& x, const py::object& axes, std::optional<std::int64_t> workspace,
         const std::shared_ptr<DeviceModel>& model, const std::optional<std::string>& kernel) {
        return cached_cuda_plan(x.layout(), read_axes(axes, x.shape), workspace, model, kernel);
      },
      py::arg("x"), py::arg("axes"), py::arg("workspace"), py::arg("model"),
      py::arg("kernel") = py::none(), kPlanForDoc);
  module.def(
      "cached_cuda_inplace_plan",
      [](const Request& request, std::optional<std::int64_t> workspace,
         const std::shared_ptr<DeviceModel>& model, const std::optional<std::string>& kernel) {
        return cached_cuda_plan(call::input_of(request), request.axes, workspace, model, kernel);
      },
      py::arg("request"), py::arg("workspace"), py::arg("model"), py::arg("kernel"),
      "The same for a layout.");
  module.def(
      "cuda_inplace_cache_put",
      [](const std::shared_ptr<LoweredInplacePlan>& plan, std::optional<std::int64_t> workspace,
         const std::optional<std::string>& kernel) {
        call::cuda_inplace_plan_cache().put(
            plan, {.model = plan->model,
                   .options = {.workspace = workspace, .forced = parse_forced<Cuda>(kernel)}});
      },
      py::arg("plan"), py::arg("workspace"), py::arg("kernel"),
      "Keep a plan for its layout in place of the planner's choice.");
  module.def(
      "build_cuda_inplace_plan",
      [](const Request& request, const std::vector<py::dict>& steps,
         const std::shared_ptr<DeviceModel>& model, std::int64_t workspace_limit) {
        return LoweredInplacePlan(within_limit(
            build_inplace_plan(request, to_steps<Cuda>(steps), model, workspace_limit)));
      },
      py::arg("request"), py::kw_only(), py::arg("steps"), py::arg("model"),
      py::arg("workspace_limit"), "The plan with these steps.");
}

}  // namespace

void bind_inplace(py::module_& module) {
  bind_cpu_inplace(module);
  bind_cuda_inplace(module);
}

}  // namespace ttlg::bindings
