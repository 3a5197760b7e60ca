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
  using cuda::LoweredInplacePlan;
  using cuda::LoweredPlan;
  using cuda::Measurement;
  py::class_<Measurement>(module, "CudaMeasurement",
                          "Memory of a device in which plans of one request are timed.")
      .def(py::init<const LoweredPlan&, int>(), py::arg("plan"), py::arg("device"))
      .def(py::init<const LoweredInplacePlan&, std::int64_t, int>(), py::arg("plan"),
           py::arg("workspace_bytes"), py::arg("device"))
      .def("seconds", &seconds<LoweredPlan>, py::arg("plan"), py::arg("calls"),
           "The seconds of calls one after another.")
      .def("inplace_seconds", &seconds<LoweredInplacePlan>, py::arg("plan"), py::arg("calls"));
}

}  // namespace ttlg::bindings
