#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "cuda/measurement.hpp"

namespace ttlg::bindings {
namespace {

template <typename Plan>
double seconds(cuda::Measurement& measurement, const Plan& plan, int calls) {
  const GilRelease release;
  return measurement.seconds(plan, calls);
}

}  // namespace

void bind_measurement(py::module_& module) {
  using cuda::Executable;
  using cuda::InplaceExecutable;
  using cuda::Measurement;
  py::class_<Measurement>(module, "CudaMeasurement",
                          "Memory of a device in which plans of one request are timed.")
      .def(py::init<const Executable&, int>(), py::arg("plan"), py::arg("device"))
      .def(py::init<const InplaceExecutable&, std::int64_t, int>(), py::arg("plan"),
           py::arg("workspace_bytes"), py::arg("device"))
      .def("seconds", &seconds<Executable>, py::arg("plan"), py::arg("calls"),
           "The seconds of calls one after another.")
      .def("inplace_seconds", &seconds<InplaceExecutable>, py::arg("plan"), py::arg("calls"));
}

}  // namespace ttlg::bindings
