// The executor of plans in place.
#pragma once

#include <cstddef>

#include "cpu/simd_level.hpp"
#include "plan/cpu/inplace/plan.hpp"

namespace ttlg::cpu {

// `data` points at element (0, ..., 0); `workspace` begins at a line and has plan.workspace_bytes.
// Nothing is allocated and nothing can fail once elements move.
void execute_inplace(const InplacePlan& plan, std::byte* data, std::byte* workspace,
                     const Kernels& table = kernels());

}  // namespace ttlg::cpu
