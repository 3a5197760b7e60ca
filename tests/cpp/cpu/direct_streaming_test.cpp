// Streaming without a buffer: whole lines leave the registers, and what lies of a row before the
// first of them or after the last one goes through the caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cpu/executions.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"
#include "sample.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::matches_reference;
using test::pick;
using Side = test::Placement::Side;

class DirectStreaming : public testing::TestWithParam<std::int64_t> {};

// Rows of whole lines, in blocks that end anywhere in them and leave clipped ones on both sides.
TEST_P(DirectStreaming, TilesAtEveryAlignment) {
  const std::int64_t line = kLineBytes / GetParam();
  for (const std::int64_t columns : {1, 3, 8, 19, 67}) {
    const Request request = contiguous_request({7 * line, columns}, {1, 0}, GetParam());
    for (const auto& [wide, rows] : {std::pair{columns, 7 * line},
                                     {columns, 3 * line + 1},
                                     {std::min<std::int64_t>(columns, 17), 2 * line}}) {
      if (!can_carry_out(Kernel::tile, fold_run(make_problem(request)))) continue;
      std::vector<int> loops;
      if (rows < 7 * line) loops.push_back(1);
      if (wide < columns) loops.push_back(0);
      const Plan plan = build_plan(request, {.kernel = Kernel::tile,
                                             .block = {wide, rows},
                                             .loop_order = loops,
                                             .streaming = true,
                                             .prefetch = 2,
                                             .threads = 1 + static_cast<int>(columns % 2)});
      for (std::size_t alignment = 0; alignment < 64; ++alignment) {
        ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, DirectStreaming, testing::Values(1, 2, 4, 8, 16),
                         testing::PrintToStringParamName());

// Elements shorter and longer than a line, and those that leave from their source.
TEST(DirectStreamingOf, RunsAtEveryAlignment) {
  for (const std::int64_t bytes : {1, 3, 4, 7, 16, 60, 64, 129, 1000, 1024, 1500}) {
    const Request request = contiguous_request({150, 5, bytes}, {1, 0, 2}, 1);
    const Plan plan = build_plan(request, {.kernel = Kernel::strided_copy,
                                           .block = {4, 131},
                                           .loop_order = {1, 0},
                                           .streaming = true,
                                           .prefetch = 1,
                                           .threads = 2});
    for (std::size_t alignment = 0; alignment < 64; ++alignment) {
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

// Any layout of the input: gaps, steps backwards, one element many times.
TEST(DirectStreamingOf, RandomBlocks) {
  test::Random random(33);
  int tiles = 0;
  int runs = 0;
  for (int i = 0; i < 2000 / test::kSampling; ++i) {
    const std::int64_t itemsize = test::random_itemsize(random);
    const bool whole_lines = kLineBytes % itemsize == 0;
    const std::int64_t line = whole_lines ? kLineBytes / itemsize : 64;
    const std::vector<std::int64_t> shape{line * pick(random, 2, 4), pick(random, 2, 9),
                                          pick(random, 2, 40)};
    const std::vector<int> axes =
        pick(random, 0, 1) == 0 ? std::vector{1, 2, 0} : std::vector{2, 1, 0};
    Request request = contiguous_request(shape, axes, itemsize);
    for (std::int64_t& stride : request.in_byte_strides) {
      if (pick(random, 0, 5) == 0) stride = pick(random, 0, 1) == 0 ? 0 : -stride;
    }
    const Problem folded = fold_run(make_problem(request));
    for (const Kernel kernel : {Kernel::tile, Kernel::strided_copy}) {
      if (!can_carry_out(kernel, folded)) continue;
      Parameters parameters = test::random_parameters(random, folded, kernel);
      parameters.streaming = true;
      try {
        const Plan plan = build_plan(request, parameters);
        ASSERT_TRUE(matches_reference(plan, {i % 2 == 0 ? Side::before : Side::after, 0},
                                      static_cast<std::size_t>(pick(random, 0, 63))));
        ++(kernel == Kernel::tile ? tiles : runs);
      } catch (const std::invalid_argument&) {
        continue;  // the block's runs are too short
      }
    }
  }
  EXPECT_GT(tiles, 200 / test::kSampling) << "too few cases were tiled to say anything";
  EXPECT_GT(runs, 200 / test::kSampling);
}

}  // namespace
}  // namespace ttlg::cpu
