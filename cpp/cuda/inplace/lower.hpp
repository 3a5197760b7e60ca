// From steps in place to kernels' parameters: pure host code.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/launch.hpp"
#include "plan/cuda/inplace/step.hpp"

namespace ttlg::cuda {

// The launches of a step on an array at this address, which may be any.
std::vector<Launch> lower_inplace(const InplaceStep& step, std::int64_t address);

}  // namespace ttlg::cuda
