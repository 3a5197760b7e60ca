// The fast path: a whole call on plain ndarrays without a Python object or an allocation besides
// the result, so that small arrays cost no more than NumPy's own copy. Whatever is unusual or wrong
// is left to the slow path by returning None before anything is written, and the slow path reports
// errors. pybind11's dispatch would cost as much again, so these are plain CPython functions.
#include <pybind11/numpy.h>

#include <array>
#include <exception>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/fields.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/new_ndarray.hpp"
#include "bindings/plain_arguments.hpp"
#include "bindings/tensor_view.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/memory/result_pool.hpp"

namespace ttlg::bindings {
namespace {

using py::detail::npy_api;
using Extents = std::array<std::int64_t, kMaxRank>;

struct Ndarray {
  PyObject* descr = nullptr;
  int flags = 0;
  call::Layout layout;
};

// Subclasses may carry more than their elements, such as a mask.
bool is_plain(PyObject* object) { return Py_TYPE(object) == npy_api::get().PyArray_Type_; }

Ndarray look_at(PyObject* array) {
  const auto* proxy = py::detail::array_proxy(array);
  const auto rank = static_cast<std::size_t>(proxy->nd);
  const auto descr = py::reinterpret_borrow<py::dtype>(proxy->descr);
  return {.descr = proxy->descr,
          .flags = proxy->flags,
          .layout = {.data = reinterpret_cast<std::byte*>(proxy->data),
                     .shape = {proxy->dimensions, rank},
                     .byte_strides = {proxy->strides, rank},
                     .itemsize = descr.itemsize()}};
}

void renew_pool_limit_for(PyObject* x) {
  const auto array = py::reinterpret_borrow<py::array>(x);
  if (array.nbytes() >= static_cast<py::ssize_t>(cpu::kHugeFromBytes)) renew_pool_limit();
}

// NumPy allocates elements of no bytes in a way of its own.
bool is_movable(const Ndarray& x) {
  return x.layout.itemsize > 0 && x.layout.shape.size() <= kMaxRank &&
         !holds_references(py::reinterpret_borrow<py::dtype>(x.descr));
}

// Whether the result may certainly be written to `out`, whole elements.
bool is_fit_for_output(const Ndarray& x, const Ndarray& out, PyObject* out_object,
                       std::span<const std::int64_t> out_shape) {
  const bool is_contiguous = (out.flags & npy_api::NPY_ARRAY_C_CONTIGUOUS_) != 0;
  return out.descr == x.descr && (out.flags & npy_api::NPY_ARRAY_WRITEABLE_) != 0 &&
         !find_output_fault(x.layout, out.layout, out_shape, is_contiguous) &&
         !fields_to_write(py::reinterpret_borrow<py::array>(out_object));
}

// Whether the system gives the memory of a new array at every call; asked where calls are timed.
bool has_new_pages(const cpu::Plan& plan) {
  return cpu::Learner::can_learn(plan) &&
         static_cast<std::size_t>(plan.problem.bytes()) > result_pool().info().limit;
}

// The result, or null to leave the call to the slow path.
py::object transpose(PyObject* x_object, PyObject* axes_object, PyObject* out_object,
                     PyObject* threads_object) {
  if (!is_plain(x_object)) return {};
  cpu::Planning::Choice choice;
  choice.threads = read_threads(threads_object);  // before x is looked at: may run Python code
  if (out_object == Py_None) renew_pool_limit_for(x_object);  // so may this
  const Ndarray x = look_at(x_object);
  if (!is_movable(x)) return {};
  const std::size_t rank = x.layout.shape.size();
  std::array<int, kMaxRank> axes_buffer;
  const std::span<int> axes(axes_buffer.data(), rank);
  if (!read_plain_axes(axes_object, axes)) return {};
  Extents extents;
  const std::span<std::int64_t> out_shape(extents.data(), rank);
  for (std::size_t i = 0; i < rank; ++i) {
    out_shape[i] = x.layout.shape[static_cast<std::size_t>(axes[i])];
  }
  if (out_object == Py_None) {
    const auto plan = call::cpu_plan_cache().get(cpu_key_of(x.layout, axes, nullptr), choice);
    py::object result = new_ndarray(x.descr, out_shape);
    call::run_and_learn<GilRelease>(plan, x.layout.data, look_at(result.ptr()).layout.data,
                                    has_new_pages(*plan));
    return result;
  }
  if (!is_plain(out_object)) return {};
  const Ndarray out = look_at(out_object);
  if (!is_fit_for_output(x, out, out_object, out_shape)) return {};
  const LayoutKey key = cpu_key_of(x.layout, axes, &out.layout);
  call::run_and_learn<GilRelease>(call::cpu_plan_cache().get(key, choice), x.layout.data,
                                  out.layout.data, false);
  return py::reinterpret_borrow<py::object>(out_object);
}

// Carries out `plan` by run(in, out, is_new).
template <typename Run>
py::object run_plan(const cpu::Plan& plan, PyObject* x_object, PyObject* out_object,
                    const Run& run) {
  if (out_object == Py_None) renew_pool_limit_for(x_object);  // before x is looked at, as above
  const Ndarray x = look_at(x_object);
  if (!is_movable(x) || find_planned_fault(call::input_of(plan.request), x.layout)) return {};
  if (out_object == Py_None) {
    if (!plan.request.out_byte_strides.empty()) return {};
    py::object result = new_ndarray(x.descr, plan.out_shape);
    run(x.layout.data, look_at(result.ptr()).layout.data, true);
    return result;
  }
  if (!is_plain(out_object)) return {};
  const Ndarray out = look_at(out_object);
  if (!is_fit_for_output(x, out, out_object, plan.out_shape) ||
      !has_byte_strides(out.layout, plan.out_byte_strides)) {
    return {};
  }
  run(x.layout.data, out.layout.data, false);
  return py::reinterpret_borrow<py::object>(out_object);
}

// What fails here fails again on the slow path, which reports it.
template <typename Call>
PyObject* result_or_none(Py_ssize_t expected, Py_ssize_t count, const Call& call) {
  if (count != expected) {
    return PyErr_Format(PyExc_TypeError, "%zd arguments, not %zd", expected, count);
  }
  py::object result;
  try {
    result = call();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  } catch (const std::exception&) {
    result = {};
  }
  return result ? result.release().ptr() : py::none().release().ptr();
}

PyObject* transpose_ndarray(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return result_or_none(
      4, count, [&] { return transpose(arguments[0], arguments[1], arguments[2], arguments[3]); });
}

PyObject* run_ndarray(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return result_or_none(3, count, [&] {
    if (!is_plain(arguments[1])) return py::object();  // and no plan for a GPU gets further
    py::detail::make_caster<cpu::Plan> plan;
    if (plan.load(arguments[0], false)) {
      return run_plan(
          plan, arguments[1], arguments[2],
          [&](const std::byte* in, std::byte* out, bool) { call::run<GilRelease>(plan, in, out); });
    }
    const auto& [chosen] = py::handle(arguments[0]).cast<const call::CpuCall&>();
    return run_plan(
        *chosen, arguments[1], arguments[2], [&](const std::byte* in, std::byte* out, bool is_new) {
          call::run_and_learn<GilRelease>(chosen, in, out, is_new && has_new_pages(*chosen));
        });
  });
}

PyMethodDef methods[] = {
    {"transpose_ndarray", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(transpose_ndarray)),
     METH_FASTCALL,
     "transpose_ndarray(x, axes, out, threads, /)\n\n"
     "ttlg.transpose for plain ndarrays; None, with nothing written, for anything else."},
    {"run_ndarray", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_ndarray)),
     METH_FASTCALL,
     "run_ndarray(plan, x, out, /)\n\n"
     "Carry a CpuPlan or a CpuCall out on plain ndarrays; None, with nothing written, for anything "
     "else."},
    {},
};

}  // namespace

void bind_ndarray_calls(py::module_& module) {
  npy_api::get();  // looked up now, as pybind11 releases the GIL meanwhile in a way unsafe at exit
  if (PyModule_AddFunctions(module.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace ttlg::bindings
