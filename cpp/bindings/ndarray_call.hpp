#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// transpose_ndarray and run_ndarray: the fast path for plain ndarrays.
void add_ndarray_calls(pybind11::module_& module);

}  // namespace ttlg::bindings
