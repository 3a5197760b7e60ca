// The enumeration schemes in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

void bind_schemes(pybind11::module_& module);

}  // namespace ttlg::bindings
