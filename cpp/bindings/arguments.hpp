// Reads and checks what callers pass, and words what is wrong with it.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bindings/tensor_view.hpp"
#include "plan/names.hpp"
#include "plan/plan_base.hpp"

namespace ttlg::bindings {

using Integers = std::vector<std::int64_t>;

template <typename Value = std::int64_t>
py::tuple to_tuple(const std::vector<Value>& values) {
  return py::tuple(py::cast(values));
}

inline std::string text_of(std::span<const std::int64_t> values) {
  return py::str(to_tuple(Integers(values.begin(), values.end()))).cast<std::string>();
}

// A permutation of the axes of `shape`: None, which reverses them, or anything whose items count as
// integers, such as NumPy's.
std::vector<int> read_axes(const py::object& axes, const Integers& shape);

// The number of threads of the enclosing ttlg.threads, else that of the process; 0 where neither
// was chosen.
int chosen_threads();

// A number of threads: anything that counts as an integer, or None for the default, which is the
// number of the enclosing ttlg.threads, else that of the process.
int read_threads(const py::handle& threads);

// The names of all kernels of a table, in its order.
template <typename Kernel, std::size_t kCount>
py::tuple names_of(const NameTable<Kernel, kCount>& kernels) {
  py::list names;
  for (const Kernel kernel : kernels) names.append(kernels.name(kernel));
  return py::tuple(names);
}

// The kernel of this name. Throws ValueError, with a hint that ends in the names that there are.
template <typename Kernel, std::size_t kCount>
Kernel parse_kernel(const NameTable<Kernel, kCount>& kernels, const std::string& name,
                    const char* hint) {
  if (const auto kernel = kernels.parse(name)) return *kernel;
  throw py::value_error("unknown kernel '" + name + "'; " + hint + " " + kernels.list());
}

// Throws unless `x`, permuted by `axes`, may be written to `out`, which has its dtype unless the
// caller converts.
void check_out(const TensorView& x, const std::vector<int>& axes, const TensorView& out,
               bool converts = false);

// These throw, with a hint, unless the views are of the layout that was planned.
void check_planned_input(const PlanBase& plan, const TensorView& x);
void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out);

}  // namespace ttlg::bindings
