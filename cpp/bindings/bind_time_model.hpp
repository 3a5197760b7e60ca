// The CPU's time model in Python.
#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

void bind_time_model(pybind11::module_& module);

}  // namespace ttlg::bindings
