// What the planner knows of GPUs, in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "plan/cuda/schema.hpp"

namespace ttlg::bindings {

// Throws ValueError, with the names that there are.
cuda::Schema parse_schema(const std::string& name);

void bind_device_model(pybind11::module_& module);

}  // namespace ttlg::bindings
