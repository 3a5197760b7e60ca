// C2R and R2C on the CPU (Catanzaro et al., PPoPP 2014, Alg. 1 and section 4): gathers only, each
// pass over the matrix with the rotations next to it.
#pragma once

#include <cstddef>

#include "cpu/inplace/matrix.hpp"
#include "plan/cpu/inplace/step.hpp"

namespace ttlg::cpu {

// Carries the step out on one matrix. `workspace` has c2r_workspace(step, threads) bytes and begins
// at a line.
void transpose_c2r(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
                   const Kernels& table);

}  // namespace ttlg::cpu
