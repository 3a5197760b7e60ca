// Carrying plans out, what planners learn from that, and how long it takes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "call/caches.hpp"
#include "call/layout.hpp"
#include "cpu/execute.hpp"
#include "cpu/inplace/execute.hpp"
#include "cuda/execute.hpp"
#include "plan/cpu/memory_units.hpp"

namespace ttlg::call {

// A Release releases, while it lives, a lock that its caller holds and others wait for, such as
// Python's. This is the one of callers without a lock.
struct NoRelease {};

// Below this, releasing a lock costs more than holding it.
inline constexpr std::int64_t kMinReleaseBytes = 32 << 10;

// `values` are those of the plan's element map.
template <typename Release>
void run(const cpu::Plan& plan, const std::byte* in, std::byte* out,
         const cpu::MapValues& values = {}) {
  const auto execute = [&] { cpu::execute(plan, in, out, cpu::kernels(), {}, values); };
  if (plan.problem.max_bytes() < kMinReleaseBytes) {
    execute();
  } else {
    [[maybe_unused]] const Release release{};
    execute();
  }
}

// Runs a plan from the cache that no kernel was forced on, or another that is being tried for its
// layout: the fastest replaces the plan in the cache. `is_new`: the system may have to give the
// pages of `out` first.
template <typename Release>
void run_and_learn(const std::shared_ptr<const cpu::Plan>& plan, const std::byte* in,
                   std::byte* out, bool is_new, const cpu::MapValues& values = {}) {
  if (!is_learning() || !cpu::Learner::can_learn(*plan)) {
    return run<Release>(*plan, in, out, values);
  }
  const cpu::Learner::Call call = cpu_learner().begin(plan);
  const auto start = std::chrono::steady_clock::now();
  run<Release>(*call.plan, in, out, values);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  auto kept = cpu_learner().end(*plan, call, taken.count(), is_new);
  if (kept == nullptr) return;
  cpu_plan_cache().put(std::move(kept), {.threads = plan->thread_limit, .learns = true});
}

// Learns on a CUDA device, where calls go on as cuda::execute does. Call without such a lock.
void run_and_learn(const std::shared_ptr<const cuda::LoweredPlan>& plan, const std::byte* in,
                   std::byte* out, int device, std::uintptr_t stream, std::uintptr_t out_stream);

// Calls by plans that the planner caches have, from which the planners may learn.
struct CpuCall {
  std::shared_ptr<const cpu::Plan> plan;
};
struct CudaCall {
  std::shared_ptr<const cuda::LoweredPlan> plan;
};

// Transposes in place, in a workspace that is allocated for the call. All that can fail is done
// before the first element moves.
template <typename Release>
Fault run_inplace(const cpu::InplacePlan& plan, std::byte* data) {
  const std::int64_t bytes = cpu::whole_lines(plan.workspace_bytes);
  const std::unique_ptr<std::byte, decltype(&std::free)> workspace(
      static_cast<std::byte*>(std::aligned_alloc(cpu::kLineBytes, static_cast<std::size_t>(bytes))),
      &std::free);
  if (bytes > 0 && !workspace) return {Fault::workspace, bytes};
  [[maybe_unused]] const Release release{};
  execute_inplace(plan, data, workspace.get());
  return {};
}

// Transposes in place on a CUDA device, in a workspace of the caller: null where a plan needs none.
template <typename Release>
Fault run_inplace(const cuda::LoweredInplacePlan& plan, std::byte* data, std::byte* workspace,
                  int device, std::uintptr_t stream) {
  if (plan.workspace_bytes > 0 && workspace == nullptr) {
    return {Fault::workspace, plan.workspace_bytes};
  }
  [[maybe_unused]] const Release release{};
  cuda::execute_inplace(plan, data, workspace, device, stream);
  return {};
}

// The machine that a plan was made for where a caller named its time model, else this one.
std::shared_ptr<const cpu::Machine> machine_or_this(
    const std::shared_ptr<const cpu::Machine>& machine);

// What a call takes by the time model of that machine as it is now; `fresh`: into a new array.
double predicted_seconds(const cpu::Plan& plan, bool fresh);

// What it takes by the model as it was when the planner made the plan, so that a repeated question
// has one answer while calls correct the model; by the model of now where no planner made it.
double planned_seconds(const cpu::Plan& plan, bool fresh);

}  // namespace ttlg::call
