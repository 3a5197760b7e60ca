// What all entry points of the extension share: the planner caches, predicting and executing a
// plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/learner.hpp"
#include "cpu/planning.hpp"
#include "cuda/learner.hpp"
#include "cuda/planning.hpp"

namespace ttlg::bindings {

cpu::PlanCache& cpu_plan_cache();
cuda::PlanCache& cuda_plan_cache();
cpu::InplacePlanCache& inplace_plan_cache();
cuda::InplacePlanCache& cuda_inplace_plan_cache();

// The machine that a plan was made for where a caller named its time model, else this one.
std::shared_ptr<const cpu::Machine> machine_or_this(
    const std::shared_ptr<const cpu::Machine>& machine);

// What a call takes by the time model of that machine as it is now; `fresh`: into a new array.
double predicted_seconds(const cpu::Plan& plan, bool fresh);

// The same as it was when the planner made the plan, so that a repeated question has one answer
// while calls correct the model; by the model of now where no planner made it.
double planned_seconds(const cpu::Plan& plan, bool fresh);

// Call with the GIL held; it is released while much data moves.
void run(const cpu::Plan& plan, const std::byte* in, std::byte* out);

// The same by a plan from the cache that no kernel was forced on, or by another that is being tried
// for its layout: the fastest replaces the plan in the cache. `is_new`: the system may have to give
// the pages of `out` first.
void run_and_learn(const std::shared_ptr<const cpu::Plan>& plan, const std::byte* in,
                   std::byte* out, bool is_new);

// A call by a plan that the planner cache has, from which the planner may learn.
struct CpuCall {
  std::shared_ptr<const cpu::Plan> plan;
};

cpu::Learner& cpu_learner();

// The same on a CUDA device, where calls go on as cuda::execute does. Call without the GIL.
void run_and_learn(const std::shared_ptr<const cuda::Executable>& plan, const std::byte* in,
                   std::byte* out, int device, std::uintptr_t stream, std::uintptr_t out_stream);

struct CudaCall {
  std::shared_ptr<const cuda::Executable> plan;
};

cuda::Learner& cuda_learner();

}  // namespace ttlg::bindings
