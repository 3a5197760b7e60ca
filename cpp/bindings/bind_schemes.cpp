#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "plan/inplace/schemes.hpp"

namespace ttlg::bindings {
namespace {

namespace py = pybind11;
using Enumeration = ttlg::Enumeration<std::int64_t>;
using IntegerArray = py::array_t<std::int64_t, py::array::c_style>;

// In the order of Scheme.
constexpr std::array kNames = {"V1", "V1R", "V1D", "V2", "V1B", "V1BF"};

Enumeration make_enumeration(const std::string& scheme, std::int64_t m, std::int64_t n,
                             std::int64_t w, bool reversed) {
  const auto found = std::ranges::find(kNames, scheme);
  if (found == kNames.end()) throw py::value_error("unknown scheme '" + scheme + "'");
  return {static_cast<Scheme>(found - kNames.begin()),
          {.m = m, .n = n, .w = w, .reversed = reversed}};
}

IntegerArray new_integers(const IntegerArray& like) {
  return IntegerArray(std::vector<py::ssize_t>(like.shape(), like.shape() + like.ndim()));
}

py::tuple decode(const Enumeration& enumeration, const IntegerArray& k) {
  IntegerArray x = new_integers(k);
  IntegerArray y = new_integers(k);
  const std::int64_t* const from = k.data();
  std::int64_t* const to_x = x.mutable_data();
  std::int64_t* const to_y = y.mutable_data();
  {
    const GilRelease release;
    for (py::ssize_t i = 0; i < k.size(); ++i) {
      const auto entry = enumeration.at(from[i]);
      to_x[i] = entry.x;
      to_y[i] = entry.y;
    }
  }
  return py::make_tuple(x, y);
}

IntegerArray encode(const Enumeration& enumeration, const IntegerArray& x, const IntegerArray& y) {
  IntegerArray k = new_integers(x);
  const std::int64_t* const from_x = x.data();
  const std::int64_t* const from_y = y.data();
  std::int64_t* const to = k.mutable_data();
  {
    const GilRelease release;
    for (py::ssize_t i = 0; i < k.size(); ++i) {
      to[i] = enumeration.number_of({from_x[i], from_y[i]});
    }
  }
  return k;
}

}  // namespace

void bind_schemes(py::module_& module) {
  module.attr("SCHEMES") = py::tuple(py::cast(kNames));
  py::class_<Enumeration>(module, "Enumeration", "The order of a scheme for a matrix of some size.")
      .def(py::init(&make_enumeration), py::arg("scheme"), py::arg("m"), py::arg("n"), py::arg("w"),
           py::arg("reversed"))
      .def_property_readonly("count", &Enumeration::count)
      .def("decode", &decode, py::arg("k"),
           "The columns and rows of the entries with these numbers, which have to be in range.")
      .def("encode", &encode, py::arg("x"), py::arg("y"),
           "The numbers of the entries in these columns and rows, which have to be in range. Both "
           "arrays have the same shape.");
}

}  // namespace ttlg::bindings
