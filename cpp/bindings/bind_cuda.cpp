#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/measured.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cuda/execute.hpp"
#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/model/launch_terms.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/planner.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::bindings {
namespace {

using call::CudaCall;
using cuda::DeviceModel;
using cuda::Executable;
using cuda::Schema;
using cuda::TaxonomyRule;

Schema parse_schema(const std::string& name) {
  return parse_kernel(cuda::kSchemas, name, "CUDA devices have");
}

std::optional<Schema> parse_forced(const std::optional<std::string>& kernel) {
  return kernel ? std::optional(parse_schema(*kernel)) : std::nullopt;
}

py::dict to_dict(const cuda::Parameters& parameters) {
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

// All of them are counts, which regressions take as real numbers.
py::dict to_dict(const cuda::Features& features) {
  py::dict result;
  for (const auto& [name, value] : features) {
    result[py::str(std::string(name))] = static_cast<std::int64_t>(value);
  }
  return result;
}

py::dict to_dict(const cuda::Transactions& counts) {
  py::dict result;
  result["in_dram"] = counts.in_dram;
  result["in_shared"] = counts.in_shared;
  result["in_texture"] = counts.in_texture;
  result["out_dram"] = counts.out_dram;
  result["out_shared"] = counts.out_shared;
  result["out_texture"] = counts.out_texture;
  return result;
}

py::list candidates_for(const Executable& plan) {
  py::list rows;
  for (const cuda::Candidate& each :
       cuda::candidates(plan.recast, *plan.model, plan.pointer_alignment)) {
    rows.append(py::make_tuple(schema_name(each.parameters.schema), to_dict(each.parameters),
                               to_dict(cuda::features_of({plan.recast, each.parameters})),
                               each.seconds));
  }
  return rows;
}

// Every case with what keeps it from applying; None for the plan's case and those below it, which
// need not make sense for its problem.
py::list taxonomy_for(const Executable& plan) {
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

// The largest power of two, up to what a thread moves at once, that divides both pointers.
std::int64_t pointer_alignment_of(const std::byte* in, const std::byte* out) {
  const auto bits = reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out);
  return common_power(static_cast<std::int64_t>(bits), cuda::kMaxAccessBytes);
}

std::shared_ptr<Executable> cached_plan(const LayoutKey& layout,
                                        const cuda::Planning::Choice& choice) {
  return std::const_pointer_cast<Executable>(call::cuda_plan_cache().get(layout, choice));
}

py::list to_list(const std::vector<cuda::Timed>& timed) {
  const auto name_of = [](const cuda::Parameters& each) { return schema_name(each.schema); };
  return measured_rows(timed, name_of, [](const cuda::Parameters& each) { return to_dict(each); });
}

std::shared_ptr<Executable> plan_for_views(const TensorView& x, const py::object& axes,
                                           const TensorView* out,
                                           const std::shared_ptr<DeviceModel>& model,
                                           const std::optional<std::string>& kernel) {
  const std::vector<int> order = read_axes(axes, x.shape);
  if (out != nullptr) check_out(x, order, *out);
  const call::Layout into = out != nullptr ? out->layout() : call::Layout{};
  return cached_plan(key_of(x.layout(), order, into.byte_strides),
                     {.pointer_alignment = pointer_alignment_of(x.data, into.data),
                      .model = model,
                      .forced = parse_forced(kernel)});
}

// Whether `out` may be written to is the caller's to check: JAX calls its own new arrays read-only.
void run_checked(const Executable& plan, const TensorView& x, const TensorView& out) {
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

void bind_plans(py::module_& module) {
  py::class_<Executable, PlanBase, std::shared_ptr<Executable>>(
      module, "CudaPlan", "How one transposition is done on a CUDA device.")
      .def_property_readonly(
          "kernel", [](const Executable& plan) { return schema_name(plan.parameters.schema); })
      .def_property_readonly("parameters",
                             [](const Executable& plan) { return to_dict(plan.parameters); })
      .def_readonly("pointer_alignment", &Executable::pointer_alignment)
      .def_property_readonly(
          "model",
          [](const Executable& plan) { return std::const_pointer_cast<DeviceModel>(plan.model); })
      .def_readonly("predicted_seconds", &Executable::predicted_seconds)
      .def_property_readonly(
          "time_source",
          [](const Executable& plan) { return describe(*plan.model, plan.time_source); })
      .def_property_readonly("word_bytes",
                             [](const Executable& plan) { return plan.recast.element_bytes(); })
      .def_property_readonly("slice",
                             [](const Executable& plan) {
                               const cuda::SlicedProblem sliced = plan.sliced();
                               return to_tuple({sliced.extents().begin(), sliced.extents().end()});
                             })
      .def_property_readonly(
          "blocks", [](const Executable& plan) { return cuda::grid_blocks(plan.sliced()); })
      .def_property_readonly("coarsening",
                             [](const Executable& plan) { return plan.sliced().repeats(); })
      .def_property_readonly("features",
                             [](const Executable& plan) {
                               return to_dict(cuda::features_of({plan.recast, plan.parameters}));
                             })
      .def("candidates", &candidates_for)
      .def_property_readonly("measured",
                             [](const Executable& plan) { return to_list(plan.measured); })
      .def_property_readonly(
          "trials",
          [](const Executable& plan) { return to_list(call::cuda_learner().timed(plan)); })
      .def("with_measured", &with_measured<Executable, &Executable::parameters>, py::arg("timed"))
      .def("transactions",
           [](const Executable& plan) { return to_dict(cuda::transactions(plan.sliced())); })
      .def(
          "terms",
          [](const Executable& plan) {
            std::map<std::string, double> result;
            if (plan.problem.bytes() == 0) return result;
            const cuda::LaunchTerms counted = count_terms(*plan.model, plan.sliced());
            for (const auto& [number, seconds] : counted.terms()) {
              result[cuda::cost_names()[number]] = seconds;
            }
            return result;
          },
          "The seconds of every term of the time model at a cost of 1.")
      .def("taxonomy", &taxonomy_for)
      .def("run", &run_checked, py::arg("x"), py::arg("out"))
      .def(
          "__eq__", [](const Executable& plan, const Executable& other) { return plan == other; },
          py::is_operator());

  module.def(
      "cached_cuda_plan",
      [](const Request& request, const std::shared_ptr<DeviceModel>& model,
         const std::optional<std::string>& kernel) {
        return cached_plan(ttlg::key_of(request), {.model = model, .forced = parse_forced(kernel)});
      },
      py::arg("request"), py::arg("model"), py::arg("kernel"),
      "The plan for this layout where pointers allow the widest words, from the planner cache or "
      "made and kept there.");
  module.def(
      "cuda_plan_for", &plan_for_views, py::arg("x"), py::arg("axes"), py::arg("out"),
      py::arg("model"), py::arg("kernel") = py::none(),
      "The same for a view moved into another, checked first, or into a new array if out is None.");
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
  module.def(
      "cuda_cache_put",
      [](const std::shared_ptr<Executable>& plan, const std::optional<std::string>& kernel) {
        for (const bool learns : {false, true}) {
          call::cuda_plan_cache().put(plan, {.pointer_alignment = plan->pointer_alignment,
                                             .model = plan->model,
                                             .forced = parse_forced(kernel),
                                             .learns = learns});
        }
      },
      py::arg("plan"), py::arg("kernel"),
      "Keep a plan for its layout in place of the planner's choice.");
  module.def(
      "build_cuda_plan",
      [](const Request& request, std::int64_t pointer_alignment,
         const std::shared_ptr<DeviceModel>& model, const std::string& kernel, int in_modes,
         int out_modes, std::int64_t in_block, std::int64_t out_block, int coarsened_mode,
         int stages, std::optional<std::int64_t> band_width) {
        cuda::Parameters parameters{.schema = parse_schema(kernel),
                                    .slice = {.in_modes = in_modes,
                                              .out_modes = out_modes,
                                              .in_block = in_block,
                                              .out_block = out_block},
                                    .coarsened_mode = coarsened_mode,
                                    .stages = stages,
                                    .band_width = band_width.value_or(0)};
        cuda::Plan plan = cuda::build_plan(request, pointer_alignment, parameters, model);
        if (!band_width) plan.parameters.band_width = choose_band_width(plan.sliced(), *model);
        return Executable(std::move(plan));
      },
      py::arg("request"), py::kw_only(), py::arg("pointer_alignment"), py::arg("model"),
      py::arg("kernel"), py::arg("in_modes"), py::arg("out_modes"), py::arg("in_block"),
      py::arg("out_block"), py::arg("coarsened_mode"), py::arg("stages"),
      py::arg("band_width") = py::none(),
      "The plan with these parameters. Plans of versions that did not write band_width have the "
      "planner's.");
}

}  // namespace

void bind_cuda(py::module_& module) {
  py::register_local_exception<cuda::Error>(module, "CudaError", PyExc_RuntimeError);
  module.attr("CUDA_KERNELS") = names_of(cuda::kSchemas);
  bind_device_model(module);
  bind_plans(module);
  module.def(
      "synchronize",
      [](const TensorView& view) {
        const GilRelease release;
        cuda::synchronize(view.cuda_device, view.stream);
      },
      py::arg("view"), "Wait for the work on the stream of an array on a CUDA device.");
}

}  // namespace ttlg::bindings
