#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>
#include <utility>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/new_ndarray.hpp"
#include "bindings/tensor_view.hpp"
#include "call/caches.hpp"
#include "cpu/simd_level.hpp"
#include "cpu/this_machine.hpp"
#include "cpu/threads/team.hpp"
#include "cpu/threads/threads.hpp"
#include "cuda/device.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/width.hpp"
#include "xla/handlers.hpp"

namespace py = pybind11;

namespace {

constexpr const char* kCudaErrorDoc =
    R"(A CUDA device cannot be used: its driver or runtime refused, or ttlg was built without CUDA.

Raised by planning for a GPU of this machine (``device="cuda"``), by `transpose` and plans on arrays
that live on a CUDA device, and where the result of a JAX array is waited for. The message holds the
driver's own words.

A call that raises has written nothing, unless the driver reports with it a fault of work that was
launched before: CUDA launches return before the work is done, and what went wrong there surfaces at
a later call.

`ttlg.show_config` tells whether ttlg was built with CUDA, which driver and devices it finds, and
what is wrong where it finds none. Without a GPU, a plan for a device model such as
``device="tesla-k40c"`` can still be made and explained.)";

py::dict cuda_config() {
  const ttlg::cuda::Config config = ttlg::cuda::query();
  py::list devices;
  for (const ttlg::cuda::DeviceInfo& device : config.devices) {
    py::dict entry;
    entry["name"] = device.name;
    entry["compute_capability"] = device.compute_capability;
    entry["memory_bytes"] = device.memory_bytes;
    entry["multiprocessors"] = device.multiprocessors;
    devices.append(entry);
  }
  py::dict result;
  result["built"] = config.built;
  result["toolkit"] = config.toolkit;
  result["architectures"] = config.architectures;
  result["driver"] = config.driver;
  result["devices"] = devices;
  result["status"] = config.status;
  return result;
}

py::list names_of(std::span<const ttlg::cpu::Kernels* const> levels) {
  py::list names;
  for (const ttlg::cpu::Kernels* level : levels) names.append(level->name);
  return names;
}

py::dict build_config() {
  py::dict result;
  result["compiler"] = TTLG_COMPILER;
  result["build_type"] = TTLG_BUILD_TYPE;
  result["simd_built"] = names_of(ttlg::cpu::built_levels());
  result["simd_found"] = names_of(ttlg::cpu::usable_levels());
  result["simd_used"] = ttlg::cpu::kernels().name;
  result["prefetch_into"] = ttlg::cpu::kPrefetchesIntoL2 ? "L2" : "L1";
  const std::shared_ptr<const ttlg::cpu::Machine> machine = ttlg::cpu::this_machine();
  result["l1_cache_bytes"] = machine->l1_cache_bytes;
  result["l2_cache_bytes"] = machine->l2_cache_bytes;
  result["last_level_cache_bytes"] = machine->last_level_cache_bytes;
  return result;
}

std::pair<double, double> thread_delays() {
  const py::gil_scoped_release release;
  const ttlg::cpu::Team::Delays delays = ttlg::cpu::team().delays();
  return {delays.awake, delays.asleep};
}

template <auto kHandler>
py::capsule xla_ffi_handler() {
  ttlg::call::cpu_plan_cache();  // made now, because no lock is held yet that a fork could copy
  return py::capsule(reinterpret_cast<void*>(kHandler));
}

}  // namespace

// For threadpoolctl, which finds them in the library (ttlg/threadpools.py).
extern "C" {
[[gnu::visibility("default")]] int ttlg_get_num_threads() { return ttlg::cpu::num_threads(); }
[[gnu::visibility("default")]] void ttlg_set_num_threads(int threads) {
  ttlg::cpu::limit_num_threads(threads);
}
}

// CONTRIBUTING.md lists what threads share, and what guards it without the GIL.
PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  module.doc() = "The compiled core of ttlg; use the public functions of the ttlg package.";
  module.attr("__version__") = TTLG_VERSION;
  module.attr("MAX_THREADS") = ttlg::cpu::kMaxThreads;
  module.attr("WIDTHS") = py::tuple(py::cast(ttlg::kWidths));

  // Sizes beyond 64 bits are a mistake in the arguments, not in arithmetic.
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::overflow_error& overflow) {
      PyErr_SetString(PyExc_ValueError, overflow.what());
    }
  });

  ttlg::bindings::bind_tensor_view(module);
  ttlg::bindings::bind_fields(module);
  ttlg::bindings::bind_arguments(module);
  ttlg::bindings::bind_element_map(module);
  ttlg::bindings::bind_plan(module);
  ttlg::bindings::bind_machine(module);
  ttlg::bindings::bind_cpu(module);
  ttlg::bindings::bind_time_model(module);
  ttlg::bindings::bind_cuda(module);
  ttlg::bindings::bind_inplace(module);
  ttlg::bindings::bind_measurement(module);
  ttlg::bindings::bind_generate(module);
  ttlg::bindings::bind_schemes(module);
  ttlg::bindings::bind_sparse(module);
  ttlg::bindings::bind_sparse_cuda(module);
  // pybind11 registers exceptions without a docstring.
  module.attr("CudaError").attr("__doc__") = kCudaErrorDoc;
  ttlg::bindings::bind_new_ndarray(module);
  ttlg::bindings::bind_ndarray_calls(module);
  ttlg::bindings::bind_tensor_calls(module);
  ttlg::bindings::bind_transform(module);
  ttlg::bindings::bind_predict(module);
  module.def("xla_ffi_transpose", &xla_ffi_handler<&ttlg::xla::transpose_handler>,
             "The handler that compiled JAX programs call, for jax.ffi.register_ffi_target.");
  module.def("xla_ffi_transform", &xla_ffi_handler<&ttlg::xla::transform_handler>,
             "The handler of programs that convert elements as they move.");
  ttlg::cpu::team();  // made now, because no lock is held yet that a fork could copy
  module.def("choose_num_threads", &ttlg::cpu::choose_num_threads, py::arg("threads"));
  module.def("set_default_num_threads", &ttlg::cpu::set_default_num_threads, py::arg("threads"));
  module.def("thread_delays", &thread_delays,
             "The seconds until a thread that watches for calls begins, and one that sleeps.");
  module.def("build_config", &build_config);
  module.def("cuda_config", &cuda_config);
}
