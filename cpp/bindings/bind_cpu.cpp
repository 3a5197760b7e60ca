#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/measured.hpp"
#include "bindings/new_ndarray.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/simd_level.hpp"
#include "cpu/this_machine.hpp"
#include "plan/cpu/loop_order.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/search_space.hpp"

namespace ttlg::bindings {
namespace {

using call::CpuCall;
using cpu::Kernel;
using cpu::Plan;

Kernel parse_kernel(const std::string& name) {
  return bindings::parse_kernel(cpu::kKernels, name, "choose one of");
}

std::optional<Kernel> parse_forced(const std::optional<std::string>& kernel) {
  return kernel ? std::optional(parse_kernel(*kernel)) : std::nullopt;
}

py::dict to_dict(const cpu::Parameters& parameters) {
  py::dict result;
  result["block"] = to_tuple(parameters.block);
  result["loop_order"] = py::tuple(py::cast(parameters.loop_order));
  result["staged"] = parameters.staged;
  result["streaming"] = parameters.streaming;
  result["prefetch"] = parameters.prefetch;
  result["threads"] = parameters.threads;
  return result;
}

py::object shuffle_of(const Plan& plan) {
  const cpu::ShuffleTables& shuffle = plan.movers.program;
  if (shuffle.tile.empty()) return py::none();
  std::int64_t tile_bytes = plan.element_bytes;
  for (const std::int64_t extent : shuffle.tile) tile_bytes *= extent;
  py::dict result;
  result["tile_bytes"] = tile_bytes;
  result["vector_bytes"] = cpu::kLaneBytes;
  result["loads"] = shuffle.loads.size();
  result["stores"] = shuffle.out_stores.size();
  result["steps"] = shuffle.steps();
  const cpu::Kernels& table = cpu::kernels();
  Integers whole;
  for (const cpu::BlockMode& mode : plan.block.modes) whole.push_back(mode.block);
  const cpu::Mover mover = table.mover_of(plan.movers, whole);
  result["channels"] = mover == cpu::Mover::channels ? plan.movers.channels->kind.count : 0;
  result["tile_vectors"] =
      mover == cpu::Mover::vector_tile ? plan.movers.vector_tile(table.lanes)->loads.size() : 0;
  result["level_bytes"] = table.lanes * cpu::kLaneBytes;
  return result;
}

// The bytes that go to the positions of a vector, -1 for a zero.
py::tuple source_bytes(const cpu::ByteIndices& bytes) {
  py::list numbers;
  for (const std::uint8_t byte : bytes) numbers.append(byte == cpu::kNoByte ? -1 : int{byte});
  return py::tuple(numbers);
}

py::object shuffle_program_of(const Plan& plan) {
  const cpu::ShuffleTables& shuffle = plan.movers.program;
  if (shuffle.tile.empty()) return py::none();
  py::list sums;
  auto term = shuffle.terms.begin();
  for (const std::uint8_t count : shuffle.sums) {
    py::list terms;
    for (int i = 0; i < count; ++i, ++term) {
      terms.append(py::make_tuple(term->source, source_bytes(term->bytes)));
    }
    sums.append(py::tuple(terms));
  }
  py::dict result;
  result["tile"] = to_tuple(cpu::shuffle_tile(fold_run(plan.problem)));
  result["loads"] = to_tuple(shuffle.loads);
  result["first"] = source_bytes(shuffle.first);
  result["rounds"] = to_tuple(Integers(shuffle.rounds.begin(), shuffle.rounds.end()));
  result["sums"] = py::tuple(sums);
  result["stores"] = to_tuple(shuffle.out_stores);
  result["program"] =
      shuffle::to_text(cpu::make_program(plan.block, shuffle.tile, plan.element_bytes));
  return result;
}

// Python's CpuPlan has no method that changes it.
std::shared_ptr<Plan> cached_plan(const LayoutKey& key, const cpu::Planning::Choice& choice) {
  return std::const_pointer_cast<Plan>(call::cpu_plan_cache().get(key, choice));
}

void check_call(const Plan& plan, const TensorView& x, const TensorView& out) {
  check_planned(plan, x, out);
  if (out.readonly) throw py::value_error("out is read-only; pass a writable array");
}

void run_checked(const Plan& plan, const TensorView& x, const TensorView& out) {
  check_call(plan, x, out);
  call::run<GilRelease>(plan, x.data, out.data);
}

void run_call(const CpuCall& call, const TensorView& x, const TensorView& out) {
  check_call(*call.plan, x, out);
  // Other libraries return the memory of large results to the system when these are freed.
  call::run_and_learn<GilRelease>(call.plan, x.data, out.data,
                                  call.plan->request.out_byte_strides.empty());
}

// One after another, which no signal handler of Python interrupts.
void run_calls(const std::vector<std::tuple<CpuCall, TensorView, TensorView>>& calls) {
  for (const auto& [call, x, out] : calls) run_call(call, x, out);
}

std::shared_ptr<Plan> plan_for_views(const TensorView& x, const py::object& axes,
                                     const TensorView* out, const py::object& threads,
                                     const std::optional<std::string>& kernel) {
  const std::vector<int> order = read_axes(axes, x.shape);
  if (out != nullptr) check_out(x, order, *out);
  const call::Layout into = out != nullptr ? out->layout() : call::Layout{};
  return cached_plan(cpu_key_of(x.layout(), order, out != nullptr ? &into : nullptr),
                     {.threads = read_threads(threads), .forced = parse_forced(kernel)});
}

py::list candidates_for(const Plan& plan, int threads, bool all) {
  py::list rows;
  for (const cpu::Candidate& each :
       cpu::candidates(plan.request, *call::machine_or_this(plan.machine), threads,
                       all ? cpu::CandidateSet::all : cpu::CandidateSet::searched)) {
    rows.append(py::make_tuple(kernel_name(each.parameters.kernel), to_dict(each.parameters),
                               each.seconds));
  }
  return rows;
}

// Every kernel with what it needs, why it does not apply or None, and its best plan's seconds.
py::list kernel_reports_for(const Plan& plan) {
  py::list rows;
  for (const cpu::KernelReport& each :
       cpu::kernel_reports(plan.request, *call::machine_or_this(plan.machine), plan.thread_limit)) {
    const bool applies = each.obstacle.empty();
    rows.append(py::make_tuple(kernel_name(each.kernel), requirement(each.kernel),
                               applies ? py::none() : py::cast(each.obstacle), each.seconds));
  }
  return rows;
}

py::list to_list(const std::vector<cpu::Timed>& timed) {
  const auto name_of = [](const cpu::Parameters& each) { return kernel_name(each.kernel); };
  return measured_rows(timed, name_of, [](const cpu::Parameters& each) { return to_dict(each); });
}

// The layouts whose fastest plan is known, for all kernels.
py::list measured_plans() {
  py::list rows;
  for (const auto& [plan, choice] : call::cpu_plan_cache().plans()) {
    if (plan->measured.empty() || choice.forced || !choice.learns) continue;
    rows.append(py::make_tuple(*plan, choice.threads, plan->warm_seconds, plan->fresh_seconds));
  }
  return rows;
}

void cache_learned(Plan plan, int threads, double warm_seconds, double fresh_seconds) {
  plan.thread_limit = threads;
  plan.warm_seconds = warm_seconds;
  plan.fresh_seconds = fresh_seconds;
  call::cpu_plan_cache().put(std::make_shared<const Plan>(std::move(plan)),
                             {.threads = threads, .learns = true});
}

py::list kernels_for(const Plan& plan) {
  const Problem folded = fold_run(plan.problem);
  py::list names;
  for (const Kernel kernel : cpu::kKernels) {
    if (applies(kernel, folded)) names.append(kernel_name(kernel));
  }
  return names;
}

}  // namespace

void bind_cpu(py::module_& module) {
  module.attr("CPU_KERNELS") = names_of(cpu::kKernels);
  py::class_<Plan, PlanBase, std::shared_ptr<Plan>>(module, "CpuPlan",
                                                    "How one transposition is done on the CPU.")
      .def_property_readonly("kernel",
                             [](const Plan& plan) { return kernel_name(plan.parameters.kernel); })
      .def_property_readonly("parameters",
                             [](const Plan& plan) { return to_dict(plan.parameters); })
      .def_readonly("element_bytes", &Plan::element_bytes)
      .def_property_readonly("blocks", &Plan::blocks)
      .def_property_readonly("shuffle", &shuffle_of)
      .def("shuffle_program", &shuffle_program_of)
      .def("candidates", &candidates_for, py::arg("threads"), py::arg("all") = false)
      .def("kernel_reports", &kernel_reports_for)
      .def_property_readonly("predicted_seconds",
                             [](const Plan& plan) { return call::predicted_seconds(plan, false); })
      .def_readonly("thread_limit", &Plan::thread_limit)
      .def_property_readonly(
          "machine",
          [](const Plan& plan) { return std::const_pointer_cast<cpu::Machine>(plan.machine); })
      .def_property_readonly("measured", [](const Plan& plan) { return to_list(plan.measured); })
      .def_property_readonly(
          "trials", [](const Plan& plan) { return to_list(call::cpu_learner().timed(plan)); })
      .def("with_measured", &with_measured<Plan, &Plan::parameters>, py::arg("timed"))
      .def("applicable_kernels", &kernels_for)
      .def("run", &run_checked, py::arg("x"), py::arg("out"))
      .def(
          "__eq__", [](const Plan& plan, const Plan& other) { return plan == other; },
          py::is_operator());

  module.def(
      "cached_cpu_plan",
      [](const Request& request, const py::object& threads,
         const std::optional<std::string>& kernel, const std::shared_ptr<cpu::Machine>& machine) {
        const int most = read_threads(threads);
        if (!machine) {
          return cached_plan(ttlg::key_of(request),
                             {.threads = most, .forced = parse_forced(kernel)});
        }
        auto plan =
            std::make_shared<Plan>(make_plan(request, *machine, most, parse_forced(kernel)));
        plan->machine = machine;
        return plan;
      },
      py::arg("request"), py::arg("threads"), py::arg("kernel"), py::arg("machine") = py::none(),
      "The plan for this layout, from the planner cache or made and kept there; for another "
      "machine "
      "than this one it is made, and not kept.");
  module.def(
      "cpu_plan_for", &plan_for_views, py::arg("x"), py::arg("axes"), py::arg("out"),
      py::arg("threads"), py::arg("kernel") = py::none(),
      "The same for a view moved into another, checked first, or into a new array if out is None.");
  py::class_<CpuCall>(module, "CpuCall",
                      "A call by a plan that the planner cache has, or by one that is being tried "
                      "for the same layout.")
      .def(py::init([](std::shared_ptr<Plan> plan) { return CpuCall{std::move(plan)}; }),
           py::arg("plan"))
      .def_property_readonly("out_shape",
                             [](const CpuCall& call) { return to_tuple(call.plan->out_shape); })
      .def("run", &run_call, py::arg("x"), py::arg("out"));
  module.def(
      "cpu_call_for",
      [](const TensorView& x, const py::object& axes, const TensorView* out,
         const py::object& threads) {
        return CpuCall{plan_for_views(x, axes, out, threads, std::nullopt)};
      },
      py::arg("x"), py::arg("axes"), py::arg("out"), py::arg("threads"), "A call by such a plan.");
  module.def("run_cpu_calls", &run_calls, py::arg("calls"),
             "Run calls, each with its x and its out, as one that nothing interrupts.");
  module.def(
      "request_into_new_ndarray",
      [](const Integers& shape, const Integers& byte_strides, std::int64_t itemsize,
         const std::vector<int>& axes) {
        const call::Layout x{.shape = shape, .byte_strides = byte_strides, .itemsize = itemsize};
        return cpu_key_of(x, axes, nullptr).request();
      },
      py::arg("shape"), py::arg("byte_strides"), py::arg("itemsize"), py::arg("axes"),
      "The request of moving such an array into a new ndarray.");
  module.def(
      "build_cpu_plan",
      [](const Request& request, const std::string& kernel, Integers block,
         std::vector<int> loop_order, bool staged, bool streaming, int prefetch, int threads,
         const std::shared_ptr<cpu::Machine>& machine) {
        Plan plan = cpu::build_plan(request, {.kernel = parse_kernel(kernel),
                                              .block = std::move(block),
                                              .loop_order = std::move(loop_order),
                                              .staged = staged,
                                              .streaming = streaming,
                                              .prefetch = prefetch,
                                              .threads = threads});
        plan.machine = machine;
        return plan;
      },
      py::arg("request"), py::kw_only(), py::arg("kernel"), py::arg("block"), py::arg("loop_order"),
      py::arg("staged"), py::arg("streaming"), py::arg("prefetch"), py::arg("threads"),
      py::arg("machine") = py::none(), "The plan with these parameters.");
  module.def(
      "loop_orders",
      [](const Request& request, const Integers& block) {
        py::list orders;
        for (const auto& order : cpu::loop_orders(fold_run(make_problem(request)), block)) {
          orders.append(py::tuple(py::cast(order)));
        }
        return orders;
      },
      py::arg("request"), py::arg("block"),
      "The orders of the loops over such blocks that the planner weighs.");
  module.def(
      "loop_cost",
      [](const std::vector<int>& perm, const std::vector<int>& order) {
        return cpu::loop_cost(perm, order);
      },
      py::arg("perm"), py::arg("order"),
      "COMET's cost of loops over modes that perm permutes, outermost loop first.");
  module.def(
      "rank_loops",
      [](const std::vector<int>& perm) { return py::tuple(py::cast(cpu::rank_loops(perm))); },
      py::arg("perm"), "All modes in the order of the least such cost.");
  module.def(
      "cache_put",
      [](const std::shared_ptr<Plan>& plan, int threads, const std::optional<std::string>& kernel) {
        for (const bool learns : {false, true}) {
          call::cpu_plan_cache().put(
              plan, {.threads = threads, .forced = parse_forced(kernel), .learns = learns});
        }
      },
      py::arg("plan"), py::arg("threads"), py::arg("kernel"),
      "Keep a plan for its layout in place of the planner's choice.");
  module.def("measured_plans", &measured_plans,
             "Cached plans that were measured, the threads that they may use, and what the planner "
             "predicted for its choice, into warm and into new outputs; the most recent last.");
  module.def("cache_learned", &cache_learned, py::arg("plan"), py::arg("threads"),
             py::arg("warm_seconds"), py::arg("fresh_seconds"),
             "Keep such a plan again, with all that measured_plans gave.");
}

}  // namespace ttlg::bindings
