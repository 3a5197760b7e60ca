// What blocks prefetch: the blocks after them, and the last ones what is read after the plan.
#include "cpu/block_mover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "cpu/simd_level.hpp"
#include "plan/cpu/plan.hpp"
#include "requests.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

using Prefetched = std::vector<std::span<const std::byte>>;

// What each block of the running test was to prefetch.
Prefetched& prefetched() {
  static Prefetched ranges;
  return ranges;
}

// Moves nothing, and takes down the first range that the block prefetches.
void take_down(const std::byte*, std::byte*, const BlockArguments& block) {
  PrefetchQueue& queue = block.pipeline->prefetches;
  const bool any = !queue.ranges.empty();
  prefetched().push_back(
      any ? std::span(queue.next + queue.ranges[0], static_cast<std::size_t>(queue.range_bytes))
          : std::span<const std::byte>());
  queue = {};
}

// A matrix of 40 x 24 by blocks of 8 rows.
constexpr std::int64_t kRows = 40;
constexpr std::int64_t kColumns = 24;
constexpr std::int64_t kBlockRows = 8;
constexpr std::size_t kBlocks = kRows / kBlockRows;

class ReadNext : public testing::TestWithParam<int> {
 protected:
  Prefetched run(std::span<const std::byte> read_next) {
    const Plan plan = build_plan(test::contiguous_request({kRows, kColumns}, {1, 0}, 8),
                                 {.kernel = Kernel::tile,
                                  .block = {kColumns, kBlockRows},
                                  .loop_order = {1},
                                  .prefetch = GetParam()});
    EXPECT_EQ(plan.blocks(), static_cast<std::int64_t>(kBlocks));
    Kernels table = kernels();
    table.tile[width_index(8)] = &take_down;
    prefetched().clear();
    BlockMover(plan, table, read_next).move(in_.data(), out_.data(), 0, plan.blocks());
    return prefetched();
  }
  // How many blocks prefetch no later one.
  std::size_t last_blocks() const {
    const auto distance = static_cast<std::size_t>(GetParam());
    return distance == 0 ? kBlocks : std::min(distance, kBlocks);
  }

  std::vector<std::byte> in_ = std::vector<std::byte>(kRows * kColumns * 8);
  std::vector<std::byte> out_ = in_;
};

TEST_P(ReadNext, IsSharedByTheBlocksThatPrefetchNoOther) {
  const std::vector<std::byte> next(1001);
  const Prefetched ranges = run(next);
  ASSERT_EQ(ranges.size(), kBlocks);
  const std::size_t others = kBlocks - last_blocks();
  for (std::size_t i = 0; i < others; ++i) {
    const std::size_t block = i + static_cast<std::size_t>(GetParam());
    EXPECT_EQ(ranges[i].data(), in_.data() + block * kBlockRows * kColumns * 8);
  }
  const std::byte* at = next.data();
  for (const auto& range : std::span(ranges).subspan(others)) {
    EXPECT_EQ(range.data(), at);
    EXPECT_NEAR(static_cast<double>(range.size()),
                static_cast<double>(next.size()) / static_cast<double>(last_blocks()), 1);
    at += range.size();
  }
  EXPECT_EQ(at, next.data() + next.size());
}

TEST_P(ReadNext, IsNothingUnlessTold) {
  const Prefetched ranges = run({});
  for (const auto& range : std::span(ranges).last(last_blocks())) EXPECT_TRUE(range.empty());
}

INSTANTIATE_TEST_SUITE_P(, ReadNext, testing::Values(0, 1, 2, 5, 7),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ttlg::cpu
