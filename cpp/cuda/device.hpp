// What CUDA this library was built with and what it finds at run time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ttlg::cuda {

struct DeviceInfo {
  std::string name;
  std::string compute_capability;  // "9.0"
  std::size_t memory_bytes;
  int multiprocessors;
};

struct Config {
  bool built = false;
  std::string toolkit;        // "13.0"
  std::string architectures;  // as given to the compiler
  std::string driver;         // the CUDA version that the driver supports; empty without one
  std::vector<DeviceInfo> devices;
  std::string status;  // why there are no devices, or "ok"
};

// Asks the driver again at every call and never throws: no GPU is a finding, not a failure.
Config query();

}  // namespace ttlg::cuda
