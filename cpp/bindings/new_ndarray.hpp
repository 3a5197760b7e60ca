// New ndarrays for results. Large ones are in memory of the result pool, which NumPy frees by the
// data allocation policy of the array (NEP 49).
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>

#include "call/layout.hpp"
#include "cpu/memory/result_pool.hpp"

namespace ttlg::bindings {

// Lives as long as the process: arrays may be freed at its very end.
cpu::ResultPool& result_pool();

// Lets the pool's limit follow the memory that there is, about once a second. May run Python code:
// call it before an array is looked at.
void renew_pool_limit();

// C-contiguous, with elements that are left as they are. `descr` is NumPy's dtype.
pybind11::object new_ndarray(PyObject* descr, std::span<const std::int64_t> shape);

// The largest power of two, up to a cache line, that divides the address of such an array for sure.
std::int64_t new_ndarray_alignment(std::int64_t itemsize, std::span<const std::int64_t> shape);

// The key of moving an array into `out` on the CPU, or into a new ndarray where that is null;
// borrows from all arguments.
LayoutKey cpu_key_of(const call::Layout& x, std::span<const int> axes, const call::Layout* out);

}  // namespace ttlg::bindings
