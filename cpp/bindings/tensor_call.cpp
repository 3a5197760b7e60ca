// The fast path for tensors of libraries that lend compiled callers their functions (DLPack 1.3): a
// whole call with no view and no plan as Python objects. As with ndarrays, whatever is unusual or
// wrong is left to the slow path by returning None before anything is written.
#include <algorithm>
#include <array>
#include <span>

#include "bindings/arguments.hpp"
#include "bindings/bind.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/gil_release.hpp"
#include "bindings/new_ndarray.hpp"
#include "bindings/plain_arguments.hpp"
#include "bindings/tensor_view.hpp"
#include "call/caches.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/memory/result_pool.hpp"
#include "cpu/threads/threads.hpp"
#include "cuda/execute.hpp"

namespace ttlg::bindings {
namespace {

// What a library tells of its tensors: a tuple of Python, in this order.
struct Hooks {
  explicit Hooks(PyObject* tuple) : tuple_(tuple) {}

  // Names of attributes and methods, and functions. All are true of nothing but tensors that are
  // more than their memory, or whose library has to know what happens to them.
  PyObject* attributes() const { return item(0); }
  PyObject* methods() const { return item(1); }
  PyObject* methods_of_complex() const { return item(2); }
  PyObject* states() const { return item(3); }
  PyObject* allocate() const { return item(4); }     // name of a method: x.allocate(*shape)
  PyObject* num_threads() const { return item(5); }  // num_threads(): those of the library
  PyObject* after_write() const { return item(6); }  // after_write(out)
  PyObject* model_of() const { return item(7); }     // model_of(device): a GPU's time model

 private:
  PyObject* item(Py_ssize_t number) const { return PyTuple_GET_ITEM(tuple_, number); }

  PyObject* tuple_;
};

py::object checked(PyObject* result) {
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

// Whether `ask` returns something true for an item of the tuple.
template <typename Ask>
bool is_any(PyObject* tuple, const Ask& ask) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    const int truth = PyObject_IsTrue(checked(ask(PyTuple_GET_ITEM(tuple, i))).ptr());
    if (truth != 0) return truth > 0 ? true : throw py::error_already_set();
  }
  return false;
}

class ExportedTensor {
 public:
  ExportedTensor() = default;
  ExportedTensor(const ExportedTensor&) = delete;  // the layout borrows from the strides
  ExportedTensor& operator=(const ExportedTensor&) = delete;

  // Whether the object has elements, and lies where ttlg reaches it.
  bool look_at(const dlpack::ExchangeApi& api, PyObject* object) {
    exported_ = export_directly(api, object);
    if (!exported_ || exported_->version.major != dlpack::kMajorVersion) return false;
    const dlpack::Tensor& tensor = exported_->tensor;
    const auto rank = static_cast<std::size_t>(tensor.ndim);
    const bool is_near = dlpack::is_host(tensor.device) || dlpack::is_cuda(tensor.device);
    if (!is_near || tensor.data == nullptr || rank > kMaxRank) return false;
    layout_ = layout_of(tensor, item_bytes(tensor.dtype, exported_->flags, "x"),
                        std::span(byte_strides_).first(rank));
    return layout_.data != nullptr;
  }

  const call::Layout& layout() const { return layout_; }
  const dlpack::Device& device() const { return exported_->tensor.device; }
  bool is_complex() const { return exported_->tensor.dtype.code == dlpack::kComplex; }
  bool is_writable() const { return (exported_->flags & dlpack::kFlagReadOnly) == 0; }
  // Whether the other one has such elements on the same device.
  bool is_like(const ExportedTensor& other) const {
    return exported_->tensor.dtype == other.exported_->tensor.dtype && device() == other.device();
  }

 private:
  Exported exported_;
  std::array<std::int64_t, kMaxRank> byte_strides_;
  call::Layout layout_;
};

// A call on tensors that the very same type exports. Of its steps those that return false leave it
// to the slow path.
class TensorCall {
 public:
  TensorCall(PyObject* x, PyObject* axes, PyObject* out, PyObject* threads, PyObject* hooks)
      : given_{x, axes, out, threads}, hooks_(hooks) {}

  // The result, or null.
  py::object run() {
    api_ = exchange_api_of(given_.x);
    if (api_ == nullptr || is_any(hooks_.states(), PyObject_CallNoArgs)) return {};
    threads_ = threads();  // before x is looked at: may run Python code
    if (!look_at(given_.x, x_) || !read_axes() || !find_out()) return {};
    return (dlpack::is_host(x_.device()) ? run_on_host() : run_on_gpu()) ? result_ : py::object();
  }

 private:
  bool is_new() const { return given_.out == Py_None; }

  int threads() const {
    const bool is_own = given_.threads == Py_None && chosen_threads() == 0;
    if (!is_own) return read_threads(given_.threads);
    const py::object number = checked(PyObject_CallNoArgs(hooks_.num_threads()));
    return std::min(number.cast<int>(), cpu::kMaxThreads);
  }

  bool look_at(PyObject* object, ExportedTensor& tensor) const {
    const auto attribute = [&](PyObject* name) { return PyObject_GetAttr(object, name); };
    const auto method = [&](PyObject* name) { return PyObject_CallMethodNoArgs(object, name); };
    return !is_any(hooks_.attributes(), attribute) && !is_any(hooks_.methods(), method) &&
           tensor.look_at(*api_, object) &&
           !(tensor.is_complex() && is_any(hooks_.methods_of_complex(), method));
  }

