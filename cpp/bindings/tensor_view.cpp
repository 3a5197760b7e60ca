#include "bindings/tensor_view.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "bindings/dlpack.hpp"
#include "cpu/memory/result_pool.hpp"
#include "tensor/integer.hpp"
#include "tensor/problem.hpp"

namespace ttlg::bindings {
namespace {

std::string type_name(const py::handle& object) {
  return py::str(py::type::of(object).attr("__module__")).cast<std::string>() + "." +
         py::str(py::type::of(object).attr("__qualname__")).cast<std::string>();
}

TensorView view_numpy(const py::array& array, const std::string& name) {
  if (holds_references(array.dtype())) {
    throw py::type_error(name + " has dtype " + py::str(array.dtype()).cast<std::string>() +
                         ", which holds Python objects; ttlg moves fixed-size elements only: "
                         "convert it with " +
                         name + ".astype(...) first");
  }
  TensorView view;
  view.name = name;
  view.data = static_cast<std::byte*>(const_cast<void*>(array.data()));
  view.shape.assign(array.shape(), array.shape() + array.ndim());
  view.byte_strides.assign(array.strides(), array.strides() + array.ndim());
  view.itemsize = array.itemsize();
  view.readonly = !array.writeable();
  view.array = array;
  return view;
}

std::int64_t item_bytes(const dlpack::DataType& dtype, std::uint64_t flags,
                        const std::string& name) {
  const std::int64_t bits = std::int64_t{dtype.bits} * dtype.lanes;
  if (bits % 8 == 0) return bits / 8;
  if ((flags & dlpack::kFlagSubbytePadded) != 0) return ceil_div(bits, 8);
  throw py::buffer_error(name + " has elements of " + std::to_string(bits) +
                         " bits packed into bytes; ttlg moves whole bytes: unpack it first");
}

void check_reachable(const dlpack::Device& device, const std::string& name) {
  if (dlpack::is_host(device) || dlpack::is_cuda(device)) return;
  throw py::buffer_error(name + " lives on " + dlpack::device_name(device) +
                         ", which ttlg cannot reach: move it to the host first (.cpu() in "
                         "PyTorch, jax.device_get in JAX)");
}

// CuPy 14 divides strides of bytes by the size of an element as if none were negative. No memory
// has room for the positive steps that come of it.
std::int64_t byte_stride(std::int64_t elements, std::int64_t itemsize) {
  const auto count = static_cast<std::uint64_t>(elements);
  const auto size = static_cast<std::uint64_t>(itemsize);
  const std::uint64_t bytes = count * size;
  const auto stride = static_cast<std::int64_t>(bytes);
  if (elements > 0 && stride < 0 && bytes / size == count) return stride;
  return checked_mul(elements, itemsize);
}

void fill_view(TensorView& view, const dlpack::Tensor& tensor, std::uint64_t flags,
               const std::string& name) {
  view.name = name;
  view.itemsize = item_bytes(tensor.dtype, flags, name);
  view.dlpack_dtype = dlpack::dtype_name(tensor.dtype);
  view.readonly = (flags & dlpack::kFlagReadOnly) != 0;
  check_reachable(tensor.device, name);
  view.device = dlpack::device_name(tensor.device);
  if (dlpack::is_cuda(tensor.device)) view.cuda_device = tensor.device.id;
  view.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  view.byte_strides = contiguous_byte_strides(view.shape, view.itemsize);
  if (std::ranges::find(view.shape, 0) != view.shape.end()) return;
  if (tensor.data == nullptr) {
    throw py::buffer_error(name +
                           " has elements but no memory: it may be a fake or a freed array; "
                           "pass one that holds data");
  }
  view.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.strides == nullptr) return;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    // Producers write anything as the stride of an axis along which no step is taken.
    if (view.shape[axis] == 1) continue;
    view.byte_strides[axis] = byte_stride(tensor.strides[axis], view.itemsize);
  }
}

// Takes over the duty to call the tensor's deleter.
template <typename Managed>
std::shared_ptr<Managed> own(Managed* managed) {
  return std::shared_ptr<Managed>(managed, [](Managed* tensor) {
    if (tensor->deleter == nullptr) return;
    // A deleter may run Python code, which must see no pending error of ours.
    const py::error_scope pending;
    tensor->deleter(tensor);
  });
}

