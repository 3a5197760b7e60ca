#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// InplacePlan, and the function that makes and keeps such plans.
void bind_cuda_inplace(pybind11::module_& module);

}  // namespace ttlg::bindings
