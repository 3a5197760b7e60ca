#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// Plans for CUDA devices, the models that they are made for, and running them.
void bind_cuda(pybind11::module_& module);

}  // namespace ttlg::bindings
