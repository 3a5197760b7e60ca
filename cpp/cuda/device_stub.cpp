#include "cuda/device.hpp"

namespace ttlg::cuda {

Config query() {
  return {.status = "built without CUDA; rebuild with nvcc on the PATH to use a GPU"};
}

}  // namespace ttlg::cuda
