// What allocates nothing: predicting the time of a slice, which the planner does for hundreds of
// them, choosing the layout of one, and a call, which binds addresses to a plan that is lowered
// already.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocations.hpp"
#include "cuda/lowered_plan.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/layout/choose_layout.hpp"
#include "plan/cuda/model/predict.hpp"

namespace ttlg::cuda {
namespace {

using test::allocations_of;
using test::paper_request;

using enum Schema;

struct Case {
  Request request;
  cuda::Parameters parameters;
};

// One plan of each schema, and one that takes several launches.
std::vector<Case> cases() {
  const std::int64_t long_mode = std::int64_t{1} << 20;
  return {{paper_request({4096}, {0}, 4), {}},
          {paper_request({100, 7, 5}, {0, 2, 1}, 4), {fvi_match_large, {1, 1, 100, 1}}},
          {paper_request({20, 33, 33}, {0, 2, 1}, 4), {fvi_match_small, {2, 2, 4, 4}}},
          {paper_request({64, 8, 64}, {2, 1, 0}, 4), {orthogonal_distinct, {1, 1, 32, 32}, 1}},
          {paper_request({long_mode, 3, 5, long_mode}, {3, 2, 1, 0}, 4),
           {orthogonal_distinct, {1, 1, 32, 32}}},
          {paper_request({8, 2, 8, 8}, {2, 1, 3, 0}, 4), {orthogonal_arbitrary, {3, 3, 8, 4}}}};
}

// Addresses that are never read.
const std::byte* address_at(std::uintptr_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

TEST(Allocation, IsNoPartOfPredictingATime) {
  const DeviceModel model = test::analytic_model();
  for (const auto& [request, parameters] : cases()) {
    const cuda::Plan plan = test::built(request, 16, parameters);
    double seconds = 0;
    EXPECT_EQ(allocations_of([&] { seconds = predict_seconds(model, plan.sliced()); }), 0U)
        << schema_name(parameters.schema);
    EXPECT_EQ(seconds, plan.predicted_seconds);
  }
}

// Of wide elements and of narrow ones, in runs that are whole words and in others.
TEST(Allocation, IsNoPartOfChoosingALayout) {
  const DeviceModel model = test::analytic_model();
  int chosen = 0;
  for (const std::int64_t extent : {16, 15}) {
    for (const std::int64_t itemsize : {1, 2, 4, 8}) {
      const cuda::Plan plan =
          test::built(paper_request({extent, 16, extent, 16}, {2, 1, 0, 3}, itemsize), 16,
                      {orthogonal_arbitrary, {1, 2, extent, 16}});
      const SlicedProblem sliced = plan.sliced();
      SharedLayout layout;
      double seconds = 0;
      const auto predict = [&] {
        layout = choose_shared_layout(sliced).layout;
        seconds = predict_seconds(model, sliced);
      };
      EXPECT_EQ(allocations_of(predict), 0U) << extent << " " << itemsize;
      EXPECT_EQ(layout, plan.layout);
      EXPECT_EQ(seconds, plan.predicted_seconds);
      chosen += layout != SharedLayout{};
    }
  }
  EXPECT_GT(chosen, 2);
}

TEST(Allocation, IsNoPartOfCountingBlocks) {
  for (const auto& [request, parameters] : cases()) {
    const cuda::Plan plan = test::built(request, 16, parameters);
    const SlicedProblem sliced = plan.sliced();
    std::int64_t blocks = 0;
    EXPECT_EQ(allocations_of([&] { blocks = grid_blocks(sliced); }), 0U)
        << schema_name(parameters.schema);
    EXPECT_GT(blocks, 0);
  }
}

TEST(Allocation, IsNoPartOfBindingAddresses) {
  for (const auto& [request, parameters] : cases()) {
    const LoweredPlan plan(test::built(request, 16, parameters));
    std::uint64_t used = 0;
    const auto bind_addresses = [&] {
      // As planned and with less in common than that.
      for (const std::uintptr_t in : {0, 4, 8, 12}) {
        for (const std::uintptr_t out : {0, 4, 8, 12}) {
          used += plan.bind(address_at(4096 + in), address_at(8192 + out)).blocks;
          for (std::int64_t i = 0; i < plan.grid.launches; ++i) {
            used += static_cast<std::uint64_t>(plan.grid.shift(i).in);
          }
        }
      }
    };
    EXPECT_EQ(allocations_of(bind_addresses), 0U) << schema_name(parameters.schema);
    EXPECT_GT(used, 0U);
  }
}

}  // namespace
}  // namespace ttlg::cuda
