#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// Plan, make_plan, build_plan, cascade, normalize_axes.
void bind_plan(pybind11::module_& module);

}  // namespace ttlg::bindings