  bool read_axes() {
    const std::size_t rank = x_.layout().shape.size();
    axes_ = std::span(axes_buffer_).first(rank);
    if (!read_plain_axes(given_.axes, axes_)) return false;
    out_shape_ = std::span(extents_).first(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      out_shape_[i] = x_.layout().shape[static_cast<std::size_t>(axes_[i])];
    }
    return true;
  }

  bool find_out() {
    if (is_new()) return !out_shape_.empty();  // else allocate() has no arguments to take
    if (Py_TYPE(given_.out) != Py_TYPE(given_.x) || !look_at(given_.out, out_)) return false;
    result_ = py::reinterpret_borrow<py::object>(given_.out);
    into_ = &out_.layout();
    return out_.is_like(x_) && out_.is_writable() &&
           !find_output_fault(x_.layout(), out_.layout(), out_shape_);
  }

  // Lets the library allocate what the plan writes to, unless the caller has given that.
  bool allocate(const PlanBase& plan) {
    if (!is_new()) return true;
    // PyTorch reads extents that are arguments of their own in half the time that a tuple takes.
    py::tuple arguments(out_shape_.size() + 1);
    arguments[0] = given_.x;
    for (std::size_t i = 0; i < out_shape_.size(); ++i) arguments[i + 1] = out_shape_[i];
    result_ = checked(PyObject_VectorcallMethod(
        hooks_.allocate(), PySequence_Fast_ITEMS(arguments.ptr()), arguments.size(), nullptr));
    return Py_TYPE(result_.ptr()) == Py_TYPE(given_.x) && out_.look_at(*api_, result_.ptr()) &&
           out_.is_like(x_) && std::ranges::equal(out_.layout().shape, out_shape_) &&
           has_byte_strides(out_.layout(), plan.out_byte_strides);
  }

  bool run_on_host() {
    const auto plan =
        call::cpu_plan_cache().get(cpu_key_of(x_.layout(), axes_, into_), {.threads = threads_});
    if (!allocate(*plan)) return false;
    if (is_new()) {
      cpu::prepare_new_memory(out_.layout().data, static_cast<std::size_t>(plan->problem.bytes()));
    }
    call::run_and_learn<GilRelease>(plan, x_.layout().data, out_.layout().data, is_new());
    tell_owner();
    return true;
  }

  bool run_on_gpu() {
    const dlpack::Device device = x_.device();
    void* current = nullptr;
    if (given_.threads != Py_None) return false;
    if (api_->current_stream(device.type, device.id, &current) != 0) throw py::error_already_set();
    const std::byte* const out = is_new() ? nullptr : out_.layout().data;
    const auto out_byte_strides =
        into_ == nullptr ? std::span<const std::int64_t>() : into_->byte_strides;
    const auto plan = call::cuda_plan_cache().get(
        call::key_of(x_.layout(), axes_, out_byte_strides),
        {.pointer_alignment = call::pointer_alignment_of(x_.layout().data, out),
         .model = py::handle(hooks_.model_of())(dlpack::device_name(device))
                      .cast<std::shared_ptr<cuda::DeviceModel>>()});
    if (!allocate(*plan)) return false;
    const auto stream =
        current == nullptr ? dlpack::kLegacyStream : reinterpret_cast<std::uintptr_t>(current);
    try {
      const GilRelease release;
      call::run_and_learn(plan, x_.layout().data, out_.layout().data, device.id, stream, stream);
    } catch (const cuda::Error& error) {
      py::set_error(py::module_::import("ttlg._core").attr("CudaError"), error.what());
      throw py::error_already_set();
    }
    tell_owner();
    return true;
  }

  void tell_owner() const {
    if (is_new()) return;
    const auto tell = [&] { checked(PyObject_CallOneArg(hooks_.after_write(), given_.out)); };
    try {
      tell();
    } catch (const py::error_already_set& error) {
      // A signal handler of Python may interrupt that, but the elements have moved.
      if (error.matches(PyExc_KeyboardInterrupt)) tell();
      throw;
    }
  }

  const struct {
    PyObject* x;
    PyObject* axes;
    PyObject* out;
    PyObject* threads;
  } given_;
  const Hooks hooks_;
  int threads_ = 0;
  const dlpack::ExchangeApi* api_ = nullptr;
  ExportedTensor x_;
  ExportedTensor out_;
  const call::Layout* into_ = nullptr;  // of `out`, if the caller has given it
  std::array<int, kMaxRank> axes_buffer_;
  std::array<std::int64_t, kMaxRank> extents_;
  std::span<int> axes_;
  std::span<std::int64_t> out_shape_;
  py::object result_;
};

PyObject* transpose_tensor(PyObject*, PyObject* const* given, Py_ssize_t count) {
  return result_or_none(
      5, count, [&] { return TensorCall(given[0], given[1], given[2], given[3], given[4]).run(); });
}

PyMethodDef tensor_methods[] = {
    {"transpose_tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(transpose_tensor)),
     METH_FASTCALL,
     "transpose_tensor(x, axes, out, threads, hooks, /)\n\n"
     "ttlg.transpose on the current stream for tensors whose type has DLPack's C functions; None, "
     "with nothing written, for anything else. `hooks` are what its library tells of tensors."},
    {},
};

}  // namespace

void bind_tensor_calls(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), tensor_methods) != 0) throw py::error_already_set();
}

}  // namespace ttlg::bindings
