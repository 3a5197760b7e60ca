// Blocks that are moved in windows, at every SIMD level, between guard pages.
#include "plan/cpu/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "cpu/executions.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kLongestVector = 64;

// An axis of a view: its extent, and the bytes from each index to the next.
struct ViewAxis {
  std::int64_t extent;
  std::int64_t step;
};

// The copy of a view with these axes, the last one the fastest.
Request copy_of(const std::vector<ViewAxis>& axes, std::int64_t itemsize) {
  Request request;
  for (const auto& [extent, step] : axes) {
    request.shape.push_back(extent);
    request.in_byte_strides.push_back(step);
  }
  request.axes.resize(axes.size());
  std::iota(request.axes.begin(), request.axes.end(), 0);
  request.itemsize = itemsize;
  return request;
}

// A plan of blocks of up to `longest` indices along the mode in which windows follow one another;
// none where there are no windows.
std::optional<Plan> plan_in_windows(const Request& request, std::int64_t longest, bool staged) {
  const Problem folded = fold_run(make_problem(request));
  Parameters parameters{.kernel = Kernel::shuffle, .staged = staged};
  for (const Mode& mode : folded.modes) parameters.block.push_back(mode.extent);
  const auto tile = find_window(folded, parameters.block, kLongestVector);
  if (!tile) return std::nullopt;
  std::int64_t& stepped = parameters.block[tile->stepped];
  if (longest < stepped) {
    stepped = longest;
    parameters.loop_order.push_back(static_cast<int>(tile->stepped));
  }
  const std::vector<std::int64_t> program = shuffle_tile(folded);
  if (!std::ranges::equal(program, parameters.block, std::ranges::less_equal{})) {
    return std::nullopt;
  }
  Plan plan = build_plan(request, parameters);
  const bool has_any = std::ranges::any_of(plan.movers.windows, &std::optional<Window>::has_value);
  return has_any ? std::optional(std::move(plan)) : std::nullopt;
}

int check(const std::vector<ViewAxis>& axes, std::int64_t itemsize) {
  const Request request = copy_of(axes, itemsize);
  int plans = 0;
  for (const std::int64_t longest : {INT64_MAX, std::int64_t{37}}) {
    for (const bool staged : {false, true}) {
      const std::optional<Plan> plan = plan_in_windows(request, longest, staged);
      if (!plan) continue;
      ++plans;
      for (const auto side : {test::Placement::Side::before, test::Placement::Side::after}) {
        EXPECT_TRUE(test::matches_reference(*plan, {side, 0}));
      }
    }
  }
  return plans;
}

TEST(Window, MovesEveryLineOfElements) {
  int plans = 0;
  for (const std::int64_t itemsize : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15}) {
    for (std::int64_t step = itemsize; step <= 20; ++step) {
      for (const std::int64_t sign : {1, -1}) {
        for (const std::int64_t extent : {31, 64, 75, 76}) {
          plans += check({{extent, sign * step}}, itemsize);
        }
      }
    }
  }
  EXPECT_GT(plans, 500);
}

TEST(Window, MovesEveryOrderOfAFewChannels) {
  int plans = 0;
  for (const std::int64_t itemsize : {1, 2, 3, 4, 8}) {
    for (const std::int64_t channels : {2, 3, 4}) {
      for (const std::int64_t step : {1, -1, 2, -2}) {
        for (const std::int64_t gap : {0, 1, 3}) {
          const std::int64_t pixel = ((channels - 1) * std::abs(step) + 1 + gap) * itemsize;
          for (const std::int64_t sign : {1, -1}) {
            plans += check({{41, sign * pixel}, {channels, step * itemsize}}, itemsize);
            const std::int64_t row = 40 * pixel + 5;  // mirrored, rows in either order
            plans += check({{3, row}, {33, sign * pixel}, {channels, step * itemsize}}, itemsize);
            plans += check({{3, -row}, {33, sign * pixel}, {channels, step * itemsize}}, itemsize);
          }
        }
      }
    }
  }
  EXPECT_GT(plans, 1000);
}

// Pairs of channels that trade places, as in structures of two axes.
TEST(Window, MovesTwoAxesOfStructures) {
  int plans = 0;
  for (const std::int64_t itemsize : {1, 2}) {
    for (const std::int64_t outer : {1, -1, 2, -2}) {
      for (const std::int64_t inner : {3, -3, 4, -4}) {
        plans +=
            check({{50, 11 * itemsize}, {2, outer * itemsize}, {2, inner * itemsize}}, itemsize);
      }
    }
  }
  EXPECT_GT(plans, 50);
}

// Elements of one channel or of a few that become several, at every place among the channels.
TEST(Window, MovesRepeatedElements) {
  int plans = 0;
  for (const std::int64_t itemsize : {1, 2, 3, 4, 5, 8}) {
    for (const std::int64_t copies : {2, 3, 4, 7}) {
      for (const std::int64_t gap : {0, 1, 4}) {
        for (const std::int64_t sign : {1, -1}) {
          const std::int64_t step = sign * (itemsize + gap);
          const std::int64_t pair = sign * (2 * itemsize + gap);
          for (const std::int64_t extent : {41, 80}) {
            plans += check({{extent, step}, {copies, 0}}, itemsize);
            plans += check({{2, 41 * step}, {extent, step}, {copies, 0}}, itemsize);
            plans += check({{extent, pair}, {2, -itemsize}, {copies, 0}}, itemsize);
            plans += check({{extent, pair}, {copies, 0}, {2, itemsize}}, itemsize);
          }
        }
      }
    }
  }
  EXPECT_GT(plans, 1000);
}

TEST(Window, IsNotForRunsThatFillVectors) {
  const auto of = [](const std::vector<ViewAxis>& axes, std::int64_t itemsize,
                     std::int64_t vector_bytes = kLaneBytes) {
    const Problem folded = fold_run(make_problem(copy_of(axes, itemsize)));
    std::vector<std::int64_t> extents;
    for (const Mode& mode : folded.modes) extents.push_back(mode.extent);
    return find_window(folded, extents, vector_bytes);
  };
  EXPECT_TRUE(of({{50, 4}, {3, 1}}, 1));
  EXPECT_FALSE(of({{50, 20}, {16, 1}}, 1)) << "rows are elements of 16 bytes";
  EXPECT_FALSE(of({{50, 1}, {50, 50}}, 1)) << "columns";
  EXPECT_FALSE(of({{500, 0}, {3, -1}}, 1)) << "windows that do not follow one another";
  EXPECT_FALSE(of({{50, 1}, {500, 0}}, 1)) << "lines of one element";
  ASSERT_TRUE(of({{64, 1}, {3, 0}}, 1));
  EXPECT_EQ(of({{64, 1}, {3, 0}}, 1)->vectors(), 3);
  EXPECT_FALSE(of({{50, 9}}, 1)) << "two bytes";
  EXPECT_FALSE(of({{63, -1}}, 1)) << "too few of them";
  EXPECT_FALSE(of({{50, 24}, {3, -8}}, 8)) << "pixels that are longer";
  EXPECT_TRUE(of({{50, 24}, {3, -8}}, 8, 32)) << "in a vector of 32 bytes";
  EXPECT_EQ(of({{50, -8}}, 4, 32)->vector_bytes, 32);
  EXPECT_EQ(of({{50, -9}}, 4, 32)->vector_bytes, 16) << "no words";
}

}  // namespace
}  // namespace ttlg::cpu
