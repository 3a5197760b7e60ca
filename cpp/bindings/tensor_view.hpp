// Any array that Python hands over, as a borrowed view: pointer, shape, byte strides.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call/layout.hpp"

namespace ttlg::bindings {

namespace py = pybind11;

// Keeps the array alive while it is looked at; for DLPack that is the exchanged tensor, whose
// deleter runs under the GIL when the view goes.
struct TensorView {
  std::string name;           // what the caller calls the array, for messages
  std::byte* data = nullptr;  // element (0, ..., 0)
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> byte_strides;
  std::int64_t itemsize = 0;
  bool readonly = false;
  bool unversioned = false;  // a DLPack tensor of before version 1, which had no read-only flag
  std::string device = "cpu";
  int cuda_device = -1;       // -1 on the host
  std::uintptr_t stream = 0;  // on which work on it is ordered, 0 on the host
  // On which its library goes on with it, where that is ttlg's to order.
  std::optional<std::uintptr_t> owner_stream;

  py::object array;            // NumPy's array; empty for DLPack
  std::shared_ptr<void> held;  // DLPack's tensor
  std::string dlpack_dtype;

  bool on_host() const { return cuda_device < 0; }
  call::Layout layout() const { return {data, shape, byte_strides, itemsize}; }
  // A name that is equal for equal dtypes of any two libraries, such as "float32" or "bfloat16".
  std::string dtype() const;
};

// Whether the elements mean the same, across libraries.
bool same_dtype(const TensorView& x, const TensorView& y);

// Whether elements hold Python objects, which a copy of their bits would not count.
bool holds_references(const py::dtype& dtype);

// `name` is what the caller calls the argument ("x", "out"), for messages. What is on a CUDA device
// is ordered on `stream`, in DLPack's numbering, by its library, unless the caller has done that.
TensorView make_view(const py::object& array, const std::string& name, std::uintptr_t stream,
                     bool ordered);

}  // namespace ttlg::bindings
