#include <ATen/dlpack.h>  // of PyTorch

#include "bindings/dlpack.hpp"
#include "same_layout.hpp"

using namespace ttlg::dlpack;

static_assert(kMajorVersion == DLPACK_MAJOR_VERSION);
static_assert(kMinorVersion <= DLPACK_MINOR_VERSION);
static_assert(kCpu == kDLCPU && kCuda == kDLCUDA && kCudaHost == kDLCUDAHost);
static_assert(std::int32_t{kCudaManaged} == kDLCUDAManaged);
static_assert(kFlagReadOnly == DLPACK_FLAG_BITMASK_READ_ONLY);
static_assert(kFlagSubbytePadded == DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);

SAME_MEMBER(Device, type, DLDevice, device_type);
SAME_MEMBER(Device, id, DLDevice, device_id);
static_assert(sizeof(Device) == sizeof(DLDevice));

SAME_MEMBER(DataType, code, DLDataType, code);
SAME_MEMBER(DataType, bits, DLDataType, bits);
SAME_MEMBER(DataType, lanes, DLDataType, lanes);
static_assert(sizeof(DataType) == sizeof(DLDataType));

SAME_MEMBER(Tensor, data, DLTensor, data);
SAME_MEMBER(Tensor, device, DLTensor, device);
SAME_MEMBER(Tensor, ndim, DLTensor, ndim);
SAME_MEMBER(Tensor, dtype, DLTensor, dtype);
SAME_MEMBER(Tensor, shape, DLTensor, shape);
SAME_MEMBER(Tensor, strides, DLTensor, strides);
SAME_MEMBER(Tensor, byte_offset, DLTensor, byte_offset);
static_assert(sizeof(Tensor) == sizeof(DLTensor));

SAME_MEMBER(ManagedTensor, tensor, DLManagedTensor, dl_tensor);
SAME_MEMBER(ManagedTensor, manager_context, DLManagedTensor, manager_ctx);
SAME_MEMBER(ManagedTensor, deleter, DLManagedTensor, deleter);
static_assert(sizeof(ManagedTensor) == sizeof(DLManagedTensor));

SAME_MEMBER(Version, major, DLPackVersion, major);
SAME_MEMBER(Version, minor, DLPackVersion, minor);
static_assert(sizeof(Version) == sizeof(DLPackVersion));

SAME_MEMBER(ManagedTensorVersioned, version, DLManagedTensorVersioned, version);
SAME_MEMBER(ManagedTensorVersioned, manager_context, DLManagedTensorVersioned, manager_ctx);
SAME_MEMBER(ManagedTensorVersioned, deleter, DLManagedTensorVersioned, deleter);
SAME_MEMBER(ManagedTensorVersioned, flags, DLManagedTensorVersioned, flags);
SAME_MEMBER(ManagedTensorVersioned, tensor, DLManagedTensorVersioned, dl_tensor);
static_assert(sizeof(ManagedTensorVersioned) == sizeof(DLManagedTensorVersioned));

SAME_MEMBER(ExchangeApi, version, DLPackExchangeAPI, header.version);
SAME_MEMBER(ExchangeApi, previous, DLPackExchangeAPI, header.prev_api);
SAME_MEMBER(ExchangeApi, allocate, DLPackExchangeAPI, managed_tensor_allocator);
SAME_MEMBER(ExchangeApi, export_no_sync, DLPackExchangeAPI, managed_tensor_from_py_object_no_sync);
