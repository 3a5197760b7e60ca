#include "bindings/new_ndarray.hpp"

#include <pthread.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "cpu/memory/result_pool.hpp"

namespace py = pybind11;

namespace ttlg::bindings {
namespace {

using py::detail::npy_api;

// Results of at least this size begin at a line, which NumPy's own arrays do not: rows that cross
// lines take longer to write. Smaller ones would lose more in the allocation than they gain.
constexpr std::size_t kAlignedFromBytes = std::size_t{64} << 10;
constexpr std::size_t kAlignment = 64;

// What NumPy calls to allocate, under a name that it passes on (ndarraytypes.h, version 1).
struct DataHandler {
  char name[127];
  std::uint8_t version;
  void* context;
  void* (*allocate)(void*, std::size_t);
  void* (*allocate_zeroed)(void*, std::size_t, std::size_t);
  void* (*reallocate)(void*, void*, std::size_t);
  void (*free)(void*, void*, std::size_t);
};

void* allocate(void*, std::size_t bytes) noexcept {
  if (bytes < kAlignedFromBytes) return std::malloc(bytes);
  if (bytes < cpu::kHugeFromBytes) {
    return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  try {
    return result_pool().allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* allocate_zeroed(void*, std::size_t count, std::size_t bytes) noexcept {
  return std::calloc(count, bytes);
}

void free_block(void*, void* start, std::size_t) noexcept {
  if (result_pool().size_of(start) == 0) return std::free(start);
  try {
    result_pool().free(start);
  } catch (const std::bad_alloc&) {
    // Without memory for the list of what waits, the block is unmapped.
  }
}

void* reallocate(void*, void* start, std::size_t bytes) noexcept {
  const std::size_t held = result_pool().size_of(start);
  if (held == 0) return std::realloc(start, bytes);
  void* const moved = allocate(nullptr, bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, start, std::min(held, bytes));
  free_block(nullptr, start, held);
  return moved;
}

DataHandler pool_handler{"ttlg_result_pool", 1,          nullptr,   allocate,
                         allocate_zeroed,    reallocate, free_block};

// Of NumPy's C API what pybind11 does not look up, by the place in its table (__multiarray_api.h).
struct DataHandlerApi {
  static constexpr int kSetHandler = 304;
  static constexpr int kGetHandler = 305;
  static constexpr int kDefaultHandler = 306;

  PyObject* (*set)(PyObject*) = nullptr;
  PyObject* (*get)() = nullptr;
  PyObject* numpys = nullptr;  // what NumPy uses until told otherwise
  PyObject* pools = nullptr;
};

DataHandlerApi api;

DataHandlerApi look_up_api() {
  const py::object capsule =
      py::detail::import_numpy_core_submodule("multiarray").attr("_ARRAY_API");
  void** const table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  PyObject* const pools = PyCapsule_New(&pool_handler, "mem_handler", nullptr);
  if (table == nullptr || pools == nullptr) throw py::error_already_set();
  return {.set = reinterpret_cast<PyObject* (*)(PyObject*)>(table[DataHandlerApi::kSetHandler]),
          .get = reinterpret_cast<PyObject* (*)()>(table[DataHandlerApi::kGetHandler]),
          .numpys = *static_cast<PyObject**>(table[DataHandlerApi::kDefaultHandler]),
          .pools = pools};
}

// While it lives, NumPy allocates from the pool in this context, unless the program has chosen a
// policy of its own.
class PoolScope {
 public:
  PoolScope() {
    const auto current = py::reinterpret_steal<py::object>(api.get());
    if (!current) throw py::error_already_set();
    if (current.ptr() != api.numpys) return;
    if (!py::reinterpret_steal<py::object>(api.set(api.pools))) throw py::error_already_set();
    is_set_ = true;
  }
  ~PoolScope() {
    if (!is_set_) return;
    // The policy does for arrays of any size and origin, should there be no memory for going back.
    if (!py::reinterpret_steal<py::object>(api.set(api.numpys))) PyErr_Clear();
  }
  PoolScope(const PoolScope&) = delete;
  PoolScope& operator=(const PoolScope&) = delete;

 private:
  bool is_set_ = false;
};

bool is_allocated_here(std::int64_t itemsize, std::span<const std::int64_t> shape) {
  std::int64_t bytes = itemsize;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return false;  // NumPy says what is wrong
  }
  return static_cast<std::size_t>(bytes) >= kAlignedFromBytes;
}

py::object make_ndarray(PyObject* descr, std::span<const std::int64_t> shape) {
  const npy_api& numpy = npy_api::get();
  Py_INCREF(descr);  // for the new array to own
  PyObject* const result =
      numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, descr, static_cast<int>(shape.size()),
                                  shape.data(), nullptr, nullptr, 0, nullptr);
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

// How much may wait is asked of Python at most once in this many nanoseconds, as it means reading
// files of the kernel.
constexpr std::int64_t kAskAgainAfter = 1'000'000'000;

// Nanoseconds, exact to some milliseconds, at a tenth of the price of the exact ones.
std::int64_t coarse_clock() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

cpu::ResultPool& make_result_pool() {
  static auto& pool = *new cpu::ResultPool(0);
  const auto before = [] { pool.before_fork(); };
  const auto after = [] { pool.after_fork(); };
  if (pthread_atfork(before, after, after) != 0) throw std::bad_alloc();
  return pool;
}

}  // namespace

cpu::ResultPool& result_pool() {
  static cpu::ResultPool& pool = make_result_pool();
  return pool;
}

namespace {

// What limits the pool: a number, or a function of Python that gives one. The mutex is not held
// while that runs, so no thread holds it where Python forks or stops all threads.
class LimitSource {
 public:
  void set(std::size_t bytes) {
    py::object before;  // is dropped without the mutex
    const std::lock_guard lock(mutex_);
    std::swap(ask_, before);
    result_pool().set_limit(bytes);
  }

  void set(py::object ask) {
    const std::lock_guard lock(mutex_);
    std::swap(ask_, ask);
    asked_ = 0;
  }

  void renew() {
    const py::object ask = due();
    if (!ask) return;
    const auto bytes = ask().cast<std::size_t>();
    const std::lock_guard lock(mutex_);
    if (ask_.is(ask)) result_pool().set_limit(bytes);  // else another limit was set meanwhile
  }

 private:
  // What is to be asked now, and counts as asked from here on; null where nothing is.
  py::object due() {
    const std::lock_guard lock(mutex_);
    if (!ask_) return {};
    const std::int64_t now = coarse_clock();
    if (now - asked_ < kAskAgainAfter) return {};
    asked_ = now;
    return ask_;
  }

  std::mutex mutex_;        // guards all below
  py::object ask_;          // null where the program has set a number
  std::int64_t asked_ = 0;  // by coarse_clock()
};

// Never destroyed, as Python is gone by then.
LimitSource& limit_source = *new LimitSource;

}  // namespace

void renew_pool_limit() { limit_source.renew(); }

py::object new_ndarray(PyObject* descr, std::span<const std::int64_t> shape) {
  const py::ssize_t itemsize = py::reinterpret_borrow<py::dtype>(descr).itemsize();
  if (!is_allocated_here(itemsize, shape)) return make_ndarray(descr, shape);
  const PoolScope scope;
  return make_ndarray(descr, shape);
}

std::int64_t new_ndarray_alignment(std::int64_t itemsize, std::span<const std::int64_t> shape) {
  return is_allocated_here(itemsize, shape) ? kAlignment : 1;
}

LayoutKey cpu_key_of(const call::Layout& x, std::span<const int> axes, const call::Layout* out) {
  if (out == nullptr) return key_of(x, axes, {}, new_ndarray_alignment(x.itemsize, x.shape));
  return key_of(x, axes, out->byte_strides, call::out_alignment(out->data));
}

void bind_new_ndarray(py::module_& module) {
  api = look_up_api();
  result_pool();  // made now, because no lock is held yet that a fork could copy
  module.def(
      "new_ndarray",
      [](const std::vector<std::int64_t>& shape, const py::dtype& dtype) {
        renew_pool_limit();
        return new_ndarray(dtype.ptr(), shape);
      },
      py::arg("shape"), py::arg("dtype"),
      "numpy.empty for a result: large ones come from the result pool.");
  module.def(
      "new_ndarray_alignment",
      [](const std::vector<std::int64_t>& shape, std::int64_t itemsize) {
        return new_ndarray_alignment(itemsize, shape);
      },
      py::arg("shape"), py::arg("itemsize"),
      "A power of two, up to a cache line, that divides the address of such a result for sure.");
  module.def(
      "set_result_pool",
      [](const std::variant<std::size_t, py::function>& limit) {
        std::visit([](const auto& given) { limit_source.set(given); }, limit);
        renew_pool_limit();
      },
      py::arg("limit"),
      "Limit what waits to so many bytes, or to those that a function gives, which is asked when "
      "results are made, at most once a second, and now.");
  module.def(
      "set_result_pool_wait",
      [](double seconds) {
        result_pool().set_longest_wait(std::chrono::duration_cast<cpu::ResultPool::Clock::duration>(
            std::chrono::duration<double>(seconds)));
      },
      py::arg("seconds"),
      "How long memory may wait that is freed from now on; a second unless told otherwise. For "
      "tests on machines that may pause longer than that.");
  module.def(
      "result_pool_info",
      [] {
        const cpu::ResultPool::Info info = result_pool().info();
        return py::make_tuple(info.limit, info.waiting);
      },
      "The limit of the result pool and what waits in it, in bytes.");
}

}  // namespace ttlg::bindings
