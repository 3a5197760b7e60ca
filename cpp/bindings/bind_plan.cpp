#include "bindings/bind_plan.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bind_request.hpp"
#include "bindings/run.hpp"
#include "bindings/tensor_view.hpp"
#include "cpu/machine.hpp"
#include "plan/planner.hpp"

namespace ttlg::bindings {
namespace {

Kernel parse_kernel(const std::string& name) {
  if (const auto kernel = kernel_from_name(name)) return *kernel;
  std::string valid;
  for (const Rule& rule : cascade()) {
    valid += (valid.empty() ? "'" : ", '") + std::string(kernel_name(rule.kernel)) + "'";
  }
  throw py::value_error("unknown kernel '" + name + "'; choose one of " + valid);
}

py::dict to_dict(const Parameters& parameters) {
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
  const Shuffle& shuffle = plan.shuffle;
  if (shuffle.tile.empty()) return py::none();
  std::int64_t tile_bytes = plan.element_bytes;
  for (const std::int64_t extent : shuffle.tile) tile_bytes *= extent;
  py::dict result;
  result["tile_bytes"] = tile_bytes;
  result["vector_bytes"] = kLaneBytes;
  result["loads"] = shuffle.loads.size();
  result["stores"] = shuffle.out_stores.size();
  result["steps"] = shuffle.steps();
  return result;
}

void run_checked(const Plan& plan, const TensorView& in, const TensorView& out) {
  check_matches(in, plan.request.shape, plan.request.in_byte_strides, plan.request, "x");
  check_matches(out, plan.out_shape, plan.out_byte_strides, plan.request, "out");
  if (out.readonly) throw py::value_error("out is read-only; pass a writable array");
  run(plan, in.data, out.data);
}

std::vector<int> normalize_axes(const py::object& axes, const std::vector<std::int64_t>& shape) {
  const auto rank = static_cast<py::ssize_t>(shape.size());
  const auto fail = [&](const std::string& why) {
    return "axes " + py::repr(axes).cast<std::string>() + " do not fit shape " +
           py::str(to_tuple(shape)).cast<std::string>() + ": " + why;
  };
  std::vector<int> result;
  result.reserve(shape.size());
  if (axes.is_none()) {
    for (py::ssize_t axis = rank; axis-- > 0;) result.push_back(static_cast<int>(axis));
    return result;
  }
  if (!py::isinstance<py::iterable>(axes) || py::isinstance<py::str>(axes)) {
    throw py::type_error(fail("they must be a sequence of " + std::to_string(rank) + " integers"));
  }
  std::vector<bool> seen(shape.size(), false);
  for (const py::handle item : axes) {
    // Clips what exceeds 64 bits, which is out of range all the same.
    py::ssize_t axis = PyNumber_AsSsize_t(item.ptr(), nullptr);
    if (axis == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      throw py::type_error(fail(py::repr(item).cast<std::string>() + " is not an axis number"));
    }
    if (axis < -rank || axis >= rank) {
      throw py::value_error(fail("axis " + py::str(item).cast<std::string>() + " is out of range " +
                                 std::to_string(-rank) + ".." + std::to_string(rank - 1)));
    }
    if (axis < 0) axis += rank;
    if (seen[static_cast<std::size_t>(axis)]) {
      throw py::value_error(
          fail("axis " + std::to_string(axis) + " appears twice; name every axis once"));
    }
    seen[static_cast<std::size_t>(axis)] = true;
    result.push_back(static_cast<int>(axis));
  }
  if (result.size() != shape.size()) {
    throw py::value_error(fail("name each of the " + std::to_string(rank) + " axes once, not " +
                               std::to_string(result.size())));
  }
  return result;
}

// Python's Plan has no method that changes it.
std::shared_ptr<Plan> cached_plan(const LayoutKey& key, const CpuPlanning::Choice& choice) {
  return std::const_pointer_cast<Plan>(plan_cache().get(key, choice));
}

std::optional<Kernel> parse_forced(const std::optional<std::string>& kernel) {
  return kernel ? std::optional(parse_kernel(*kernel)) : std::nullopt;
}

py::list candidates_for(const Plan& plan, int threads) {
  py::list rows;
  for (const Candidate& each : candidates(plan.request, cpu::this_machine(), threads)) {
    rows.append(
        py::make_tuple(kernel_name(each.parameters.kernel), to_dict(each.parameters), each.cost));
  }
  return rows;
}

py::list cascade_for(const Plan& plan) {
  const Problem folded = fold_run(plan.problem);
  py::list rows;
  for (const Rule& rule : cascade()) {
    rows.append(py::make_tuple(kernel_name(rule.kernel), rule.applies(folded), rule.requirement));
  }
  return rows;
}

}  // namespace

void check_matches(const TensorView& view, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& byte_strides, const Request& request,
                   std::string_view argument) {
  const bool same_shape = view.itemsize == request.itemsize && view.shape == shape;
  if (same_shape && has_byte_strides(view.layout(), byte_strides)) return;
  const std::string name(argument);
  const auto text = [](const std::vector<std::int64_t>& values) {
    return py::str(to_tuple(values)).cast<std::string>();
  };
  if (!same_shape) {
    throw py::value_error("this plan is for " + name + " of shape " + text(shape) + " and " +
                          std::to_string(request.itemsize) + "-byte elements, not shape " +
                          text(view.shape) + " and " + std::to_string(view.itemsize) +
                          "-byte elements; make another with ttlg.plan(...)");
  }
  throw py::value_error("this plan is for " + name + " of byte strides " + text(byte_strides) +
                        ", not " + text(view.byte_strides) +
                        "; make one for this layout with ttlg.plan(..., strides=...), or call "
                        "ttlg.transpose, which looks at the strides itself");
}

void bind_plan(py::module_& module) {
  py::class_<Plan, std::shared_ptr<Plan>> plans(module, "Plan",
                                                "How one transposition is done on the CPU.");
  bind_request_of<Plan>(plans)
      .def_property_readonly("kernel",
                             [](const Plan& plan) { return kernel_name(plan.parameters.kernel); })
      .def_property_readonly("parameters",
                             [](const Plan& plan) { return to_dict(plan.parameters); })
      .def("candidates", &candidates_for, py::arg("threads"))
      .def_property_readonly("element_bytes", [](const Plan& plan) { return plan.element_bytes; })
      .def_property_readonly("blocks", &Plan::blocks)
      .def_property_readonly("shuffle", &shuffle_of)
      .def("cascade", &cascade_for)
      .def("run", &run_checked, py::arg("x"), py::arg("out"));

  module.def(
      "make_plan",
      [](const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& byte_strides,
         std::int64_t itemsize, const std::vector<int>& axes,
         const std::optional<std::vector<std::int64_t>>& out_byte_strides, int threads,
         const std::optional<std::string>& kernel) {
        const Request request = make_request(shape, byte_strides, itemsize, axes, out_byte_strides);
        return cached_plan(key_of(request), {.threads = threads, .forced = parse_forced(kernel)});
      },
      py::arg("shape"), py::arg("byte_strides"), py::arg("itemsize"), py::arg("axes"),
      py::arg("out_byte_strides"), py::arg("threads"), py::arg("kernel"),
      "The plan for this layout, from the planner cache or made and kept there.");
  module.def(
      "plan_for",
      [](const TensorView& x, const std::vector<int>& axes, const TensorView* out, int threads) {
        return cached_plan(key_of(x, axes, out), {.threads = threads});
      },
      py::arg("x"), py::arg("axes"), py::arg("out"), py::arg("threads"),
      "The same for a view moved into another, or into a new array where out is None.");
  module.def(
      "cache_put",
      [](std::shared_ptr<Plan> plan, int threads, const std::optional<std::string>& kernel) {
        plan_cache().put(std::move(plan), {.threads = threads, .forced = parse_forced(kernel)});
      },
      py::arg("plan"), py::arg("threads"), py::arg("kernel"),
      "Keep a plan for its layout in place of the planner's choice.");
  module.def("cache_info", [] {
    const CacheInfo cpu = plan_cache().info();
    const CacheInfo cuda = cuda_plan_cache().info();
    return py::make_tuple(cpu.hits + cuda.hits, cpu.misses + cuda.misses, cpu.capacity,
                          cpu.size + cuda.size);
  });
  module.def("cache_clear", [] {
    plan_cache().clear();
    cuda_plan_cache().clear();
  });
  module.def(
      "cache_resize",
      [](std::size_t capacity) {
        plan_cache().resize(capacity);
        cuda_plan_cache().resize(capacity);
      },
      py::arg("capacity"));
  module.def(
      "build_plan",
      [](std::vector<std::int64_t> shape, std::vector<std::int64_t> byte_strides,
         std::int64_t itemsize, std::vector<int> axes,
         std::optional<std::vector<std::int64_t>> out_byte_strides, const std::string& kernel,
         std::vector<std::int64_t> block, std::vector<int> loop_order, bool staged, bool streaming,
         bool prefetch, int threads) {
        const Request request = make_request(std::move(shape), std::move(byte_strides), itemsize,
                                             std::move(axes), std::move(out_byte_strides));
        return build_plan(request, {.kernel = parse_kernel(kernel),
                                    .block = std::move(block),
                                    .loop_order = std::move(loop_order),
                                    .staged = staged,
                                    .streaming = streaming,
                                    .prefetch = prefetch,
                                    .threads = threads});
      },
      py::arg("shape"), py::arg("byte_strides"), py::arg("itemsize"), py::arg("axes"),
      py::arg("out_byte_strides"), py::kw_only(), py::arg("kernel"), py::arg("block"),
      py::arg("loop_order"), py::arg("staged"), py::arg("streaming"), py::arg("prefetch"),
      py::arg("threads"));
  module.def(
      "normalize_axes",
      [](const py::object& axes, const std::vector<std::int64_t>& shape) {
        return py::tuple(py::cast(normalize_axes(axes, shape)));
      },
      py::arg("axes"), py::arg("shape"));
  module.def(
      "contiguous_byte_strides",
      [](const std::vector<std::int64_t>& shape, std::int64_t itemsize) {
        return to_tuple(contiguous_byte_strides(shape, itemsize));
      },
      py::arg("shape"), py::arg("itemsize"));
  module.def(
      "is_free_of_self_overlap",
      [](const TensorView& view) {
        return is_free_of_self_overlap(view.shape, view.byte_strides, view.itemsize);
      },
      py::arg("view"));
}

}  // namespace ttlg::bindings
