#include "bindings/dlpack.hpp"

#include <array>
#include <string_view>

namespace ttlg::dlpack {

std::string dtype_name(const DataType& dtype) {
  static constexpr std::array<std::string_view, 18> kNames{"int",
                                                           "uint",
                                                           "float",
                                                           "opaque",
                                                           "bfloat",
                                                           "complex",
                                                           "bool",
                                                           "float8_e3m4",
                                                           "float8_e4m3",
                                                           "float8_e4m3b11fnuz",
                                                           "float8_e4m3fn",
                                                           "float8_e4m3fnuz",
                                                           "float8_e5m2",
                                                           "float8_e5m2fnuz",
                                                           "float8_e8m0fnu",
                                                           "float6_e2m3fn",
                                                           "float6_e3m2fn",
                                                           "float4_e2m1fn"};
  std::string name = dtype.code < kNames.size() ? std::string(kNames[dtype.code])
                                                : "code" + std::to_string(dtype.code);
  if (dtype.code < 6) name += std::to_string(dtype.bits);
  if (dtype.lanes != 1) name += "x" + std::to_string(dtype.lanes);
  return name;
}

std::string device_name(const Device& device) {
  switch (device.type) {
    case kCpu:
    case kCudaHost:
      return "cpu";
    case kCuda:
    case kCudaManaged:
      return "cuda:" + std::to_string(device.id);
    default:
      return "DLPack device type " + std::to_string(device.type);
  }
}

}  // namespace ttlg::dlpack
