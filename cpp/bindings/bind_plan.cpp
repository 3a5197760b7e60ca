#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "call/caches.hpp"

namespace ttlg::bindings {
namespace {

void bind_cache(py::module_& module) {
  module.def("cache_info", [] {
    const CacheInfo info = call::cache_info();
    return py::make_tuple(info.hits, info.misses, info.capacity, info.size);
  });
  module.def("cache_clear", &call::clear_caches);
  module.def("set_learning", &set_learning, py::arg("learns"));
  module.def("is_learning", &is_learning);
  module.def("cache_resize", &call::resize_caches, py::arg("capacity"));
}

// A member of what a plan was made for, lists as tuples.
template <auto kMember>
auto of_request(const PlanBase& plan) {
  if constexpr (requires { to_tuple(plan.request.*kMember); }) {
    return to_tuple(plan.request.*kMember);
  } else {
    return plan.request.*kMember;
  }
}

py::tuple extents_of(const PlanBase& plan) {
  Integers extents;
  for (const Mode& mode : plan.problem.modes) extents.push_back(mode.extent);
  return to_tuple(extents);
}

// The modes that a side steps through backwards.
template <std::int64_t Mode::* kStep>
py::tuple backwards(const PlanBase& plan) {
  Integers modes;
  for (std::size_t m = 0; m < plan.problem.modes.size(); ++m) {
    if (plan.problem.modes[m].*kStep < 0) modes.push_back(static_cast<std::int64_t>(m));
  }
  return to_tuple(modes);
}

}  // namespace

void bind_plan(py::module_& module) {
  py::class_<Request>(module, "Request", "What is to be transposed, and how it lies in memory.")
      .def(py::init([](Integers shape, Integers byte_strides, std::int64_t itemsize,
                       std::vector<int> axes, std::optional<Integers> out_byte_strides,
                       bool inplace, std::int64_t out_alignment) {
             return Request{.shape = std::move(shape),
                            .in_byte_strides = std::move(byte_strides),
                            .axes = std::move(axes),
                            .itemsize = itemsize,
                            .out_byte_strides = std::move(out_byte_strides).value_or(Integers{}),
                            .inplace = inplace,
                            .out_alignment = out_alignment};
           }),
           py::arg("shape"), py::arg("byte_strides"), py::arg("itemsize"), py::arg("axes"),
           py::arg("out_byte_strides") = py::none(), py::arg("inplace") = false,
           py::arg("out_alignment") = 1);
  py::class_<PlanBase, std::shared_ptr<PlanBase>>(module, "PlanBase",
                                                  "What plans for every device have in common.")
      .def_readonly("request", &PlanBase::request)
      .def_property_readonly("shape", &of_request<&Request::shape>)
      .def_property_readonly("byte_strides", &of_request<&Request::in_byte_strides>)
      .def_property_readonly("axes", &of_request<&Request::axes>)
      .def_property_readonly("itemsize", &of_request<&Request::itemsize>)
      .def_property_readonly("inplace", &of_request<&Request::inplace>)
      .def_property_readonly("out_alignment", &of_request<&Request::out_alignment>)
      .def_property_readonly("out_shape",
                             [](const PlanBase& plan) { return to_tuple(plan.out_shape); })
      .def_property_readonly("out_strides",
                             [](const PlanBase& plan) { return to_tuple(plan.out_byte_strides); })
      .def_property_readonly("out_byte_strides",
                             [](const PlanBase& plan) -> py::object {
                               if (plan.request.out_byte_strides.empty()) return py::none();
                               return to_tuple(plan.request.out_byte_strides);
                             })
      .def_property_readonly("extents", &extents_of)
      .def_property_readonly("read_backwards", &backwards<&Mode::in_byte_stride>)
      .def_property_readonly("written_backwards", &backwards<&Mode::out_byte_stride>)
      .def_property_readonly("perm",
                             [](const PlanBase& plan) { return to_tuple(plan.problem.perm); })
      .def(
          "fits",
          [](const PlanBase& plan, const TensorView& x, const TensorView& out) {
            check_planned_input(plan, x);
            check_out(x, plan.request.axes, out);
            return has_byte_strides(out.layout(), plan.out_byte_strides);
          },
          py::arg("x"), py::arg("out"),
          "Refuse an x of another layout and an out that cannot take the result; then, whether out "
          "has the strides that were planned.");
  bind_cache(module);
  module.def(
      "contiguous_byte_strides",
      [](const Integers& shape, std::int64_t itemsize) {
        return to_tuple(contiguous_byte_strides(shape, itemsize));
      },
      py::arg("shape"), py::arg("itemsize"));
}

}  // namespace ttlg::bindings
