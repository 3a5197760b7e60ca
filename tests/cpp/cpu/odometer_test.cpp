#include "cpu/odometer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/cpu/loop_order.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using OffsetPairs =
    std::vector<std::pair<std::int64_t, std::int64_t>>;  // of the input and the output

// Carries the nest out as it is written down: a loop in a loop.
void run_nest(const Problem& problem, std::span<const int> order, std::int64_t in, std::int64_t out,
              OffsetPairs& visited) {
  if (order.empty()) {
    visited.emplace_back(in, out);
    return;
  }
  const Mode& mode = problem.modes[static_cast<std::size_t>(order.front())];
  for (std::int64_t i = 0; i < mode.extent; ++i) {
    run_nest(problem, order.subspan(1), in, out, visited);
    in += mode.in_byte_stride;
    out += mode.out_byte_stride;
  }
}

// An element a block: a loop for every mode, without tiling.
TEST(Odometer, VisitsTheAddressesOfTheNestInItsOrder) {
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{
           {1, 0}, {2, 1, 0}, {1, 0, 2}, {3, 1, 0, 2}, {4, 2, 0, 3, 1}, {0, 2, 1, 4, 3}}) {
    const std::vector<std::int64_t> shape{3, 4, 2, 5, 6};
    const Request request =
        test::contiguous_request({shape.begin(), shape.begin() + std::ssize(axes)}, axes, 4);
    const Problem folded = fold_run(make_problem(request));
    const std::vector<int> order = rank_loops(folded.perm);
    const Plan plan = build_plan(request, {.kernel = Kernel::strided_copy,
                                           .block = std::vector<std::int64_t>(order.size(), 1),
                                           .loop_order = order});
    OffsetPairs expected;
    run_nest(folded, order, 0, 0, expected);
    ASSERT_EQ(plan.blocks(), std::ssize(expected));
    OffsetPairs stepped;
    Odometer odometer(plan, 0);
    for (std::int64_t block = 0; block < plan.blocks(); ++block, odometer.step()) {
      stepped.emplace_back(odometer.in_offset(), odometer.out_offset());
      const Odometer there(plan, block);
      EXPECT_EQ(std::pair(there.in_offset(), there.out_offset()), stepped.back());
    }
    EXPECT_EQ(stepped, expected);
  }
}

}  // namespace
}  // namespace ttlg::cpu
