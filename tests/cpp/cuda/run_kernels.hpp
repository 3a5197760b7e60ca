// Carries CUDA plans out on the host executor and compares with the oracle.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cuda/executor.hpp"
#include "cuda/lowered_plan.hpp"
#include "requests.hpp"

namespace ttlg::test {

// How many bytes beyond a 256-byte boundary element (0, ..., 0) lies.
struct Misalignments {
  std::size_t in = 0;
  std::size_t out = 0;
};

// The largest power of two, up to 256, that divides both.
std::int64_t alignment_of(const Misalignments& misalignments);

// The kernel's body with its arguments bound. The launch must outlive it.
Kernel kernel_of(const cuda::Launch& launch, const cuda::AnyGrid& grid);

// Runs the plan's only launch. That the output is not the oracle's, in its gaps too, is a violation
// like any other.
Report run_plan(const cuda::Plan& plan, const Misalignments& misalignments);

// Expects a run without violations, and says what it cost.
Counts expect_moved(const cuda::Plan& plan, const Misalignments& misalignments = {});

// Any slice and coarsening that the schema takes for the request, or nothing if none was found.
std::optional<cuda::Plan> random_plan(Random& random, const Request& request,
                                      std::int64_t alignment, cuda::Schema schema);

std::string describe(const cuda::Plan& plan, const Misalignments& misalignments);

}  // namespace ttlg::test
