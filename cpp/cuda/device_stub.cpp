#include "cuda/device.hpp"

namespace ttlg::cuda {

Config query() {
  Config config;
  config.status = "built without CUDA; rebuild with nvcc on the PATH to use a GPU";
  return config;
}

}  // namespace ttlg::cuda
