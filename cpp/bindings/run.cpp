#include "bindings/run.hpp"

#include <pthread.h>

#include <chrono>
#include <new>
#include <utility>

#include "bindings/gil_release.hpp"
#include "cpu/execute.hpp"
#include "cpu/this_machine.hpp"
#include "cuda/execute.hpp"
#include "plan/cpu/model/count_terms.hpp"

namespace ttlg::bindings {
namespace {

// Below this, releasing the GIL costs more than holding it.
constexpr std::int64_t kReleaseGilBytes = 32 << 10;
constexpr std::size_t kDefaultCapacity = 4096;

// XLA's threads and those that predict times use the caches without the GIL, so a thread that forks
// may not be the only one to.
template <typename Kept, typename... Arguments>
Kept& keep_across_forks(const Arguments&... arguments) {
  // Never destroyed: a daemon thread may plan while the process ends.
  static Kept& kept = *new Kept(arguments...);
  const auto lock = [] { kept.lock(); };
  const auto unlock = [] { kept.unlock(); };
  const auto unlock_in_child = [] {
    if constexpr (requires { kept.unlock_in_child(); }) {
      kept.unlock_in_child();
    } else {
      kept.unlock();
    }
  };
  if (pthread_atfork(lock, unlock, unlock_in_child) != 0) throw std::bad_alloc();
  return kept;
}

template <typename Cache>
Cache& make_cache(const typename Cache::Planning& planning) {
  return keep_across_forks<Cache>(planning, kDefaultCapacity);
}

}  // namespace

cpu::PlanCache& cpu_plan_cache() {
  static cpu::PlanCache& cache =
      make_cache<cpu::PlanCache>({cpu::this_machine, cpu::this_machine_with_threads});
  return cache;
}

cuda::PlanCache& cuda_plan_cache() {
  static cuda::PlanCache& cache = make_cache<cuda::PlanCache>({});
  return cache;
}

cpu::InplacePlanCache& inplace_plan_cache() {
  static cpu::InplacePlanCache& cache = make_cache<cpu::InplacePlanCache>({cpu::this_machine});
  return cache;
}

cuda::InplacePlanCache& cuda_inplace_plan_cache() {
  static cuda::InplacePlanCache& cache = make_cache<cuda::InplacePlanCache>({});
  return cache;
}

std::shared_ptr<const cpu::Machine> machine_or_this(
    const std::shared_ptr<const cpu::Machine>& machine) {
  return machine ? machine : cpu::this_machine();
}

double planned_seconds(const cpu::Plan& plan, bool fresh) {
  const double planned = fresh ? plan.fresh_seconds : plan.warm_seconds;
  return planned > 0 ? planned : predicted_seconds(plan, fresh);
}

double predicted_seconds(const cpu::Plan& plan, bool fresh) {
  const auto machine = machine_or_this(plan.machine);
  const cpu::Terms terms = count_terms(fold_run(plan.problem), plan.parameters, *machine, fresh);
  return predicted_seconds(terms, machine->model);
}

void run(const cpu::Plan& plan, const std::byte* in, std::byte* out) {
  if (plan.problem.bytes() < kReleaseGilBytes) {
    cpu::execute(plan, in, out);
  } else {
    const GilRelease release;
    cpu::execute(plan, in, out);
  }
}

cpu::Learner& cpu_learner() {
  static cpu::Learner& learner = keep_across_forks<cpu::Learner>();
  return learner;
}

cuda::Learner& cuda_learner() {
  static cuda::Learner& learner = keep_across_forks<cuda::Learner>();
  return learner;
}

void run_and_learn(const std::shared_ptr<const cpu::Plan>& plan, const std::byte* in,
                   std::byte* out, bool is_new) {
  if (!is_learning() || !cpu::Learner::can_learn(*plan)) return run(*plan, in, out);
  const cpu::Learner::Call call = cpu_learner().begin(plan);
  const auto start = std::chrono::steady_clock::now();
  run(*call.plan, in, out);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  auto kept = cpu_learner().end(*plan, call, taken.count(), is_new);
  if (kept == nullptr) return;
  cpu_plan_cache().put(std::move(kept), {.threads = plan->thread_limit, .learns = true});
}

void run_and_learn(const std::shared_ptr<const cuda::Executable>& plan, const std::byte* in,
                   std::byte* out, int device, std::uintptr_t stream, std::uintptr_t out_stream) {
  auto kept = cuda::execute_and_learn(cuda_learner(), plan, in, out, device, stream, out_stream);
  if (kept == nullptr) return;
  const cuda::Planning::Choice choice{
      .pointer_alignment = kept->pointer_alignment, .model = kept->model, .learns = true};
  cuda_plan_cache().put(std::move(kept), choice);
}

}  // namespace ttlg::bindings
