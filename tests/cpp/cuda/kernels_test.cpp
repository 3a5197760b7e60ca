// Every kernel, forced, in slices of any kind, and the planner's choices, its own and with a schema
// forced, on the host executor: the bytes are the oracle's and there are no violations.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "combinations.hpp"
#include "cuda/run_kernels.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "sample.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

class Kernels : public testing::TestWithParam<std::tuple<Schema, std::int64_t>> {
 protected:
  static Schema schema() { return std::get<0>(GetParam()); }
  static std::int64_t width() { return std::get<1>(GetParam()); }

  // Runs the schema on the request if it is admissible.
  void run(const Request& request, const Misalignments& misalignments) {
    const std::int64_t alignment = alignment_of(misalignments);
    if (!applies(schema(), recast_problem(make_problem(request), alignment))) return;
    const std::optional<cuda::Plan> plan = random_plan(random_, request, alignment, schema());
    ++admissible_;
    if (!plan) return;
    ++runs_;
    const bool meets_conflicts = schema() == Schema::orthogonal_arbitrary;
    meets_conflicts ? expect_moved(*plan, misalignments)
                    : expect_moved_without_conflicts(*plan, misalignments);
  }

  // Beyond a 256-byte boundary by multiples of a byte, of a word or of a vector.
  Misalignments random_misalignments() {
    const std::int64_t step = std::int64_t{1} << pick(random_, 0, 5);
    return {step * pick(random_, 0, 3), step * pick(random_, 0, 3)};
  }

  void run_permutations(const std::vector<std::int64_t>& shape, int every) {
    int i = 0;
    for_each_permutation(shape.size(), [&](const std::vector<int>& axes) {
      if (i++ % every != 0 || HasFailure()) return;
      run(contiguous_request(shape, axes, width()), {});
    });
  }

  Random random_{7};
  int admissible_ = 0;
  int runs_ = 0;
};

TEST_P(Kernels, AllPermutationsOfSixModes) {
  run_permutations({3, 2, 5, 4, 2, 3}, kSampling);
  EXPECT_GE(runs_, admissible_ * 9 / 10);
}

TEST_P(Kernels, AllPermutationsOfFourLongerModes) {
  run_permutations({5, 9, 6, 8}, 1);
  EXPECT_GE(runs_, admissible_ * 9 / 10);
}

TEST_P(Kernels, RandomLayoutsAndAddresses) {
  for (int i = 0; i < std::max(60 / kSampling, 6) && !HasFailure(); ++i) {
    const Request any = i % 2 == 0 ? random_request(random_) : many_modes_request(random_);
    const std::int64_t itemsize = width() * (i % 3 == 0 ? 3 : 1);
    run(random_layouts(random_, any.shape, itemsize), random_misalignments());
  }
}

// Rows and columns a tile long, a little less and a little more.
TEST_P(Kernels, Matrices) {
  for (const auto& [rows, columns] : combinations({1, 31, 64, 132}, {33, 128, 144})) {
    run(contiguous_request({rows, columns}, {1, 0}, width()), random_misalignments());
    run(contiguous_request({3, 2, columns}, {1, 0, 2}, width()), random_misalignments());
    run(contiguous_request({rows * columns}, {0}, width()), random_misalignments());
  }
}

// Lines of runs of 1 to 16 chunks of a warp, more, as many and fewer than there are warps to go
// along them, and of as many as there may be, whole and cut short.
TEST(MatchSmall, SharesLinesOfAnyLengthAmongWarps) {
  for (const auto& [itemsize, run, columns, rows] :
       combinations({1, 4}, {3, 13, 31}, {1, 5, 9, 16, 32}, {1, 7, 32})) {
    if (run * columns * 32 * itemsize > FviMatchSmallPolicy::kSliceBytes) continue;
    expect_moved_without_conflicts(built(paper_request({run, 33, 35}, {0, 2, 1}, itemsize),
                                         itemsize,
                                         {Schema::fvi_match_small, {2, 2, columns, rows}}));
    if (testing::Test::HasFailure()) return;
  }
}

// Above 15 modes (TTLG, section IV-B) the grid is walked by a loop at run time. Short runs share
// thread blocks, of which this takes few.
TEST(Grid, MayHaveMoreModesThanAreCompiledIn) {
  std::vector<std::int64_t> shape(15, 2);
  shape.push_back(3);
  std::vector<int> axes(16);
  std::iota(axes.rbegin() + 1, axes.rend(), 0);
  axes.back() = 15;
  const cuda::Parameters parameters{Schema::fvi_match_large, {1, 1, 3, 1}};
  const cuda::Plan plan = built(contiguous_request(shape, axes, 4), 256, parameters);
  EXPECT_GT(grid_loops({plan.recast, parameters}).size(), 15U);
  expect_moved(plan);
}

INSTANTIATE_TEST_SUITE_P(
    , Kernels,
    testing::Combine(testing::Values(Schema::copy, Schema::fvi_match_large, Schema::fvi_match_small,
                                     Schema::orthogonal_distinct, Schema::orthogonal_arbitrary),
                     testing::ValuesIn(kWidths)),
    [](const auto& parameters) {
      return std::string(schema_name(std::get<0>(parameters.param))) + "_" +
             std::to_string(std::get<1>(parameters.param));
    });

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
    const auto pick_one = [this] { return pick(random_, 0, 3) << pick(random_, 0, 5); };
    return {pick_one(), pick_one()};
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
