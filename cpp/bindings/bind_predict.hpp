#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

// predict_seconds and predict_many: what planners of contractions call by the thousand.
void add_predictions(pybind11::module_& module);

}  // namespace ttlg::bindings
