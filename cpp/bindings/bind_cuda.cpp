#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/plan_class.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cuda/execute.hpp"
#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/model/launch_terms.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/planner.hpp"
#include "plan/cuda/taxonomy.hpp"

namespace ttlg::bindings {
namespace {

using call::CudaCall;
using cuda::DeviceModel;
using cuda::LoweredPlan;
using cuda::Schema;
using cuda::TaxonomyRule;

struct Device {
  using Plan = LoweredPlan;
  static constexpr auto kWay = &Plan::parameters;
  static Schema parse(const std::string& name) {
    return parse_kernel(cuda::kSchemas, name, "CUDA devices have");
  }
  static auto kernels_of(const cuda::Parameters& parameters) {
    return schema_name(parameters.schema);
  }
  static auto trials(const Plan& plan) { return call::cuda_learner().timed(plan); }
  static py::dict parameters_of(const Plan&, const cuda::Parameters& parameters) {
    py::dict result;
    result["in_modes"] = parameters.slice.in_modes;
    result["out_modes"] = parameters.slice.out_modes;
    result["in_block"] = parameters.slice.in_block;
    result["out_block"] = parameters.slice.out_block;
    result["coarsened_mode"] = parameters.coarsened_mode;
    result["stages"] = parameters.stages;
    result["band_width"] = parameters.band_width;
    return result;
  }
};

// All of them are counts, which regressions take as real numbers.
py::dict features_of(const LoweredPlan& plan, const cuda::Parameters& parameters) {
  py::dict result;
  for (const auto& [name, value] : cuda::features_of({plan.recast, parameters})) {
    result[py::str(std::string(name))] = static_cast<std::int64_t>(value);
  }
  return result;
}

py::dict transactions_of(const LoweredPlan& plan) {
  const cuda::Transactions counts = cuda::transactions(plan.sliced());
  py::dict result;
  result["in_dram"] = counts.in_dram;
  result["in_shared"] = counts.in_shared;
  result["in_texture"] = counts.in_texture;
  result["out_dram"] = counts.out_dram;
  result["out_shared"] = counts.out_shared;
  result["out_texture"] = counts.out_texture;
  return result;
}

py::list candidates_for(const LoweredPlan& plan) {
  py::list rows;
  for (const cuda::Candidate& each :
       cuda::candidates(plan.recast, *plan.model, plan.pointer_alignment)) {
    const cuda::Parameters& way = each.parameters;
    rows.append(py::make_tuple(Device::kernels_of(way), Device::parameters_of(plan, way),
                               features_of(plan, way), each.seconds));
  }
  return rows;
}

// Every case with what keeps it from applying; None for the plan's case and those below it, which
// need not make sense for its problem.
py::list taxonomy_for(const LoweredPlan& plan) {
  const TaxonomyRule& rule_of_plan = cuda::classify(plan.recast);
  py::list rows;
  bool is_decided = false;
  for (const TaxonomyRule& rule : cuda::taxonomy()) {
    py::list schemas;
    for (const Schema schema : rule.schemas) schemas.append(schema_name(schema));
    is_decided = is_decided || &rule == &rule_of_plan;
    const py::object obstacle = is_decided ? py::none() : py::cast(rule.obstacle(plan.recast));
    rows.append(py::make_tuple(rule.name, py::tuple(schemas), rule.requirement, obstacle));
  }
  return rows;
}

std::shared_ptr<LoweredPlan> cached_plan(const LayoutKey& layout,
                                         const cuda::Planning::Choice& choice) {
  return std::const_pointer_cast<LoweredPlan>(call::cuda_plan_cache().get(layout, choice));
}

// The seconds of every term of the time model at a cost of 1.
std::map<std::string, double> terms_of(const LoweredPlan& plan) {
  std::map<std::string, double> result;
  if (plan.problem.bytes() == 0) return result;
  const cuda::LaunchTerms counted = count_terms(*plan.model, plan.sliced());
  for (const auto& [number, seconds] : counted.terms()) {
    result[cuda::cost_names()[number]] = seconds;
  }
  return result;
}

// What Python's texts about a plan say of it besides its parameters.
py::dict description_of(const LoweredPlan& plan) {
  const cuda::SlicedProblem sliced = plan.sliced();
  py::dict result;
  result["word_bytes"] = plan.recast.element_bytes();
  result["slice"] = to_tuple({sliced.extents().begin(), sliced.extents().end()});
  result["blocks"] = cuda::grid_blocks(sliced);
  result["coarsening"] = sliced.repeats();
  result["taxonomy"] = taxonomy_for(plan);
  return result;
}

std::shared_ptr<LoweredPlan> plan_for_views(const TensorView& x, const py::object& axes,
                                            const TensorView* out,
                                            const std::shared_ptr<DeviceModel>& model,
                                            const std::optional<std::string>& kernel) {
  const std::vector<int> order = read_axes(axes, x.shape);
  if (out != nullptr) check_out(x, order, *out);
  const call::Layout into = out != nullptr ? out->layout() : call::Layout{};
  return cached_plan(key_of(x.layout(), order, into.byte_strides),
                     {.pointer_alignment = call::pointer_alignment_of(x.data, into.data),
                      .model = model,
                      .forced = parse_forced<Device>(kernel)});
}

// Whether `out` may be written to is the caller's to check: JAX calls its own new arrays read-only.
void run_checked(const LoweredPlan& plan, const TensorView& x, const TensorView& out) {
  check_planned(plan, x, out);
  const GilRelease release;
  cuda::execute(plan, x.data, out.data, x.cuda_device, x.stream,
                out.owner_stream.value_or(x.stream));
}

void run_call(const CudaCall& call, const TensorView& x, const TensorView& out) {
  check_planned(*call.plan, x, out);
  const GilRelease release;
  call::run_and_learn(call.plan, x.data, out.data, x.cuda_device, x.stream,
                      out.owner_stream.value_or(x.stream));
}

LoweredPlan build_plan(const Request& request, std::int64_t pointer_alignment,
                       const std::shared_ptr<DeviceModel>& model, const std::string& kernel,
                       int in_modes, int out_modes, std::int64_t in_block, std::int64_t out_block,
                       int coarsened_mode, int stages, std::optional<std::int64_t> band_width) {
  cuda::Parameters parameters{.schema = Device::parse(kernel),
                              .slice = {.in_modes = in_modes,
                                        .out_modes = out_modes,
                                        .in_block = in_block,
                                        .out_block = out_block},
                              .coarsened_mode = coarsened_mode,
                              .stages = stages,
                              .band_width = band_width.value_or(0)};
  cuda::Plan plan = cuda::build_plan(request, pointer_alignment, parameters, model);
  if (!band_width) plan.parameters.band_width = choose_band_width(plan.sliced(), *model);
  return LoweredPlan(std::move(plan));
}

void bind_plans(py::module_& module) {
  bind_plan_class<Device>(module, "CudaPlan", "How one transposition is done on a CUDA device.")
      .def_readonly("pointer_alignment", &LoweredPlan::pointer_alignment)
      .def_readonly("predicted_seconds", &LoweredPlan::predicted_seconds)
      .def_property_readonly(
          "time_source",
          [](const LoweredPlan& plan) { return describe(*plan.model, plan.time_source); })
      .def_property_readonly(
          "features", [](const LoweredPlan& plan) { return features_of(plan, plan.parameters); })
      .def("candidates", &candidates_for)
      .def("transactions", &transactions_of)
      .def("terms", &terms_of)
      .def("describe", &description_of)
      .def("run", &run_checked, py::arg("x"), py::arg("out"));
  module.def(
      "cached_cuda_plan",
      [](const Request& request, const std::shared_ptr<DeviceModel>& model,
         const std::optional<std::string>& kernel) {
        return cached_plan(ttlg::key_of(request),
                           {.model = model, .forced = parse_forced<Device>(kernel)});
      },
      py::arg("request"), py::arg("model"), py::arg("kernel"),
      "The plan for this layout where pointers allow the widest words, from the planner cache or "
      "made and kept there.");
  module.def(
      "cuda_plan_for", &plan_for_views, py::arg("x"), py::arg("axes"), py::arg("out"),
      py::arg("model"), py::arg("kernel") = py::none(),
      "The same for a view moved into another, checked first, or into a new array if out is None.");
  module.def(
      "cuda_cache_put",
      [](const std::shared_ptr<LoweredPlan>& plan, const std::optional<std::string>& kernel) {
        for (const bool learns : {false, true}) {
          call::cuda_plan_cache().put(plan, {.pointer_alignment = plan->pointer_alignment,
                                             .model = plan->model,
                                             .forced = parse_forced<Device>(kernel),
                                             .learns = learns});
        }
      },
      py::arg("plan"), py::arg("kernel"),
      "Keep a plan for its layout in place of the planner's choice.");
  module.def(
      "build_cuda_plan", &build_plan, py::arg("request"), py::kw_only(),
      py::arg("pointer_alignment"), py::arg("model"), py::arg("kernel"), py::arg("in_modes"),
      py::arg("out_modes"), py::arg("in_block"), py::arg("out_block"), py::arg("coarsened_mode"),
      py::arg("stages"), py::arg("band_width") = py::none(),
      "The plan with these parameters. Plans of versions that did not write band_width have the "
      "planner's.");
}

void bind_calls(py::module_& module) {
  py::class_<CudaCall>(module, "CudaCall",
                       "A call by a plan that the planner cache has, or by one that is being tried "
                       "for the same layout.")
      .def_property_readonly("out_shape",
                             [](const CudaCall& call) { return to_tuple(call.plan->out_shape); })
      .def("run", &run_call, py::arg("x"), py::arg("out"));
  module.def(
      "cuda_call_for",
      [](const TensorView& x, const py::object& axes, const TensorView* out,
         const std::shared_ptr<DeviceModel>& model) {
        return CudaCall{plan_for_views(x, axes, out, model, std::nullopt)};
      },
      py::arg("x"), py::arg("axes"), py::arg("out"), py::arg("model"), "A call by such a plan.");
}

}  // namespace

void bind_cuda(py::module_& module) {
  py::register_local_exception<cuda::Error>(module, "CudaError", PyExc_RuntimeError);
  module.attr("CUDA_KERNELS") = names_of(cuda::kSchemas);
  bind_device_model(module);
  bind_plans(module);
  bind_calls(module);
  module.def(
      "synchronize",
      [](const TensorView& view) {
        const GilRelease release;
        cuda::synchronize(view.cuda_device, view.stream);
      },
      py::arg("view"), "Wait for the work on the stream of an array on a CUDA device.");
}

}  // namespace ttlg::bindings
