#include "cuda/execute.hpp"

namespace ttlg::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error("ttlg was built without CUDA; rebuild it with nvcc on the PATH to use a GPU");
}

}  // namespace

void execute(const Executable&, const std::byte*, std::byte*, int, std::uintptr_t) { refuse(); }

void synchronize(int, std::uintptr_t) { refuse(); }

DeviceModel device_model(int) { refuse(); }

}  // namespace ttlg::cuda
