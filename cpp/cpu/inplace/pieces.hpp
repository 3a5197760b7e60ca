// Long matrices of few rows or columns in place, piece by piece (arrays of structures and
// structures of arrays among them).
#pragma once

#include <cstddef>

#include "cpu/kernels.hpp"
#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// All matrices of the step. `into_buffer` is for those of its LongMatrix::inside.
void transpose_pieces(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                      std::byte* workspace, int threads, const Kernels& table);

}  // namespace ttlg::cpu
