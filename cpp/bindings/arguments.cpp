#include "bindings/arguments.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "call/layout.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/plan.hpp"
#include "tensor/axes.hpp"

namespace ttlg::bindings {
namespace {

using call::Fault;

// Steps that NumPy may spend on deciding whether two strided arrays share a byte.
constexpr int kMaxOverlapWork = 1'000'000;

// Bytes as NumPy sees them, whatever their dtype; borrowed from the view.
py::array as_raw_ndarray(const TensorView& view) {
  const py::none no_owner;
  return py::array(py::dtype("V" + std::to_string(view.itemsize)), view.shape, view.byte_strides,
                   view.data, no_owner);
}

// Whether views whose byte ranges meet have a byte in common: exact, or true where that takes too
// long to find out.
bool share_memory(const TensorView& x, const TensorView& out) {
  const py::module_ numpy = py::module_::import("numpy");
  try {
    return numpy
        .attr("shares_memory")(as_raw_ndarray(x), as_raw_ndarray(out),
                               py::arg("max_work") = kMaxOverlapWork)
        .cast<bool>();
  } catch (py::error_already_set& error) {
    if (!error.matches(numpy.attr("exceptions").attr("TooHardError"))) throw;
    return true;
  }
}

// The context variable of ttlg.threads, made when this module is imported.
PyObject* context_threads = nullptr;
// Whether anything has asked for it, because looking for its value takes time that shows on small
// arrays. No thread sees a value that it has not set itself, after asking.
std::atomic<bool> has_context_threads = false;

py::object ask_for_context_threads() {
  has_context_threads.store(true, std::memory_order_relaxed);
  return py::reinterpret_borrow<py::object>(context_threads);
}

// Sequences, as NumPy takes them, arrays, and iterators such as generators. Sets and views of
// dictionaries have no order that a caller could have meant.
bool is_ordered(const py::object& axes) {
  if (!py::isinstance<py::iterable>(axes) || py::isinstance<py::str>(axes)) return false;
  return PySequence_Check(axes.ptr()) != 0 || PyIter_Check(axes.ptr()) != 0 ||
         py::hasattr(axes, "__dlpack__");
}

std::string why_not(const py::object& axes) {
  if (!py::isinstance<py::iterable>(axes)) return "";
  return ", not a " + py::str(py::type::of(axes).attr("__name__")).cast<std::string>() +
         "; write them in their order, such as (1, 0)";
}

std::string not_a_number(const py::handle& item) {
  return py::repr(item).cast<std::string>() +
         " is not an axis number; pass integers, such as (1, 0): only axes of xarray have names";
}

void check_matches(const call::Layout& planned, const TensorView& view, const std::string& name) {
  const Fault fault = find_planned_fault(planned, view.layout());
  if (!fault) return;
  const std::string is_for = "this plan is for " + name + " of ";
  if (fault.kind == Fault::shape) {
    throw py::value_error(is_for + "shape " + text_of(planned.shape) + " and " +
                          std::to_string(planned.itemsize) + "-byte elements, not shape " +
                          text_of(view.shape) + " and " + std::to_string(view.itemsize) +
                          "-byte elements; make one for this array with ttlg.plan_for(x, axes)");
  }
  throw py::value_error(is_for + "byte strides " + text_of(planned.byte_strides) + ", not " +
                        text_of(view.byte_strides) +
                        "; make one for this array with ttlg.plan_for(x, axes), or call "
                        "ttlg.transpose, which looks at the strides itself");
}

// Whether every element of `out` lies where that of `x` does that it is made of.
bool is_in_place(const TensorView& x, const std::vector<int>& axes, const TensorView& out) {
  if (x.data != out.data || x.itemsize != out.itemsize) return false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t step = x.byte_strides[static_cast<std::size_t>(axes[i])];
    if (out.shape[i] > 1 && out.byte_strides[i] != step) return false;
  }
  return true;
}

}  // namespace

int chosen_threads() {
  if (!has_context_threads.load(std::memory_order_relaxed)) return cpu::chosen_num_threads();
  PyObject* value = nullptr;
  if (PyContextVar_Get(context_threads, nullptr, &value) != 0) throw py::error_already_set();
  const auto chosen = py::reinterpret_steal<py::object>(value);
  return chosen.is_none() ? cpu::chosen_num_threads() : chosen.cast<int>();
}

std::vector<int> read_axes(const py::object& axes, const Integers& shape) {
  const std::string rank = std::to_string(shape.size());
  const auto refusal = [&](const std::string& why) {
    return "axes " + py::repr(axes).cast<std::string>() + " do not fit shape " + text_of(shape) +
           ": " + why;
  };
  if (shape.size() > kMaxRank) {
    throw py::value_error(
        refusal("rank " + rank + " exceeds the limit of " + std::to_string(kMaxRank)));
  }
  std::vector<py::object> items;
  Integers given;
  if (axes.is_none()) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      given.push_back(static_cast<std::int64_t>(axis));
    }
  } else if (!is_ordered(axes)) {
    throw py::type_error(
        refusal("they must be a sequence of " + rank + " integers" + why_not(axes)));
  } else {
    for (const py::handle item : axes) {
      if (PyBool_Check(item.ptr()) != 0) {
        throw py::type_error(refusal(not_a_number(item)));
      }
      items.push_back(py::reinterpret_borrow<py::object>(item));
      // Clips what exceeds 64 bits, which is out of range all the same.
      given.push_back(PyNumber_AsSsize_t(item.ptr(), nullptr));
      if (given.back() != -1 || PyErr_Occurred() == nullptr) continue;
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      throw py::type_error(refusal(not_a_number(item)));
    }
  }
  if (given.size() != shape.size()) {
    throw py::value_error(
        refusal("name each of the " + rank + " axes once, not " + std::to_string(given.size())));
  }
  std::vector<int> result(shape.size());
  const AxesCheck check = normalize_axes(given, result);
  const auto rank_number = static_cast<std::int64_t>(shape.size());
  switch (check.error) {
    case AxesError::none:
    case AxesError::missing:  // as many as there are, each another one
      break;
    case AxesError::out_of_range:
      throw py::value_error(refusal("axis " + py::str(items[check.position]).cast<std::string>() +
                                    " is out of range " + std::to_string(-rank_number) + ".." +
                                    std::to_string(rank_number - 1)));
    case AxesError::repeated:
      throw py::value_error(refusal(
          "axis " +
          std::to_string(given[check.position] + (given[check.position] < 0 ? rank_number : 0)) +
          " appears twice; name every axis once"));
  }
  return result;
}

