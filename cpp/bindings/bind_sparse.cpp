#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/new_ndarray.hpp"
#include "cpu/this_machine.hpp"
#include "plan/sparse/predict.hpp"
#include "sparse/transpose.hpp"
#include "tensor/axes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::bindings {
namespace {

namespace py = pybind11;
using sparse::Algorithm;
using sparse::Indices;
using sparse::NewIndices;
using sparse::Problem;

Algorithm parse_algorithm(const std::string& name) {
  return parse_kernel(sparse::kAlgorithms, name, "sparse tensors are sorted by one of");
}

Problem make_problem(const Integers& extents, const Integers& perm) {
  Problem problem{.extents = extents, .perm = std::vector<int>(perm.size())};
  if (perm.empty() || perm.size() > kMaxRank || perm.size() != extents.size() ||
      normalize_axes(perm, problem.perm).error != AxesError::none) {
    throw py::value_error("perm " + text_of(perm) + " is no permutation of the modes of shape " +
                          text_of(extents));
  }
  for (const std::int64_t extent : extents) {
    if (extent < 0) throw py::value_error("shape " + text_of(extents) + " has negative extents");
  }
  return problem;
}

// One-dimensional, contiguous, int32 or int64.
Indices read_indices(const py::array& array, std::int64_t size, const std::string& name) {
  const py::dtype dtype = array.dtype();
  const bool is_wide = dtype.equal(py::dtype::of<std::int64_t>());
  if (!is_wide && !dtype.equal(py::dtype::of<std::int32_t>())) {
    throw py::type_error(name + " must be of dtype int32 or int64, not " +
                         py::str(dtype).cast<std::string>());
  }
  if (array.ndim() != 1 || !(array.flags() & py::array::c_style)) {
    throw py::value_error(name + " must be contiguous and have one axis");
  }
  if (array.size() != size) {
    throw py::value_error(name + " must have " + std::to_string(size) + " entries, not " +
                          std::to_string(array.size()));
  }
  return {array.data(), is_wide};
}

struct Given {
  Problem problem;
  sparse::Input input;
};

Given read_given(const std::vector<std::optional<py::array>>& modes,
                 const std::optional<py::array>& row_pointers, const py::array& values,
                 Problem problem) {
  if (values.ndim() < 1 || !(values.flags() & py::array::c_style)) {
    throw py::value_error("values must be contiguous and have an axis for the nonzeros");
  }
  problem.nonzeros = values.shape(0);
  problem.value_bytes = values.itemsize();
  for (py::ssize_t axis = 1; axis < values.ndim(); ++axis) {
    problem.value_bytes *= values.shape(axis);
  }
  problem.in_rows = row_pointers.has_value();
  sparse::Input input{
      .modes = std::vector<Indices>(modes.size()), .row_pointers = {}, .values = nullptr};
  input.values = static_cast<const std::byte*>(values.data());
  if (modes.size() != problem.extents.size()) {
    throw py::value_error("there are coordinates for " + std::to_string(modes.size()) +
                          " modes, and shape " + text_of(problem.extents) + " has " +
                          std::to_string(problem.extents.size()));
  }
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    if (modes[mode].has_value() == (mode == 0 && problem.in_rows)) {
      throw py::value_error("mode 0 needs either coordinates or row pointers, others coordinates");
    }
    if (!modes[mode]) continue;
    input.modes[mode] = read_indices(*modes[mode], problem.nonzeros,
                                     "the coordinates of mode " + std::to_string(mode));
    problem.in_index_bytes = input.modes[mode].is_wide ? 8 : 4;
  }
  if (row_pointers) {
    if (problem.extents[0] == std::numeric_limits<std::int64_t>::max()) {
      throw py::value_error("there are too many rows for row pointers");
    }
    input.row_pointers = read_indices(*row_pointers, problem.extents[0] + 1, "row pointers");
  }
  return {std::move(problem), std::move(input)};
}

py::object new_indices(const Integers& shape, bool wide) {
  const py::dtype dtype = wide ? py::dtype::of<std::int64_t>() : py::dtype::of<std::int32_t>();
  return new_ndarray(dtype.ptr(), shape);
}

// A result that narrow indices could not hold.
void check_width(const Problem& problem, bool wide) {
  if (wide) return;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t extent : problem.extents) {
    if (extent - 1 > kMax) {
      throw py::value_error("extent " + std::to_string(extent) + " is too large for int32 indices");
    }
  }
  if (problem.out_rows && problem.nonzeros > kMax) {
    throw py::value_error(std::to_string(problem.nonzeros) +
                          " nonzeros are too many for int32 row pointers");
  }
}

