// Square matrices in place: pairs of tiles change places (Gorawski and Lorek, Listing 2), in
// the banded order V1B.
#pragma once

#include <cstddef>

#include "cpu/kernels.hpp"
#include "plan/cpu/inplace/step.hpp"

namespace ttlg::cpu {

// All matrices of the step.
void transpose_square(const InplaceStep& step, std::byte* data, int threads, const Kernels& table);

}  // namespace ttlg::cpu
