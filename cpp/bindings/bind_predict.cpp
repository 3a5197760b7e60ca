// Predicted times without a Python object besides the result: a planner of contractions asks for
// thousands of them. As in ndarray_call.cpp, what is unusual or wrong is left to the slow path.
#include "bindings/bind_predict.hpp"

#include <pybind11/numpy.h>

#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "bindings/arguments.hpp"
#include "bindings/plain_arguments.hpp"
#include "bindings/run.hpp"

namespace ttlg::bindings {
namespace {

// What all problems of a call have in common.
struct Setting {
  std::int64_t itemsize = 0;
  int threads = 0;
  std::shared_ptr<const cuda::DeviceModel> model;  // null for the CPU
  bool fresh = false;
};

// From itemsize, threads, model, fresh; nothing where the slow path has to look at them.
std::optional<Setting> read_setting(PyObject* const* arguments) {
  const auto argument = [&](int number) { return py::handle(arguments[number]); };
  Setting setting{.itemsize = argument(0).cast<std::int64_t>(),
                  .threads = read_threads(argument(1)),
                  .model{},
                  .fresh = argument(3).cast<bool>()};
  if (!argument(2).is_none()) {
    if (!argument(1).is_none()) return std::nullopt;
    setting.model = argument(2).cast<std::shared_ptr<cuda::DeviceModel>>();
  }
  return setting;
}

// Seconds, or nothing where the slow path has to look at the arguments.
std::optional<double> predict(PyObject* shape_object, PyObject* axes_object,
                              const Setting& setting) {
  std::array<std::int64_t, kMaxRank> extents;
  const auto rank = read_plain_integers(shape_object, extents);
  if (!rank) return std::nullopt;
  const std::span<const std::int64_t> shape(extents.data(), *rank);
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    return std::nullopt;
  }
  std::array<int, kMaxRank> axes_buffer;
  const std::span<int> axes(axes_buffer.data(), *rank);
  if (!read_plain_axes(axes_object, axes)) return std::nullopt;
  const auto byte_strides = contiguous_byte_strides(shape, setting.itemsize);
  const LayoutKey key{.shape = shape,
                      .in_byte_strides = byte_strides,
                      .axes = axes,
                      .itemsize = setting.itemsize};
  if (setting.model) {
    return cuda_plan_cache()
        .get(key, {.alignment = cuda::kMaxAccessBytes, .model = setting.model})
        ->predicted_seconds;
  }
  const auto plan = cpu_plan_cache().get(key, {.threads = setting.threads});
  return cpu::predicted_seconds(*plan, setting.fresh);
}

// The same where `problem` is a tuple or list of shape and axes.
std::optional<double> predict_problem(PyObject* problem, const Setting& setting) {
  if (!PyTuple_CheckExact(problem) && !PyList_CheckExact(problem)) return std::nullopt;
  if (PySequence_Fast_GET_SIZE(problem) != 2) return std::nullopt;
  PyObject** const items = PySequence_Fast_ITEMS(problem);
  try {
    return predict(items[0], items[1], setting);
  } catch (const std::exception&) {
    return std::nullopt;  // it fails again on the slow path, which reports it
  }
}

PyObject* predict_seconds(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  try {
    const auto setting = read_setting(arguments + 2);
    const auto seconds =
        setting ? predict(arguments[0], arguments[1], *setting) : std::nullopt;
    if (seconds) return PyFloat_FromDouble(*seconds);
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  } catch (const std::exception&) {
  }
  Py_RETURN_NONE;
}

// NaN for what is left to the slow path.
PyObject* predict_many(PyObject*, PyObject* const* arguments, Py_ssize_t) {
  try {
    PyObject* const problems = arguments[0];
    const auto setting = read_setting(arguments + 1);
    py::array_t<double> result(PyList_GET_SIZE(problems));
    double* const seconds = result.mutable_data();
    for (Py_ssize_t i = 0; i < result.size(); ++i) {
      const auto found =
          setting ? predict_problem(PyList_GET_ITEM(problems, i), *setting) : std::nullopt;
      seconds[i] = found.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    return result.release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
  return nullptr;
}

PyMethodDef methods[] = {
    {"predict_seconds", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(predict_seconds)),
     METH_FASTCALL,
     "predict_seconds(shape, axes, itemsize, threads, model, fresh, /)\n\n"
     "The predicted time of a contiguous array's plan; None for arguments of unusual kinds."},
    {"predict_many", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(predict_many)),
     METH_FASTCALL,
     "predict_many(problems, itemsize, threads, model, fresh, /)\n\n"
     "The same for a list of pairs of shape and axes, as an ndarray with NaN instead of None."},
    {},
};

}  // namespace

void add_predictions(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace ttlg::bindings
