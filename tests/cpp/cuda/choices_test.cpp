// The planner's choices, its own and with a schema forced, on the host executor: the bytes are the
// oracle's.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "sample.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

class Choices : public testing::Test {
 protected:
  void run(const Request& request, const Misalignments& misalignments,
           std::optional<Schema> forced = {}) {
    const cuda::Plan plan = planned(request, alignment_of(misalignments), analytic_model(), forced);
    expect_moved(plan, misalignments);
    ++runs_[plan.parameters.schema];
  }

  void run_all_schemas(const Request& request, const Misalignments& misalignments) {
    run(request, misalignments);
    const Problem problem = recast_problem(make_problem(request), alignment_of(misalignments));
    for (const Schema schema : kSchemas) {
      if (applies(schema, problem)) run(request, misalignments, schema);
    }
  }

  Misalignments random_misalignments() {
    const auto pick_misalignment = [this] {
      return static_cast<std::size_t>(pick(random_, 0, 3) << pick(random_, 0, 5));
    };
    return {pick_misalignment(), pick_misalignment()};
  }

  // Up to eight axes of up to about 2000 elements in all, few of them powers of two.
  std::vector<std::int64_t> random_shape() {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(pick(random_, 1, 8)));
    std::int64_t room = pick(random_, 1, 2000);
    for (std::int64_t& extent : shape) {
      extent = pick(random_, 1, std::min<std::int64_t>(room, 70));
      room /= extent;
    }
    std::ranges::shuffle(shape, random_);
    return shape;
  }

  Random random_{17};
  std::map<Schema, int> runs_;
};

TEST_F(Choices, MoveRandomProblems) {
  for (int i = 0; i < 300 / kSampling && !HasFailure(); ++i) {
    const std::int64_t itemsize = kItemsizes[static_cast<std::size_t>(i) % kItemsizes.size()];
    const Request request = i % 2 == 0 ? random_layouts(random_, random_shape(), itemsize)
                                       : many_modes_request(random_);
    run_all_schemas(request, i % 3 == 0 ? Misalignments{} : random_misalignments());
  }
  for (const Schema schema : kSchemas) EXPECT_GT(runs_[schema], 0) << schema_name(schema);
}

TEST_F(Choices, MoveAllPermutationsOfSixModes) {
  int i = 0;
  for_each_permutation(6, [&](const std::vector<int>& axes) {
    const std::int64_t itemsize = std::int64_t{1} << i % 5;
    if (i++ % kSampling != 0 || HasFailure()) return;
    run(contiguous_request({3, 2, 5, 4, 2, 3}, axes, itemsize), {});
  });
}

// Extents 5 to 9, with few enough elements for the executor.
TEST_F(Choices, MoveASampleOfSixLongerModes) {
  constexpr std::int64_t kMaxElements = 60000;
  for (int i = 0; i < std::max(20 / kSampling, 2) && !HasFailure();) {
    std::vector<std::int64_t> shape(6);
    for (std::int64_t& extent : shape) extent = pick(random_, 5, 9);
    const Request request =
        contiguous_request(shape, random_axes(random_, 6), std::int64_t{1} << i % 5);
    if (make_problem(request).elements() > kMaxElements) continue;
    run_all_schemas(request, {});
    ++i;
  }
}

}  // namespace
}  // namespace ttlg::test