int read_threads(const py::handle& threads) {
  if (threads.is_none()) {
    const int chosen = chosen_threads();
    return chosen > 0 ? chosen : cpu::num_threads();
  }
  int overflow = 0;
  const long count = PyLong_AsLongAndOverflow(threads.ptr(), &overflow);  // takes what counts
  if (count == -1 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    throw py::type_error("threads must be an integer, not " +
                         py::repr(threads).cast<std::string>());
  }
  if (overflow != 0 || !cpu::is_thread_count(count)) {
    throw py::value_error("threads must be from 1 to " + std::to_string(cpu::kMaxThreads) +
                          ", not " + py::str(threads).cast<std::string>() +
                          "; None means the default");
  }
  return static_cast<int>(count);
}

void check_out(const TensorView& x, const std::vector<int>& axes, const TensorView& out,
               bool converts) {
  if (out.device != x.device) {
    throw py::buffer_error(out.name + " lives on " + out.device + ", but " + x.name + " lives on " +
                           x.device + "; pass " + out.name + " on " + x.device);
  }
  Integers out_shape;
  for (const int axis : axes) out_shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  const auto out_of_shape = [&] { return out.name + " of shape " + text_of(out_shape); };
  const Fault fault = find_output_fault(x.layout(), out.layout(), out_shape);
  if (fault.kind == Fault::shape) {
    throw py::value_error(out.name + " has shape " + text_of(out.shape) + ", but " + x.name +
                          " of shape " + text_of(x.shape) + " permuted by axes " +
                          py::str(py::tuple(py::cast(axes))).cast<std::string>() + " has shape " +
                          text_of(out_shape) + "; pass " + out_of_shape());
  }
  if (!converts && !same_dtype(x, out)) {
    throw py::type_error(out.name + " has dtype " + out.dtype() + ", but " + x.name + " has " +
                         x.dtype() + "; ttlg moves bits and converts nothing: pass " + out.name +
                         " of dtype " + x.dtype() + ", or call ttlg.transform, which converts");
  }
  if (out.readonly) throw py::value_error(out_of_shape() + " is read-only; pass a writable array");
  if (fault.kind == Fault::self_overlap) {
    throw py::value_error(out_of_shape() + " and byte strides " + text_of(out.byte_strides) +
                          " may hold several elements at one place; pass an array whose elements "
                          "are apart");
  }
  if (converts && is_in_place(x, axes, out)) return;
  if (fault.kind == Fault::ranges_meet && share_memory(x, out)) {
    const bool moves_axes = !std::ranges::is_sorted(axes);
    throw py::value_error(out_of_shape() + " overlaps " + x.name + " of shape " + text_of(x.shape) +
                          "; pass an array of its own" + (moves_axes ? ", copy " : " or copy ") +
                          x.name + " first" +
                          (moves_axes ? ", or call ttlg.transpose_inplace(x, axes), which needs no "
                                        "other memory"
                                      : ""));
  }
}

void check_planned_input(const PlanBase& plan, const TensorView& x) {
  check_matches(call::input_of(plan.request), x, "x");
}

void check_planned(const PlanBase& plan, const TensorView& x, const TensorView& out) {
  check_planned_input(plan, x);
  check_matches(call::output_of(plan), out, "out");
}

void bind_arguments(py::module_& module) {
  context_threads = PyContextVar_New("ttlg.threads", Py_None);
  if (context_threads == nullptr) throw py::error_already_set();
  module.def(
      "normalize_axes",
      [](const py::object& axes, const Integers& shape) {
        return py::tuple(py::cast(read_axes(axes, shape)));
      },
      py::arg("axes"), py::arg("shape"));
  module.def("resolve_threads", &read_threads, py::arg("threads"),
             "The number that a threads= argument stands for.");
  module.def("chosen_threads", &chosen_threads,
             "The number of the enclosing block or of the process; 0 where none was chosen.");
  module.def("context_threads", &ask_for_context_threads,
             "The context variable with the number of threads of ttlg.threads.");
  module.def(
      "check_out",
      [](const TensorView& x, const std::vector<int>& axes, const TensorView& out) {
        check_out(x, axes, out);
      },
      py::arg("x"), py::arg("axes"), py::arg("out"),
      "Refuse an out that cannot take the result, before anything is written.");
  module.def("share_memory", &share_memory, py::arg("x"), py::arg("out"),
             "Whether the two have a byte in common.");
}

}  // namespace ttlg::bindings
