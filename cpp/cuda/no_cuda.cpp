// What the CUDA engine does where it was not built: it says so.
#include <utility>

#include "cuda/device.hpp"
#include "cuda/execute.hpp"
#include "cuda/launch_timer.hpp"
#include "cuda/measurement.hpp"
#include "cuda/sparse/transpose.hpp"

namespace ttlg::cuda {
namespace {

[[noreturn]] void refuse() {
  throw Error("ttlg was built without CUDA; rebuild it with nvcc on the PATH to use a GPU");
}

}  // namespace

Config query() {
  Config config;
  config.status = "built without CUDA; rebuild with nvcc on the PATH to use a GPU";
  return config;
}

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

// There is nothing to time.
bool LaunchTimer::take() { return !std::exchange(is_taken_, true); }

LaunchTimer::Progress LaunchTimer::poll() { return Progress::idle; }

bool LaunchTimer::arm() { return false; }

void LaunchTimer::drop_events() {}

void LaunchTimer::start(CUstream_st*) {}

void LaunchTimer::stop(CUstream_st*) {}

void LaunchTimer::finish() {}

struct Measurement::Memory {};

Measurement::Measurement(const Executable&, int device) : device_(device), timer_(device) {
  refuse();
}
Measurement::Measurement(const InplaceExecutable&, std::int64_t, int device)
    : device_(device), timer_(device) {
  refuse();
}
Measurement::~Measurement() = default;

double Measurement::seconds(const Executable&, int) { return 0; }
double Measurement::seconds(const InplaceExecutable&, int) { return 0; }

namespace sparse {

std::size_t workspace_bytes(const SparseProblem&, int) { refuse(); }

void transpose(const SparseProblem&, const SparsePointers&, std::byte*, std::size_t, int,
               std::uintptr_t) {
  refuse();
}

}  // namespace sparse
}  // namespace ttlg::cuda
