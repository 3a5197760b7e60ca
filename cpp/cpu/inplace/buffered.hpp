// Matrices that fit the workspace: there out of place, and back.
#pragma once

#include <cstddef>

#include "cpu/kernels.hpp"
#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// All matrices of the step; `into_buffer` is the plan of one.
void transpose_buffered(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                        std::byte* workspace, int threads, const Kernels& table);

}  // namespace ttlg::cpu
