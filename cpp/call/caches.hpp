// The plans that a process keeps, and what its calls have taught, for all callers in it.
#pragma once

#include <cstddef>

#include "cpu/learner.hpp"
#include "cpu/planning.hpp"
#include "cuda/learner.hpp"
#include "cuda/planning.hpp"

namespace ttlg::call {

cpu::PlanCache& cpu_plan_cache();
cuda::PlanCache& cuda_plan_cache();
cpu::InplacePlanCache& cpu_inplace_plan_cache();
cuda::InplacePlanCache& cuda_inplace_plan_cache();

cpu::Learner& cpu_learner();
cuda::Learner& cuda_learner();

// Of all caches, of which each has the capacity.
CacheInfo cache_info();

// Forgets all plans and counts, and what calls have taught.
void clear_caches();

// Forgets all plans, counts and trials; each cache holds this many plans from now on.
void resize_caches(std::size_t capacity);

}  // namespace ttlg::call
