// Predicted times without a Python object besides the result: a planner of contractions asks for
// thousands of them. As in ndarray_call.cpp, what is unusual or wrong is left to the slow path.
#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/new_ndarray.hpp"
#include "bindings/plain_arguments.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/this_machine.hpp"
#include "cpu/threads/threads.hpp"

namespace ttlg::bindings {
namespace {

// Planning this many takes longer than waking a thread.
constexpr std::int64_t kProblemsPerThread = 64;

using Extents = std::array<std::int64_t, kMaxRank>;
using Axes = std::array<int, kMaxRank>;

// What all problems of a call have in common.
struct Setting {
  std::int64_t itemsize = 0;
  int threads = 0;
  std::shared_ptr<const cuda::DeviceModel> model;  // null for the CPU
  std::shared_ptr<const cpu::Machine> machine;     // which threads would contend for
  bool is_other_machine = false;                   // of whose plans the planner cache has none
  bool fresh = false;
};

// From itemsize, threads, model, fresh; nothing where the slow path has to look at them.
std::optional<Setting> read_setting(PyObject* const* arguments) {
  const auto argument = [&](int number) { return py::handle(arguments[number]); };
  Setting setting{.itemsize = argument(0).cast<std::int64_t>(),
                  .threads = read_threads(argument(1)),
                  .model{},
                  .machine = cpu::this_machine(),
                  .fresh = argument(3).cast<bool>()};
  if (py::isinstance<cpu::Machine>(argument(2))) {
    setting.machine = argument(2).cast<std::shared_ptr<cpu::Machine>>();
    setting.is_other_machine = true;
  } else if (!argument(2).is_none()) {
    if (!argument(1).is_none()) return std::nullopt;
    setting.model = argument(2).cast<std::shared_ptr<cuda::DeviceModel>>();
  }
  return setting;
}

// Reads a shape and its axes; returns the rank, or nothing for what is left to the slow path.
std::optional<std::size_t> read_problem(PyObject* shape, PyObject* axes, Extents& extents,
                                        Axes& order) {
  const auto rank = read_plain_integers(shape, extents);
  if (!rank || !read_plain_axes(axes, std::span(order).first(*rank))) return std::nullopt;
  const auto read = std::span(extents).first(*rank);
  const bool is_shape = std::ranges::none_of(read, [](std::int64_t extent) { return extent < 0; });
  return is_shape ? rank : std::nullopt;
}

// Whether a plan that is not in the planner cache is made and kept there. Where thousands are asked
// about once, they would push out those in use.
enum class IfNew : std::uint8_t { keep_plan, predict_only };

// Throws what the planner throws.
double predict(std::span<const std::int64_t> shape, std::span<const int> axes,
               const Setting& setting, IfNew if_new) {
  const auto byte_strides = contiguous_byte_strides(shape, setting.itemsize);
  const call::Layout x{.shape = shape, .byte_strides = byte_strides, .itemsize = setting.itemsize};
  const auto plan_of = [&](auto& cache, const LayoutKey& key, const auto& choice) {
    return if_new == IfNew::keep_plan ? cache.get(key, choice) : cache.peek(key, choice);
  };
  if (setting.model) {
    const LayoutKey key = key_of(x, axes);
    const cuda::Planning::Choice choice{.model = setting.model};
    const auto plan = plan_of(call::cuda_plan_cache(), key, choice);
    if (plan) return plan->predicted_seconds;
    return cuda::make_plan(key.request(), choice.pointer_alignment, choice.model).predicted_seconds;
  }
  const LayoutKey key = cpu_key_of(x, axes, nullptr);
  std::shared_ptr<const cpu::Plan> plan;
  if (!setting.is_other_machine) {
    plan = plan_of(call::cpu_plan_cache(), key, cpu::Planning::Choice{.threads = setting.threads});
  }
  if (!plan) {
    return cpu::predict(key.request(), *setting.machine, setting.threads, setting.fresh);
  }
  return call::planned_seconds(*plan, setting.fresh);
}

// Problems one after the other; empty where the slow path has to look at one.
class Problems {
 public:
  explicit Problems(PyObject* list) {
    Extents extents;
    Axes order;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      PyObject* const pair = PyList_GET_ITEM(list, i);
      const bool is_pair = (PyTuple_CheckExact(pair) || PyList_CheckExact(pair)) &&
                           PySequence_Fast_GET_SIZE(pair) == 2;
      std::optional<std::size_t> rank;
      if (is_pair) {
        PyObject** const items = PySequence_Fast_ITEMS(pair);
        rank = read_problem(items[0], items[1], extents, order);
      }
      is_read_.push_back(rank.has_value());
      extents_.insert(extents_.end(), extents.begin(), extents.begin() + rank.value_or(0));
      axes_.insert(axes_.end(), order.begin(), order.begin() + rank.value_or(0));
      ends_.push_back(extents_.size());
    }
  }

  // NaN for what is left to the slow path.
  double predict(std::size_t number, const Setting& setting) const {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    if (is_read_[number] == 0) return kNothing;
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    const std::size_t rank = ends_[number] - begin;
    try {
      return bindings::predict(std::span(extents_).subspan(begin, rank),
                               std::span(axes_).subspan(begin, rank), setting, IfNew::predict_only);
    } catch (const std::exception&) {
      return kNothing;  // it fails again on the slow path, which reports it
    }
  }

 private:
  std::vector<char> is_read_;
  std::vector<std::int64_t> extents_;
  std::vector<int> axes_;
  std::vector<std::size_t> ends_;  // of each problem's extents and axes
};

// Calls a function whose result goes to Python; null with an error set if it throws.
template <typename Call>
PyObject* result_or_error(Py_ssize_t expected, Py_ssize_t count, const Call& call) {
  if (count != expected) {
    return PyErr_Format(PyExc_TypeError, "%zd arguments, not %zd", expected, count);
  }
  try {
    return call().release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* predict_seconds(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return result_or_error(6, count, [&]() -> py::object {
    Extents extents;
    Axes order;
    const auto setting = read_setting(arguments + 2);
    const auto rank = read_problem(arguments[0], arguments[1], extents, order);
    if (!setting || !rank) return py::none();
    try {
      return py::float_(predict(std::span(extents).first(*rank), std::span(order).first(*rank),
                                *setting, IfNew::keep_plan));
    } catch (const std::exception&) {
      return py::none();
    }
  });
}

PyObject* predict_many(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return result_or_error(5, count, [&]() -> py::object {
    const auto setting = read_setting(arguments + 1);
    const Problems problems(arguments[0]);
    py::array_t<double> result(PyList_GET_SIZE(arguments[0]));
    double* const seconds = result.mutable_data();
    if (!setting) {
      std::fill_n(seconds, result.size(), std::numeric_limits<double>::quiet_NaN());
      return result;
    }
    const auto max_threads = static_cast<std::int64_t>(read_threads(py::none()));
    const auto threads =
        static_cast<int>(std::min(max_threads, result.size() / kProblemsPerThread));
    const auto predict_share = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        seconds[i] = problems.predict(static_cast<std::size_t>(i), *setting);
      }
    };
    {
      const GilRelease release;
      cpu::parallel_ranges(threads, result.size(), cpu::kSharesPerThread, predict_share);
    }
    return result;
  });
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

void bind_predict(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace ttlg::bindings