template <typename Managed>
std::shared_ptr<Managed> consume(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr || PyCapsule_SetName(capsule, used_name) != 0) {
    throw py::error_already_set();
  }
  return own(managed);
}

TensorView view_versioned(std::shared_ptr<dlpack::ManagedTensorVersioned> managed,
                          const std::string& name) {
  if (managed->version.major != dlpack::kMajorVersion) {
    throw py::buffer_error(name + " was exported as DLPack " +
                           std::to_string(managed->version.major) + "." +
                           std::to_string(managed->version.minor) +
                           ", but ttlg reads version 1 and the unversioned form");
  }
  TensorView view;
  fill_view(view, managed->tensor, managed->flags, name);
  view.held = std::move(managed);
  return view;
}

TensorView view_capsule(const py::object& capsule, const std::string& name) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    return view_versioned(consume<dlpack::ManagedTensorVersioned>(
                              capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned"),
                          name);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) {
    throw py::type_error(name + ".__dlpack__() returned " + type_name(capsule) +
                         ", not an unused DLPack capsule");
  }
  auto managed = consume<dlpack::ManagedTensor>(capsule.ptr(), "dltensor", "used_dltensor");
  TensorView view;
  fill_view(view, managed->tensor, 0, name);
  view.unversioned = true;
  view.held = std::move(managed);
  return view;
}

PyObject* exchange_api_name = nullptr;  // made when this module is imported

// What the very type defines under a name, or null.
py::object find_member(PyTypeObject* type, PyObject* name) {
  if (type->tp_dict == nullptr) return {};
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* member = nullptr;
  if (PyDict_GetItemRef(type->tp_dict, name, &member) < 0) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(member);
#else
  return py::reinterpret_borrow<py::object>(PyDict_GetItem(type->tp_dict, name));
#endif
}

