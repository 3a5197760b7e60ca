#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "cuda/sparse/transpose.hpp"
#include "tensor/axes.hpp"

namespace ttlg::bindings {
namespace {

using cuda::sparse::SparsePointers;
using cuda::sparse::SparseProblem;

// Python's addresses: what PyTorch calls data_ptr.
using Address = std::uintptr_t;

[[noreturn]] void refuse(const std::string& message) { throw py::value_error(message); }

SparseProblem read_problem(std::int64_t nonzeros, const Integers& extents, const Integers& perm,
                           std::int64_t value_bytes, int index_bytes, bool is_sorted) {
  if (nonzeros < 0 || value_bytes < 0 ||
      std::ranges::any_of(extents, [](auto e) { return e < 0; })) {
    refuse("nnz, value_bytes and extents must not be negative");
  }
  if (index_bytes != 4 && index_bytes != 8) refuse("index_bytes must be 4 or 8");
  if (extents.size() > kMaxRank || perm.size() != extents.size()) {
    refuse("perm " + text_of(perm) + " and extents " + text_of(extents) +
           " must have the same length, " + std::to_string(kMaxRank) + " at most");
  }
  SparseProblem problem{.nonzeros = nonzeros,
                        .extents = extents,
                        .perm = std::vector<int>(perm.size()),
                        .value_bytes = value_bytes,
                        .index_bytes = index_bytes,
                        .is_sorted = is_sorted};
  if (normalize_axes(perm, problem.perm).error != AxesError::none) {
    refuse("perm " + text_of(perm) + " is no permutation of the modes of " + text_of(extents));
  }
  return problem;
}

std::size_t sparse_cuda_workspace(std::int64_t nonzeros, const Integers& extents,
                                  const Integers& perm, std::int64_t value_bytes, int index_bytes,
                                  bool is_sorted, int device) {
  const SparseProblem problem =
      read_problem(nonzeros, extents, perm, value_bytes, index_bytes, is_sorted);
  const GilRelease release;
  return cuda::sparse::workspace_bytes(problem, device);
}

void sparse_cuda_transpose(const std::vector<Address>& modes, Address values,
                           Address out_coordinates, Address out_values, std::int64_t nonzeros,
                           const Integers& extents, const Integers& perm, std::int64_t value_bytes,
                           int index_bytes, bool is_sorted, Address workspace,
                           std::size_t workspace_bytes, int device, Address stream) {
  const SparseProblem problem =
      read_problem(nonzeros, extents, perm, value_bytes, index_bytes, is_sorted);
  if (modes.size() != extents.size()) {
    refuse("there are " + std::to_string(modes.size()) + " arrays of coordinates for the extents " +
           text_of(extents));
  }
  const auto is_misaligned = [&](Address address) {
    return address % static_cast<Address>(index_bytes) != 0;
  };
  if (std::ranges::any_of(modes, is_misaligned) || is_misaligned(out_coordinates)) {
    refuse("arrays of coordinates must begin at multiples of index_bytes");
  }
  SparsePointers pointers{.values = reinterpret_cast<const std::byte*>(values),
                          .out_coordinates = reinterpret_cast<std::byte*>(out_coordinates),
                          .out_values = reinterpret_cast<std::byte*>(out_values)};
  for (const Address mode : modes) {
    pointers.coordinates.push_back(reinterpret_cast<const std::byte*>(mode));
  }
  const GilRelease release;
  cuda::sparse::transpose(problem, pointers, reinterpret_cast<std::byte*>(workspace),
                          workspace_bytes, device, stream);
}

}  // namespace

void bind_sparse_cuda(py::module_& module) {
  module.def("sparse_cuda_workspace", &sparse_cuda_workspace, py::arg("nnz"), py::arg("extents"),
             py::arg("perm"), py::arg("value_bytes"), py::arg("index_bytes"), py::arg("is_sorted"),
             py::arg("device"),
             "How many bytes `sparse_cuda_transpose` works in, at an address that is a multiple of "
             "256.");
  module.def(
      "sparse_cuda_transpose", &sparse_cuda_transpose, py::arg("mode_pointers"),
      py::arg("values_pointer"), py::arg("out_coords_pointer"), py::arg("out_values_pointer"),
      py::arg("nnz"), py::arg("extents"), py::arg("perm"), py::arg("value_bytes"),
      py::arg("index_bytes"), py::arg("is_sorted"), py::arg("workspace_pointer"),
      py::arg("workspace_bytes"), py::arg("device"), py::arg("stream"),
      "Sort the nonzeros of a tensor on a CUDA device in the order of the output's modes, of which "
      "mode i is input mode perm[i]. Ordered on the stream; waits for nothing.");
}

}  // namespace ttlg::bindings
