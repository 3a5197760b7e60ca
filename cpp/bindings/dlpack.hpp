// The DLPack ABI, versions 0.x (unversioned capsule) and 1.x with the exchange functions of 1.3, as
// its specification lays it out.
#pragma once

#include <cstdint>
#include <string>

namespace ttlg::dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
inline constexpr std::uint32_t kMinorVersion = 1;

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };

// DLPack names a CUDA stream by its handle; 1 is the legacy default stream, which CUDA itself takes
// as a handle too, and -1 asks the producer not to synchronise.
inline constexpr std::uintptr_t kLegacyStream = 1;
inline constexpr int kNoSynchronization = -1;

inline constexpr std::uint64_t kFlagReadOnly = 1;
inline constexpr std::uint64_t kFlagSubbytePadded = 4;

struct Device {
  std::int32_t type;
  std::int32_t id;

  bool operator==(const Device&) const = default;
};

inline constexpr std::uint8_t kComplex = 5;  // of the codes of data types

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;

  bool operator==(const DataType&) const = default;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null means compact and row-major
  std::uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* manager_context;
  void (*deleter)(ManagedTensor* self);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ManagedTensorVersioned {
  Version version;
  void* manager_context;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

// The functions that a library offers to compiled callers, in a capsule named "dlpack_exchange_api"
// that is the attribute __dlpack_c_exchange_api__ of its array's type. Anything but 0 that they
// return means that a Python error is set.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  void (*allocate)();
  // Exports an array without waiting for the work on its device.
  int (*export_no_sync)(void* array, ManagedTensorVersioned** tensor);
  void (*import_no_sync)();
  void (*borrow_no_sync)();
  // Tells the stream that the library uses on a device at this moment.
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

// "float32", "bfloat16"; equal for equal dtypes of any two libraries.
std::string dtype_name(const DataType& dtype);

// "cpu" or "cuda:1", or the number of a device that is neither.
std::string device_name(const Device& device);

inline bool is_host(const Device& device) {
  return device.type == kCpu || device.type == kCudaHost;
}

inline bool is_cuda(const Device& device) {
  return device.type == kCuda || device.type == kCudaManaged;
}

}  // namespace ttlg::dlpack
