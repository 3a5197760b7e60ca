#include "bindings/run.hpp"

#include <pthread.h>
#include <pybind11/pybind11.h>

#include <new>

#include "cpu/execute.hpp"
#include "cpu/this_machine.hpp"

namespace ttlg::bindings {
namespace {

// Below this, releasing the GIL costs more than holding it.
constexpr std::int64_t kReleaseGilBytes = 32 << 10;
constexpr std::size_t kDefaultCapacity = 4096;

// XLA's threads use the cache without the GIL, so a thread that forks may not be the only one to.
cpu::PlanCache& make_cpu_plan_cache() {
  static cpu::PlanCache cache({cpu::this_machine}, kDefaultCapacity);
  const auto lock = [] { cache.lock(); };
  const auto unlock = [] { cache.unlock(); };
  if (pthread_atfork(lock, unlock, unlock) != 0) throw std::bad_alloc();
  return cache;
}

}  // namespace

cpu::PlanCache& cpu_plan_cache() {
  static cpu::PlanCache& cache = make_cpu_plan_cache();
  return cache;
}

cuda::PlanCache& cuda_plan_cache() {
  static cuda::PlanCache cache({}, kDefaultCapacity);
  return cache;
}

void run(const cpu::Plan& plan, const std::byte* in, std::byte* out) {
  if (plan.problem.bytes() < kReleaseGilBytes) {
    cpu::execute(plan, in, out);
  } else {
    const pybind11::gil_scoped_release release;
    cpu::execute(plan, in, out);
  }
}

}  // namespace ttlg::bindings
