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
#include "bindings/new_ndarray.hpp"
#include "bindings/plan_class.hpp"
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

struct Device {
  using Plan = cpu::Plan;
  static constexpr auto kWay = &Plan::parameters;
  static Kernel parse(const std::string& name) {
    return parse_kernel(cpu::kKernels, name, "choose one of");
  }
  static auto kernels_of(const cpu::Parameters& parameters) {
    return kernel_name(parameters.kernel);
  }
  static auto trials(const Plan& plan) { return call::cpu_learner().timed(plan); }
  static py::dict parameters_of(const Plan&, const cpu::Parameters& parameters) {
    py::dict result;
    result["block"] = to_tuple(parameters.block);
    result["loop_order"] = to_tuple(parameters.loop_order);
    result["staged"] = parameters.staged;
    result["streaming"] = parameters.streaming;
    result["prefetch"] = parameters.prefetch;
    result["threads"] = parameters.threads;
    return result;
  }
};

// What Python's texts about a plan say of it besides its parameters. What moves whole blocks of a
// shuffle instead of its program: generated code for structures of a number of channels or for
// tiles of a number of vectors, or windows of some bytes; 0 where it does not.
py::dict describe(const Plan& plan) {
  const cpu::Kernels& table = cpu::kernels();
  Integers whole;
  for (const cpu::BlockMode& mode : plan.block.modes) whole.push_back(mode.block);
  const bool is_shuffle = !plan.movers.program.tile.empty();
  const cpu::Mover mover = is_shuffle ? table.mover_of(plan.movers, whole) : cpu::Mover::program;
  py::dict result;
  result["element_bytes"] = plan.element_bytes;
  result["blocks"] = plan.blocks();
  result["channels"] = mover == cpu::Mover::channels ? plan.movers.channels->kind.count : 0;
  result["tile_vectors"] =
      mover == cpu::Mover::vector_tile ? plan.movers.vector_tile(table.lanes)->loads.size() : 0;
  result["window_bytes"] =
      mover == cpu::Mover::window ? plan.movers.window(whole, table.lanes)->out_bytes : 0;
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
  result["tile"] = to_tuple(cpu::shuffle_tile(gather_bits(plan.problem)));
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
                     {.threads = read_threads(threads), .forced = parse_forced<Device>(kernel)});
}

py::list candidates_for(const Plan& plan, std::optional<int> threads, bool all) {
  py::list rows;
  for (const auto& [way, seconds] : cpu::candidates(
           plan.request, *call::machine_or_this(plan.machine), threads.value_or(plan.thread_limit),
           all ? cpu::CandidateSet::all : cpu::CandidateSet::searched)) {
    rows.append(py::make_tuple(Device::kernels_of(way), Device::parameters_of(plan, way), seconds));
  }
  return rows;
}

