// Carries steps and plans in place out on the host executor and compares with the oracle.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/lowered_plan.hpp"
#include "cuda/permuted.hpp"

namespace ttlg::test {

Source source_of(const cuda::InplaceStep& step);

// Runs a step of one of the kernels for elements on an array that begins `misalignment` bytes
// beyond a 256-byte boundary.
Report run_step(const cuda::InplaceStep& step, std::int64_t misalignment = 0,
                bool backwards = false);

// Expects both orders of the blocks to transpose.
void expect_transposed(const cuda::InplaceStep& step, std::int64_t misalignment = 0);
void expect_transposed(const cuda::InplacePlan& plan, std::int64_t misalignment = 0);

std::string describe(const cuda::InplaceStep& step, std::int64_t misalignment);

}  // namespace ttlg::test
