// What may be written of structured elements whose fields leave bytes out: padding that nothing
// uses, or in a view of some fields the bytes of the other fields.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/tensor_view.hpp"

namespace ttlg::bindings {

struct ByteRun {
  std::int64_t begin;  // in bytes from the start of an element
  std::int64_t end;
};

// The bytes that the fields of an element cover, as the fewest runs in the order of their offsets.
std::vector<ByteRun> field_runs(const py::dtype& dtype);

// The same for an array that is written to; nothing where whole elements may be written. That is
// where the fields cover them, and where the array, or the one whose memory it is a view of, has
// allocated that memory itself for elements of this dtype, so that what is left out is padding.
std::optional<std::vector<ByteRun>> fields_to_write(const py::array& array);

// These bytes of every element of the view, as elements without fields.
TensorView view_run(const TensorView& view, const ByteRun& run);

}  // namespace ttlg::bindings