// Every kernel with why it does not apply or None, and its best plan's seconds.
py::list kernel_reports_for(const Plan& plan) {
  py::list rows;
  for (const cpu::KernelReport& each :
       cpu::kernel_reports(plan.request, *call::machine_or_this(plan.machine), plan.thread_limit)) {
    const bool applies = each.obstacle.empty();
    rows.append(py::make_tuple(kernel_name(each.kernel),
                               applies ? py::none() : py::cast(each.obstacle), each.seconds));
  }
  return rows;
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

std::shared_ptr<Plan> plan_for_request(const Request& request, const py::object& threads,
                                       const std::optional<std::string>& kernel,
                                       const std::shared_ptr<cpu::Machine>& machine) {
  const int most = read_threads(threads);
  const std::optional<Kernel> forced = parse_forced<Device>(kernel);
  if (!machine) return cached_plan(ttlg::key_of(request), {.threads = most, .forced = forced});
  auto plan = std::make_shared<Plan>(make_plan(request, *machine, most, forced));
  plan->machine = machine;
  return plan;
}

Plan build_plan(const Request& request, const std::string& kernel, const Integers& block,
                const std::vector<int>& loop_order, bool staged, bool streaming, int prefetch,
                int threads, const std::shared_ptr<cpu::Machine>& machine) {
  Plan plan = cpu::build_plan(request, {.kernel = Device::parse(kernel),
                                        .block = block,
                                        .loop_order = loop_order,
                                        .staged = staged,
                                        .streaming = streaming,
                                        .prefetch = prefetch,
                                        .threads = threads});
  plan.machine = machine;
  return plan;
}

void bind_plans(py::module_& module) {
  bind_plan_class<Device>(module, "CpuPlan", "How one transposition is done on the CPU.")
      .def("describe", &describe)
      .def("shuffle_program", &shuffle_program_of)
      .def("candidates", &candidates_for, py::arg("threads") = py::none(), py::arg("all") = false)
      .def("kernel_reports", &kernel_reports_for)
      .def_property_readonly("predicted_seconds",
                             [](const Plan& plan) { return call::predicted_seconds(plan, false); })
      .def_readonly("thread_limit", &Plan::thread_limit)
      .def("run", &run_checked, py::arg("x"), py::arg("out"));
  module.def("cached_cpu_plan", &plan_for_request, py::arg("request"), py::arg("threads"),
             py::arg("kernel"), py::arg("machine") = py::none(),
             "The plan for this layout, from the planner cache or made and kept there; for another "
             "machine than this one it is made, and not kept.");
  module.def(
      "cpu_plan_for", &plan_for_views, py::arg("x"), py::arg("axes"), py::arg("out"),
      py::arg("threads"), py::arg("kernel") = py::none(),
      "The same for a view moved into another, checked first, or into a new array if out is None.");
  module.def("build_cpu_plan", &build_plan, py::arg("request"), py::kw_only(), py::arg("kernel"),
             py::arg("block"), py::arg("loop_order"), py::arg("staged"), py::arg("streaming"),
             py::arg("prefetch"), py::arg("threads"), py::arg("machine") = py::none(),
             "The plan with these parameters.");
  module.def(
      "request_into_new_ndarray",
      [](const Integers& shape, const Integers& byte_strides, std::int64_t itemsize,
         const std::vector<int>& axes, const ElementMap* map) {
        const call::Layout x{.shape = shape, .byte_strides = byte_strides, .itemsize = itemsize};
        LayoutKey key = cpu_key_of(x, axes, nullptr);
        if (map != nullptr) key.map = *map;
        return key.request();
      },
      py::arg("shape"), py::arg("byte_strides"), py::arg("itemsize"), py::arg("axes"),
      py::arg("map") = py::none(),
      "The request of moving such an array into a new ndarray, bit for bit or by an element map.");
}

void bind_calls(py::module_& module) {
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
}

void bind_loops(py::module_& module) {
  module.def(
      "loop_orders",
      [](const Request& request, const Integers& block) {
        py::list orders;
        for (const auto& order : cpu::loop_orders(gather_bits(make_problem(request)), block)) {
          orders.append(to_tuple(order));
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
      "rank_loops", [](const std::vector<int>& perm) { return to_tuple(cpu::rank_loops(perm)); },
      py::arg("perm"), "All modes in the order of the least such cost.");
}

void bind_cache_of_plans(py::module_& module) {
  module.def(
      "cache_put",
      [](const std::shared_ptr<Plan>& plan, int threads, const std::optional<std::string>& kernel) {
        for (const bool learns : {false, true}) {
          call::cpu_plan_cache().put(
              plan, {.threads = threads, .forced = parse_forced<Device>(kernel), .learns = learns});
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

}  // namespace

void bind_cpu(py::module_& module) {
  module.attr("CPU_KERNELS") = names_of(cpu::kKernels);
  bind_plans(module);
  bind_calls(module);
  bind_loops(module);
  bind_cache_of_plans(module);
}

}  // namespace ttlg::bindings
