#include "cuda/execute.hpp"

namespace ttlg::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error("ttlg was built without CUDA; rebuild it with nvcc on the PATH to use a GPU");
}

}  // namespace

// Refuses addresses first, as the executor does.
void execute(const Executable& plan, const std::byte* in, std::byte* out, int, std::uintptr_t,
             std::uintptr_t, LaunchTimer*) {
  plan.bind(in, out);
  refuse();
}

std::shared_ptr<const Executable> execute_and_learn(Learner&,
                                                    const std::shared_ptr<const Executable>& chosen,
                                                    const std::byte* in, std::byte* out, int device,
                                                    std::uintptr_t stream,
                                                    std::uintptr_t out_stream) {
  execute(*chosen, in, out, device, stream, out_stream);
  return nullptr;
}

void execute_inplace(const InplaceExecutable&, std::byte*, std::byte*, int, std::uintptr_t) {
  refuse();
}

void synchronize(int, std::uintptr_t) { refuse(); }

DeviceModel device_model(int) { refuse(); }

}  // namespace ttlg::cuda
