// Carries CUDA plans out on the host executor and compares with the oracle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/lowered_plan.hpp"
#include "cuda/permuted.hpp"
#include "requests.hpp"

namespace ttlg::test {

// How many bytes beyond a 256-byte boundary element (0, ..., 0) lies.
struct Misalignments {
  std::int64_t in = 0;
  std::int64_t out = 0;
};

// The largest power of two, up to 256, that divides both.
std::int64_t alignment_of(const Misalignments& misalignments);

// The launch at such addresses, which are never read.
cuda::Launch bound(const cuda::LoweredPlan& executable, const Misalignments& misalignments);

// Runs the plan's only launch. That the output is not the oracle's, in its gaps too, is a violation
// like any other.
Report run_plan(const cuda::Plan& plan, const Misalignments& misalignments);

// Expects a run without violations, and says what it cost.
Counts expect_moved(const cuda::Plan& plan, const Misalignments& misalignments = {});
Counts expect_moved_without_conflicts(const cuda::Plan& plan,
                                      const Misalignments& misalignments = {});

// A device that holds few blocks, so that they take several slices.
cuda::DeviceModel small_model();

// Any slice and coarsening that the schema takes for the request, or nothing if none was found.
std::optional<cuda::Plan> random_plan(Random& random, const Request& request,
                                      std::int64_t alignment, cuda::Schema schema);

std::string describe(const cuda::Plan& plan, const Misalignments& misalignments);

}  // namespace ttlg::test
