// Carries steps in place out on the host executor and compares with the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/executor.hpp"
#include "cuda/inplace/lower.hpp"

namespace ttlg::test {

// Runs all launches of a step on an array that begins so many bytes beyond a 256-byte boundary,
// their blocks from the first to the last or backwards. That the array is not the oracle's
// afterwards is a violation like any other.
Report run_step(const cuda::InplaceStep& step, std::size_t misalignment = 0,
                bool backwards = false);

std::string describe(const cuda::InplaceStep& step, std::size_t misalignment);

}  // namespace ttlg::test
