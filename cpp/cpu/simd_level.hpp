// SIMD levels: which were built, which this processor has, which one is used.
#pragma once

#include <span>

#include "cpu/kernels.hpp"

namespace ttlg::cpu {

// All that were built, the narrowest first.
std::span<const Kernels* const> built_levels();

// Those of them that this processor has: the first few.
std::span<const Kernels* const> usable_levels();

// The widest usable one, capped by the environment variable TTLG_SIMD_LEVEL when it is first asked
// for. Throws std::invalid_argument, with the valid names, for an unknown value.
const Kernels& kernels();

}  // namespace ttlg::cpu