// Exports through the type's C functions, which costs a tenth of calling __dlpack__. Null where it
// has none or they refuse, for __dlpack__ to say why. They are looked up on the very type, because
// a subclass may export in another way.
std::shared_ptr<dlpack::ManagedTensorVersioned> export_directly(PyObject* array) {
  const py::object capsule = find_member(Py_TYPE(array), exchange_api_name);
  if (!capsule || PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return nullptr;
  const auto* api =
      static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  dlpack::ManagedTensorVersioned* tensor = nullptr;
  if (api->version.major != dlpack::kMajorVersion) return nullptr;
  if (api->export_no_sync(array, &tensor) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return own(tensor);
}

// The protocol's own order: ask for version 1, retry without for producers that predate it.
// `stream` is None for the host, the only one that its arrays take.
py::object export_capsule(const py::object& array, const py::object& stream) {
  const py::object dlpack = array.attr("__dlpack__");
  py::dict keywords;
  if (!stream.is_none()) keywords["stream"] = stream;
  try {
    return dlpack(
        py::arg("max_version") = py::make_tuple(dlpack::kMajorVersion, dlpack::kMinorVersion),
        **keywords);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return dlpack(**keywords);
}

// Where the producer says that the array is; the host if it does not say.
dlpack::Device device_of(const py::object& array, const std::string& name) {
  if (!py::hasattr(array, "__dlpack_device__")) return {dlpack::kCpu, 0};
  const py::object answer = array.attr("__dlpack_device__")();
  try {
    const auto [type, id] = answer.cast<std::pair<std::int32_t, std::int32_t>>();
    return {type, id};
  } catch (const py::cast_error&) {
    throw py::type_error(name + ".__dlpack_device__() returned " +
                         py::repr(answer).cast<std::string>() + ", not a pair of integers");
  }
}

}  // namespace

std::string TensorView::dtype() const {
  if (!array) return dlpack_dtype;
  const py::object dtype = array.attr("dtype");
  // Names alone do not tell structures, byte orders or time units apart.
  const bool plain = dtype.attr("isnative").cast<bool>() && dtype.attr("names").is_none();
  const std::string text = py::str(plain ? dtype.attr("name") : py::str(dtype)).cast<std::string>();
  return text;
}

bool holds_references(const py::dtype& dtype) {
  constexpr std::uint64_t kItemRefcount = 1;  // NPY_ITEM_REFCOUNT
  return (dtype.flags() & kItemRefcount) != 0;
}

TensorView make_view(const py::object& array, const std::string& name, std::uintptr_t stream,
                     bool ordered) {
  if (py::isinstance<py::array>(array)) return view_numpy(array.cast<py::array>(), name);
  TensorView view;
  if (auto managed = export_directly(array.ptr())) {
    view = view_versioned(std::move(managed), name);
    if (view.on_host()) return view;
    // This export orders nothing on any stream.
    if (ordered) {
      view.stream = stream;
      return view;
    }
  }
  if (!py::hasattr(array, "__dlpack__")) {
    throw py::type_error(name +
                         " must be an array (NumPy, PyTorch, JAX, CuPy or anything with "
                         "__dlpack__), not " +
                         type_name(array) + "; make one with numpy.asarray(" + name + ")");
  }
  const dlpack::Device device = device_of(array, name);
  check_reachable(device, name);
  py::object asked = py::none();
  if (dlpack::is_cuda(device)) {
    asked = ordered ? py::cast(dlpack::kNoSynchronization) : py::cast(stream);
  }
  view = view_capsule(export_capsule(array, asked), name);
  if (view.on_host()) return view;
  if (!dlpack::is_cuda(device)) {
    throw py::buffer_error(name + " lives on " + view.device +
                           ", but its __dlpack_device__() does not say so, and without that its "
                           "work cannot be ordered on a stream");
  }
  view.stream = stream;
  return view;
}

bool same_dtype(const TensorView& x, const TensorView& y) {
  if (x.array && y.array) return x.array.attr("dtype").equal(y.array.attr("dtype"));
  return x.dtype() == y.dtype();
}

void bind_tensor_view(py::module_& module) {
  exchange_api_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
  if (exchange_api_name == nullptr) throw py::error_already_set();
  py::class_<TensorView>(module, "TensorView",
                         "A borrowed view of an array: where its elements lie in memory.")
      .def_property_readonly("shape",
                             [](const TensorView& view) { return py::tuple(py::cast(view.shape)); })
      .def_property_readonly(
          "byte_strides",
          [](const TensorView& view) { return py::tuple(py::cast(view.byte_strides)); })
      .def_readonly("name", &TensorView::name, "What messages call the array.")
      .def_readonly("itemsize", &TensorView::itemsize)
      .def_property_readonly("dtype", &TensorView::dtype)
      .def_readonly("device", &TensorView::device)
      .def_property_readonly("on_host", &TensorView::on_host)
      .def_readonly("stream", &TensorView::stream)
      .def_readonly("owner_stream", &TensorView::owner_stream)
      .def_readonly("readonly", &TensorView::readonly)
      .def_readonly("unversioned", &TensorView::unversioned)
      .def(
          "freeze", [](TensorView& view) { view.readonly = true; },
          "Count the array as read-only, whether or not its library says that it is.")
      .def(
          "prepare_new_memory",
          [](const TensorView& view) {
            const std::int64_t bytes = std::accumulate(view.shape.begin(), view.shape.end(),
                                                       view.itemsize, std::multiplies<>());
            cpu::prepare_new_memory(view.data, static_cast<std::size_t>(bytes));
          },
          "Ask for huge pages for an array without gaps that has just been allocated.")
      .def(
          "set_owner_stream",
          [](TensorView& view, std::uintptr_t stream) { view.owner_stream = stream; },
          py::arg("stream"),
          "Name the stream that its library goes on with the array on, which is then ordered after "
          "what is written.")
      .def_property_readonly("data_ptr", [](const TensorView& view) {
        return reinterpret_cast<std::uintptr_t>(view.data);
      });
  // Separate from view_on_stream, because the arguments of a call take time that shows on small
  // arrays.
  module.def(
      "view",
      [](const py::object& array, const std::string& name) {
        return make_view(array, name, dlpack::kLegacyStream, false);
      },
      py::arg("array"), py::arg("name"),
      "Look at an array through NumPy's interface or DLPack without copying it.");
  module.def("view_on_stream", &make_view, py::arg("array"), py::arg("name"), py::arg("stream"),
             py::arg("ordered"),
             "The same; what is on a CUDA device is ordered on the stream, or has been.");
}

}  // namespace ttlg::bindings
