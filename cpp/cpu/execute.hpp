// The executor: carries a plan out between two pointers. It allocates nothing and decides nothing.
#pragma once

#include <cstddef>
#include <span>

#include "cpu/convert.hpp"
#include "cpu/simd_level.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// `in` and `out` point at element (0, ..., 0) of the request's arrays, which must not overlap.
// `read_next`, what the caller reads afterwards, is prefetched meanwhile; for plans of one thread.
// `values` are those of the plan's element map.
void execute(const Plan& plan, const std::byte* in, std::byte* out,
             const Kernels& table = kernels(), std::span<const std::byte> read_next = {},
             const MapValues& values = {});

// The reference implementation (GenTT, Alg. 1): one element at a time, straight from the plan's
// request, sharing nothing with the normal form or the kernels.
void execute_reference(const PlanBase& plan, const std::byte* in, std::byte* out);

}  // namespace ttlg::cpu
