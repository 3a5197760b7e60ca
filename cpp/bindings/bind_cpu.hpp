#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// CpuPlan, and the functions that make, look up and keep such plans.
void bind_cpu(pybind11::module_& module);

}  // namespace ttlg::bindings
