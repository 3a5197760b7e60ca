#include "call/caches.hpp"

#include <pthread.h>

#include <new>

namespace ttlg::call {
namespace {

constexpr std::size_t kDefaultCapacity = 4096;

// XLA's threads and those that predict times use the caches without Python's lock, so a thread that
// forks may not be the only one to.
template <typename Kept, typename... Arguments>
Kept& keep_across_forks(const Arguments&... arguments) {
  static Kept& kept = [&]() -> Kept& {
    // Never destroyed: a daemon thread may plan while the process ends.
    Kept& made = *new Kept(arguments...);
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
    return made;
  }();
  return kept;
}

template <typename Cache>
Cache& keep_cache(const typename Cache::Planning& planning) {
  return keep_across_forks<Cache>(planning, kDefaultCapacity);
}

// Calls visit(cache) for the planner cache of each kind of plan.
template <typename Visit>
void for_each_cache(const Visit& visit) {
  visit(cpu_plan_cache());
  visit(cuda_plan_cache());
  visit(cpu_inplace_plan_cache());
  visit(cuda_inplace_plan_cache());
}

}  // namespace

cpu::PlanCache& cpu_plan_cache() {
  static cpu::PlanCache& cache =
      keep_cache<cpu::PlanCache>({cpu::this_machine, cpu::this_machine_with_threads});
  return cache;
}

cuda::PlanCache& cuda_plan_cache() { return keep_cache<cuda::PlanCache>({}); }

cpu::InplacePlanCache& cpu_inplace_plan_cache() {
  return keep_cache<cpu::InplacePlanCache>({cpu::this_machine});
}

cuda::InplacePlanCache& cuda_inplace_plan_cache() { return keep_cache<cuda::InplacePlanCache>({}); }

cpu::Learner& cpu_learner() { return keep_across_forks<cpu::Learner>(); }

cuda::Learner& cuda_learner() { return keep_across_forks<cuda::Learner>(); }

CacheInfo cache_info() {
  CacheInfo sum;
  for_each_cache([&](const auto& cache) {
    const CacheInfo info = cache.info();
    sum = {sum.hits + info.hits, sum.misses + info.misses, info.capacity, sum.size + info.size};
  });
  return sum;
}

void clear_caches() {
  for_each_cache([](auto& cache) { cache.clear(); });
  cpu_learner().clear();
  cuda_learner().clear();
  cpu::set_time_model_correction({});
}

void resize_caches(std::size_t capacity) {
  for_each_cache([&](auto& cache) { cache.resize(capacity); });
  cpu_learner().clear();
  cuda_learner().clear();
}

}  // namespace ttlg::call
