// Each adds its part of the extension to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace ttlg::bindings {

void bind_tensor_view(pybind11::module_& module);
void bind_fields(pybind11::module_& module);
void bind_arguments(pybind11::module_& module);
void bind_plan(pybind11::module_& module);
void bind_machine(pybind11::module_& module);  // before plans, whose signatures name it
void bind_cpu(pybind11::module_& module);
void bind_time_model(pybind11::module_& module);
void bind_cuda(pybind11::module_& module);
void bind_device_model(pybind11::module_& module);
void bind_inplace(pybind11::module_& module);
void bind_measurement(pybind11::module_& module);
void bind_generate(pybind11::module_& module);
void bind_schemes(pybind11::module_& module);
void bind_sparse(pybind11::module_& module);
void bind_sparse_cuda(pybind11::module_& module);
void bind_new_ndarray(pybind11::module_& module);
void bind_ndarray_calls(pybind11::module_& module);
void bind_tensor_calls(pybind11::module_& module);
void bind_element_map(pybind11::module_& module);
void bind_transform(pybind11::module_& module);
void bind_predict(pybind11::module_& module);

}  // namespace ttlg::bindings
