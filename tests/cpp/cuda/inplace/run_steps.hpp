// Carries steps and plans in place out on the host executor and compares with the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/aligned.hpp"
#include "cuda/executor.hpp"
#include "cuda/inplace/lower.hpp"
#include "cuda/lowered_plan.hpp"

namespace ttlg::test {

// Which bytes of the array a launch is to write.
using Writes = std::function<std::vector<std::uint8_t>(const cuda::Launch&)>;

// Runs launches between an array and a workspace of this many bytes, their blocks from the first to
// the last or backwards. Without `writes`, what has to be written is for the result to show.
Report run_launches(const std::vector<cuda::InplaceLaunch>& launches, AlignedBytes& array,
                    std::int64_t workspace_bytes, bool backwards = false,
                    const Writes& writes = {});

// Runs a step of one of the kernels for elements on an array that begins `misalignment` bytes
// beyond a 256-byte boundary. That the array is not the oracle's afterwards is a violation like any
// other.
Report run_step(const cuda::InplaceStep& step, std::size_t misalignment = 0,
                bool backwards = false);

// Expects both orders of the blocks to transpose.
void expect_transposed(const cuda::InplaceStep& step, std::size_t misalignment = 0);

// The same as run_step for a plan.
Report run_plan(const cuda::InplacePlan& plan, std::size_t misalignment, bool backwards);

std::string describe(const cuda::InplaceStep& step, std::size_t misalignment);

}  // namespace ttlg::test
