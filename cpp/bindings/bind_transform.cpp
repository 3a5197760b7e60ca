// Calls that convert, scale and add elements while they move.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/new_ndarray.hpp"
#include "call/caches.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "plan/names.hpp"
#include "tensor/element_map.hpp"

namespace ttlg::bindings {
namespace {

constexpr NameTable<Type, kTypes> kTypeNames{{"bits", "bool", "uint8", "int8", "uint16", "int16",
                                              "uint32", "int32", "uint64", "int64", "float8_e4m3fn",
                                              "float8_e5m2", "float16", "bfloat16", "float32",
                                              "float64", "complex64", "complex128"}};

// Contiguous, of the type that the map computes in; none where it has no such values.
struct Values {
  std::optional<py::array> numbers;
  bool are_complex = false;

  const std::byte* data() const {
    return numbers ? static_cast<const std::byte*>(numbers->data()) : nullptr;
  }
};

// A plan from the planner cache, and the values by which its elements are computed.
struct CpuTransform {
  std::shared_ptr<const cpu::Plan> plan;
  Values scales;
  Values offsets;
  Values beta;

  void run(const TensorView& x, const TensorView& out) const {
    check_planned(*plan, x, out);
    const cpu::MapValues values{.scales = scales.data(),
                                .offsets = offsets.data(),
                                .beta = beta.data(),
                                .scales_are_complex = scales.are_complex,
                                .beta_is_complex = beta.are_complex};
    call::run_and_learn<GilRelease>(plan, x.data, out.data, plan->request.out_byte_strides.empty(),
                                    values);
  }
};

// Values that come as a contiguous array of the type that the map computes in, or None, and whether
// they are complex.
using GivenValues = std::pair<std::optional<py::array>, bool>;

Values read_values(const GivenValues& given, bool are_wanted, std::int64_t count,
                   const ElementMap& map) {
  const auto& [numbers, are_complex] = given;
  const std::int64_t wanted = count * map.parts() * bytes_of(map.computed_in());
  if (numbers.has_value() != are_wanted || (numbers && numbers->nbytes() != wanted)) {
    throw py::value_error("values of another type or number than the element map has");
  }
  return {numbers, are_complex};
}

CpuTransform transform_for(const TensorView& x, const py::object& axes, const TensorView* out,
                           const ElementMap& map, const GivenValues& scales,
                           const GivenValues& offsets, const GivenValues& beta,
                           const py::object& threads) {
  const std::vector<int> order = read_axes(axes, x.shape);
  if (out != nullptr) check_out(x, order, *out, true);
  const std::int64_t count = map.varies() ? x.shape.at(static_cast<std::size_t>(map.axis)) : 1;
  const call::Layout into = out != nullptr ? out->layout() : call::Layout{};
  LayoutKey key = cpu_key_of(x.layout(), order, out != nullptr ? &into : nullptr);
  key.map = map;
  return {call::cpu_plan_cache().get(key, {.threads = read_threads(threads)}),
          read_values(scales, map.scales, count, map), read_values(offsets, map.adds, count, map),
          read_values(beta, map.accumulates, 1, map)};
}

Type parse_type(const std::string& name) {
  if (const auto type = kTypeNames.parse(name)) return *type;
  throw py::value_error("unknown type '" + name + "'; choose one of " + kTypeNames.list());
}

ElementMap map_of(const std::string& from, const std::string& to, bool swaps_bytes, bool conjugates,
                  bool scales, bool adds, bool accumulates, bool saturates, int axis) {
  return {.from = parse_type(from),
          .to = parse_type(to),
          .swaps_bytes = swaps_bytes,
          .conjugates = conjugates,
          .scales = scales,
          .adds = adds,
          .accumulates = accumulates,
          .saturates = saturates,
          .axis = static_cast<std::int8_t>(axis)};
}

}  // namespace

void bind_element_map(py::module_& module) {
  py::class_<ElementMap>(module, "ElementMap", "What becomes of each element on its way.")
      .def(py::init(&map_of), py::arg("from_type"), py::arg("to_type"), py::kw_only(),
           py::arg("swaps_bytes") = false, py::arg("conjugates") = false, py::arg("scales") = false,
           py::arg("adds") = false, py::arg("accumulates") = false, py::arg("saturates") = true,
           py::arg("axis") = -1)
      .def_property_readonly(
          "computed_in",
          [](const ElementMap& map) { return std::string(kTypeNames.name(map.computed_in())); })
      .def_property_readonly("is_identity", &ElementMap::is_identity);
}

void bind_transform(py::module_& module) {
  py::class_<CpuTransform>(module, "CpuTransform",
                           "A call that converts, by a plan that the planner cache has.")
      .def_property_readonly(
          "out_shape", [](const CpuTransform& call) { return to_tuple(call.plan->out_shape); })
      .def_property_readonly("plan", [](const CpuTransform& call) { return *call.plan; })
      .def("run", &CpuTransform::run, py::arg("x"), py::arg("out"));
  module.def("cpu_transform_for", &transform_for, py::arg("x"), py::arg("axes"), py::arg("out"),
             py::arg("map"), py::arg("scales"), py::arg("offsets"), py::arg("beta"),
             py::arg("threads"),
             "What converts x into out, checked first, or into a new array if out is None. Values "
             "are contiguous, of the type that the map computes in.");
}

}  // namespace ttlg::bindings