py::tuple transpose(const std::vector<std::optional<py::array>>& modes,
                    const std::optional<py::array>& row_pointers, const py::array& values,
                    const Integers& extents, const Integers& perm, bool wide, bool compress,
                    const std::string& algorithm, int threads) {
  renew_pool_limit();
  const Algorithm chosen = parse_algorithm(algorithm);
  auto [problem, input] = read_given(modes, row_pointers, values, make_problem(extents, perm));
  problem.out_rows = compress;
  problem.out_index_bytes = wide ? 8 : 4;
  check_width(problem, wide);

  const std::int64_t stored = problem.rank() - (compress ? 1 : 0);
  const py::array coordinates = new_indices({stored, problem.nonzeros}, wide);
  py::object pointers = py::none();
  sparse::Output output{
      .modes = std::vector<NewIndices>(perm.size()), .row_pointers = {}, .values = nullptr};
  auto* const first = static_cast<std::byte*>(const_cast<void*>(coordinates.data()));
  for (std::size_t mode = compress ? 1 : 0, row = 0; mode < perm.size(); ++mode, ++row) {
    output.modes[mode] = {
        first + static_cast<std::int64_t>(row) * problem.nonzeros * problem.out_index_bytes, wide};
  }
  if (compress) {
    const std::int64_t rows = problem.extents[static_cast<std::size_t>(problem.perm[0])];
    pointers = new_indices({checked_add(rows, 1)}, wide);
    output.row_pointers = {const_cast<void*>(py::array(pointers).data()), wide};
  }
  const Integers shape(values.shape(), values.shape() + values.ndim());
  const py::array new_values = new_ndarray(values.dtype().ptr(), shape);
  output.values = static_cast<std::byte*>(const_cast<void*>(new_values.data()));

  sparse::Findings found;
  {
    const auto machine = cpu::this_machine();
    const GilRelease release;
    const bool with_order = depends_on_order(problem, chosen);
    found = check(problem, input, with_order, threads);
    if (found.fault.empty()) {
      const int sorted_modes =
          with_order && found.is_sorted ? problem.rank() : modes_in_order(problem);
      transpose(make_plan(problem, chosen, sorted_modes, threads, machine->l2_cache_bytes), input,
                output, result_pool());
    }
  }
  if (!found.fault.empty()) throw py::value_error(found.fault + "; shape " + text_of(extents));
  return py::make_tuple(coordinates, pointers, new_values);
}

double predict(std::int64_t nonzeros, const Integers& extents, const Integers& perm,
               std::int64_t value_bytes, int index_bytes, bool in_rows, bool out_rows,
               bool is_sorted, const std::string& algorithm, int threads) {
  Problem problem = make_problem(extents, perm);
  problem.nonzeros = nonzeros;
  problem.value_bytes = value_bytes;
  problem.in_index_bytes = problem.out_index_bytes = index_bytes;
  problem.in_rows = in_rows;
  problem.out_rows = out_rows;
  const int sorted_modes = is_sorted ? problem.rank() : modes_in_order(problem);
  return predicted_seconds(make_plan(problem, parse_algorithm(algorithm), sorted_modes, threads,
                                     cpu::this_machine()->l2_cache_bytes));
}

}  // namespace

void bind_sparse(py::module_& module) {
  module.attr("SPARSE_ALGORITHMS") = names_of(sparse::kAlgorithms);
  module.def("sparse_transpose", &transpose, py::arg("modes"), py::arg("row_pointers"),
             py::arg("values"), py::arg("extents"), py::arg("perm"), py::arg("wide"),
             py::arg("compress"), py::arg("algorithm"), py::arg("threads"),
             "Sorts nonzeros in the order of permuted modes. Returns coordinates, a row for each "
             "mode that is not compressed, row pointers or None, and values.");
  module.def("sparse_predict", &predict, py::arg("nnz"), py::arg("extents"), py::arg("perm"),
             py::arg("value_bytes"), py::arg("index_bytes"), py::arg("compressed_in"),
             py::arg("compressed_out"), py::arg("is_sorted"), py::arg("algorithm"),
             py::arg("threads"), "The predicted seconds of such a call.");
}

}  // namespace ttlg::bindings
