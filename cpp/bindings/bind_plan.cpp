#include "bindings/bind_plan.hpp"

#include "bindings/layout.hpp"
#include "bindings/run.hpp"
#include "tensor/axes.hpp"

namespace ttlg::bindings {
namespace {

std::string text_of(const Integers& values) {
  return py::str(to_tuple(values)).cast<std::string>();
}

// Anything that counts, such as a NumPy integer, and says what is wrong.
std::vector<int> read_axes(const py::object& axes, const Integers& shape) {
  const std::string rank = std::to_string(shape.size());
  const auto refusal = [&](const std::string& why) {
    return "axes " + py::repr(axes).cast<std::string>() + " do not fit shape " + text_of(shape) +
           ": " + why;
  };
  if (shape.size() > kMaxRank) {
    throw py::value_error(
        refusal("rank " + rank + " exceeds the limit of " + std::to_string(kMaxRank)));
  }
  std::vector<py::object> items;
  Integers given;
  if (axes.is_none()) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      given.push_back(static_cast<std::int64_t>(axis));
    }
  } else if (!py::isinstance<py::iterable>(axes) || py::isinstance<py::str>(axes)) {
    throw py::type_error(refusal("they must be a sequence of " + rank + " integers"));
  } else {
    for (const py::handle item : axes) {
      items.push_back(py::reinterpret_borrow<py::object>(item));
      // Clips what exceeds 64 bits, which is out of range all the same.
      given.push_back(PyNumber_AsSsize_t(item.ptr(), nullptr));
      if (given.back() != -1 || PyErr_Occurred() == nullptr) continue;
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      throw py::type_error(refusal(py::repr(item).cast<std::string>() + " is not an axis number"));
    }
  }
  std::vector<int> result(shape.size());
  const AxesCheck check = normalize_axes(given, result);
  const auto rank_number = static_cast<std::int64_t>(shape.size());
  switch (check.error) {
    case AxesError::none:
      break;
    case AxesError::out_of_range:
      throw py::value_error(refusal("axis " + py::str(items[check.position]).cast<std::string>() +
                                    " is out of range " + std::to_string(-rank_number) + ".." +
                                    std::to_string(rank_number - 1)));
    case AxesError::repeated:
      throw py::value_error(refusal(
          "axis " +
          std::to_string(given[check.position] + (given[check.position] < 0 ? rank_number : 0)) +
          " appears twice; name every axis once"));
    case AxesError::missing:
      throw py::value_error(
          refusal("name each of the " + rank + " axes once, not " + std::to_string(given.size())));
  }
  return result;
}

void check_matches(const TensorView& view, const Integers& shape, const Integers& byte_strides,
                   const Request& request, const std::string& name) {
  if (view.itemsize != request.itemsize || view.shape != shape) {
    throw py::value_error("this plan is for " + name + " of shape " + text_of(shape) + " and " +
                          std::to_string(request.itemsize) + "-byte elements, not shape " +
                          text_of(view.shape) + " and " + std::to_string(view.itemsize) +
                          "-byte elements; make another with ttlg.plan(...)");
  }
  if (!has_byte_strides(view.layout(), byte_strides)) {
    throw py::value_error("this plan is for " + name + " of byte strides " + text_of(byte_strides) +
                          ", not " + text_of(view.byte_strides) +
                          "; make one for this layout with ttlg.plan(..., strides=...), or call "
                          "ttlg.transpose, which looks at the strides itself");
  }
}

void bind_cache(py::module_& module) {
  module.def("cache_info", [] {
    const CacheInfo cpu = cpu_plan_cache().info();
    const CacheInfo cuda = cuda_plan_cache().info();
    return py::make_tuple(cpu.hits + cuda.hits, cpu.misses + cuda.misses, cpu.capacity,
                          cpu.size + cuda.size);
  });
  module.def("cache_clear", [] {
    cpu_plan_cache().clear();
    cuda_plan_cache().clear();
  });
  module.def(
      "cache_resize",
      [](std::size_t capacity) {
        cpu_plan_cache().resize(capacity);
        cuda_plan_cache().resize(capacity);
      },
      py::arg("capacity"));
}

}  // namespace

void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out) {
  check_matches(x, plan.request.shape, plan.request.in_byte_strides, plan.request, "x");
  check_matches(out, plan.out_shape, plan.out_byte_strides, plan.request, "out");
}

void bind_plan(py::module_& module) {
  py::class_<PlanBase, std::shared_ptr<PlanBase>>(module, "PlanBase",
                                                  "What plans for every device have in common.")
      .def_property_readonly("shape",
                             [](const PlanBase& plan) { return to_tuple(plan.request.shape); })
      .def_property_readonly(
          "byte_strides",
          [](const PlanBase& plan) { return to_tuple(plan.request.in_byte_strides); })
      .def_property_readonly(
          "axes", [](const PlanBase& plan) { return py::tuple(py::cast(plan.request.axes)); })
      .def_property_readonly("itemsize", [](const PlanBase& plan) { return plan.request.itemsize; })
      .def_property_readonly("inplace", [](const PlanBase& plan) { return plan.request.inplace; })
      .def_property_readonly("out_shape",
                             [](const PlanBase& plan) { return to_tuple(plan.out_shape); })
      .def_property_readonly("out_byte_strides",
                             [](const PlanBase& plan) -> py::object {
                               if (plan.request.out_byte_strides.empty()) return py::none();
                               return to_tuple(plan.request.out_byte_strides);
                             })
      .def_property_readonly("extents",
                             [](const PlanBase& plan) {
                               Integers extents;
                               for (const Mode& mode : plan.problem.modes) {
                                 extents.push_back(mode.extent);
                               }
                               return to_tuple(extents);
                             })
      .def_property_readonly(
          "perm", [](const PlanBase& plan) { return py::tuple(py::cast(plan.problem.perm)); });
  bind_cache(module);
  module.def(
      "normalize_axes",
      [](const py::object& axes, const Integers& shape) {
        return py::tuple(py::cast(read_axes(axes, shape)));
      },
      py::arg("axes"), py::arg("shape"));
  module.def(
      "contiguous_byte_strides",
      [](const Integers& shape, std::int64_t itemsize) {
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
