// Reads arguments of the most common kinds without a Python object or an allocation. What is of
// another kind is left to the general readers (arguments.hpp), which also say what is wrong.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <span>

#include "tensor/axes.hpp"

namespace ttlg::bindings {

namespace py = pybind11;

// A tuple or list of plain ints, as many as `values` has room for at most; returns how many. Other
// items might run Python code. Inline, as what follows, because the time of a function call shows
// on small arrays.
inline std::optional<std::size_t> read_plain_integers(PyObject* sequence,
                                                      std::span<std::int64_t> values) {
  if (!PyTuple_CheckExact(sequence) && !PyList_CheckExact(sequence)) return std::nullopt;
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence));
  if (count > values.size()) return std::nullopt;
  PyObject** const items = PySequence_Fast_ITEMS(sequence);
  for (std::size_t i = 0; i < count; ++i) {
    if (!PyLong_CheckExact(items[i])) return std::nullopt;
    int overflow = 0;
    values[i] = PyLong_AsLongAndOverflow(items[i], &overflow);
    if (overflow != 0) return std::nullopt;
  }
  return count;
}

// None, or such integers that name every axis once.
inline bool read_plain_axes(PyObject* axes, std::span<int> result) {
  if (axes == Py_None) {
    std::iota(result.rbegin(), result.rend(), 0);
    return true;
  }
  std::array<std::int64_t, kMaxRank> buffer;
  const std::span given(buffer.data(), result.size());
  return read_plain_integers(axes, given) == result.size() &&
         normalize_axes(given, result).error == AxesError::none;
}

// Calls what takes such arguments, `expected` of them: its result, or None where that is null. What
// fails here fails again on the slow path, which reports it; errors of Python are reported.
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

}  // namespace ttlg::bindings
