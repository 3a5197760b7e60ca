#include "plan/cpu/block/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

// Offsets of one element of a block: in the input, the output, the staging buffer.
using Offsets = std::array<std::int64_t, 3>;

Offsets operator+(const Offsets& x, const Offsets& y) {
  return {x[0] + y[0], x[1] + y[1], x[2] + y[2]};
}

// All indices of these modes of the block.
std::vector<Offsets> offsets_of(const Block& block, const std::vector<int>& modes) {
  std::vector<Offsets> offsets{{0, 0, 0}};
  for (const int index : modes) {
    const BlockMode& mode = block.modes[static_cast<std::size_t>(index)];
    const std::size_t inner = offsets.size();
    for (std::int64_t i = 1; i < mode.block; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        offsets.push_back(offsets[k] +
                          Offsets{i * mode.in_step, i * mode.out_step, i * mode.staging_step});
      }
    }
  }
  return offsets;
}

std::vector<int> numbers(int first, int last) {
  std::vector<int> result(static_cast<std::size_t>(last - first));
  std::iota(result.begin(), result.end(), first);
  return result;
}

std::vector<Offsets> all_offsets(const Block& block) {
  return offsets_of(block, numbers(0, static_cast<int>(block.modes.size())));
}

// Blocks of random extents from random problems, for every way of counting their elements.
template <typename Check>
void for_random_blocks(int seed, const Check& check) {
  test::Random random(static_cast<std::uint64_t>(seed));
  int several_modes = 0;
  test::for_random_plans(random, 500, [&](const Request&, const Plan& plan) {
    check(plan);
    several_modes += plan.block.in_axis.modes.size() > 1 || plan.block.out_axis.modes.size() > 1;
  });
  EXPECT_GT(several_modes, 150) << "too few axes held several modes to say anything";
}

// The tables of a mode that is cut have more entries than full blocks use.
std::size_t entries(const Block& block, const Axis& axis) {
  std::int64_t count = 1;
  for (const int mode : axis.modes) count *= block.modes[static_cast<std::size_t>(mode)].block;
  return static_cast<std::size_t>(count);
}

// What in_axis, out_axis and rest make together.
std::vector<Offsets> offsets_by_axes(const Block& block) {
  std::vector<Offsets> offsets;
  for (const Offsets& rest : offsets_of(block, block.rest)) {
    for (std::size_t o = 0; o < entries(block, block.out_axis); ++o) {
      const Offsets out{block.out_axis.in[o], block.out_axis.out[o], block.out_axis.staging[o]};
      for (std::size_t i = 0; i < entries(block, block.in_axis); ++i) {
        offsets.push_back(
            rest + out +
            Offsets{block.in_axis.in[i], block.in_axis.out[i], block.in_axis.staging[i]});
      }
    }
  }
  return offsets;
}

TEST(Block, AxesAndRestMakeEveryElementOnce) {
  for_random_blocks(11, [](const Plan& plan) {
    std::vector<Offsets> offsets = offsets_by_axes(plan.block);
    std::vector<Offsets> expected = all_offsets(plan.block);
    std::ranges::sort(offsets);
    std::ranges::sort(expected);
    ASSERT_EQ(offsets, expected);
  });
}

// A clipped block uses the first part of an axis's tables.
TEST(Block, OnlyTheLastModeOfAnAxisIsCut) {
  for_random_blocks(12, [](const Plan& plan) {
    for (const Axis* axis : {&plan.block.in_axis, &plan.block.out_axis}) {
      for (std::size_t k = 0; k + 1 < axis->modes.size(); ++k) {
        ASSERT_EQ(plan.block.modes[static_cast<std::size_t>(axis->modes[k])].loop, -1);
      }
    }
  });
}

TEST(Block, AxesOfATileAreContiguousOnTheirSide) {
  for_random_blocks(13, [](const Plan& plan) {
    if (plan.parameters.kernel != Kernel::tile) return;
    const auto expect_steps = [&](const std::vector<std::int64_t>& offsets) {
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        ASSERT_EQ(offsets[i], static_cast<std::int64_t>(i) * plan.element_bytes);
      }
    };
    expect_steps(plan.block.in_axis.in);
    expect_steps(plan.block.out_axis.out);
    expect_steps(plan.block.out_axis.staging);
  });
}

// A call for every long element would take as long as a good part of moving it.
TEST(Axes, HoldManyLongElements) {
  for (const std::int64_t bytes : {256, 512, 1024, 4096, 100000}) {
    const Plan plan =
        build_plan(test::contiguous_request({30, 40}, {1, 0}, bytes),
                   {.kernel = Kernel::strided_copy, .block = {4, 30}, .loop_order = {0}});
    EXPECT_EQ(entries(plan.block, plan.block.out_axis), 30U) << bytes;
  }
}

TEST(Staging, ARunIsContiguousThereAndInTheOutput) {
  for_random_blocks(14, [](const Plan& plan) {
    const Block& block = plan.block;
    std::int64_t bytes = plan.element_bytes;
    for (int m = 0; m < block.run_modes; ++m) {
      const BlockMode& mode = block.modes[static_cast<std::size_t>(m)];
      EXPECT_EQ(mode.out_step, bytes);
      EXPECT_EQ(mode.staging_step, bytes);
      bytes *= mode.block;
    }
    EXPECT_EQ(block.run_bytes, bytes);
  });
}

TEST(Staging, EveryByteLiesInItsLineAsInTheOutput) {
  for_random_blocks(15, [](const Plan& plan) {
    for (const BlockMode& mode : plan.block.modes) {
      ASSERT_EQ((mode.staging_step - mode.out_step) % kLineBytes, 0);
    }
  });
}

TEST(Staging, NoTwoRunsShareALineWhereverItBegins) {
  for_random_blocks(16, [](const Plan& plan) {
    const Block& block = plan.block;
    const std::vector<Offsets> runs =
        offsets_of(block, numbers(block.run_modes, static_cast<int>(block.modes.size())));
    for (std::int64_t base = 0; base < kLineBytes; base += 7) {
      std::set<std::int64_t> taken;
      for (const Offsets& run : runs) {
        const std::int64_t first = (base + run[2]) / kLineBytes;
        const std::int64_t last = (base + run[2] + block.run_bytes - 1) / kLineBytes;
        for (std::int64_t line = first; line <= last; ++line) {
          ASSERT_TRUE(taken.insert(line).second);
        }
      }
      ASSERT_LE((*taken.rbegin() + 1) * kLineBytes, block.staging_bytes + kLineBytes)
          << "the buffer has room for a line more";
    }
  });
}

TEST(Ranges, HoldEveryByteOfTheInputAndLittleElse) {
  for_random_blocks(17, [](const Plan& plan) {
    const Block& block = plan.block;
    std::set<std::int64_t> asked;
    for (const std::int64_t range : block.ranges) {
      for (std::int64_t i = 0; i < block.range_bytes; ++i) asked.insert(range + i);
    }
    std::set<std::int64_t> wanted;
    for (const Offsets& offset : all_offsets(block)) {
      for (std::int64_t i = 0; i < plan.element_bytes; ++i) wanted.insert(offset[0] + i);
    }
    ASSERT_TRUE(std::ranges::includes(asked, wanted));
    // What is not wanted lies in gaps of at most half a line.
    ASSERT_EQ(*asked.begin(), *wanted.begin());
    ASSERT_EQ(*asked.rbegin(), *wanted.rbegin());
    for (const std::int64_t byte : asked) {
      ASSERT_LE(*wanted.lower_bound(byte) - byte, kLineBytes / 2);
    }
  });
}

// Blocks of 20 x 32 elements along rows of 100: the line in which one ends is whole 12 rows of the
// input further on, which the next block prefetches where the innermost loop comes to it.
TEST(Ranges, GoOnToTheEndOfALineThatTilesAreStreamedTo) {
  const Request request = test::contiguous_request({100, 50}, {1, 0}, 4);
  const auto rows = [&](const std::vector<int>& loop_order, bool staged) {
    const Plan plan = build_plan(request, {.kernel = Kernel::tile,
                                           .block = {20, 32},
                                           .loop_order = loop_order,
                                           .staged = staged,
                                           .streaming = true,
                                           .prefetch = 1});
    EXPECT_EQ(plan.block.range_bytes, 20 * 4);
    return plan.block.ranges.size();
  };
  EXPECT_EQ(rows({1, 0}, false), 32 + 16);
  EXPECT_EQ(rows({0, 1}, false), 32);
  EXPECT_EQ(rows({1, 0}, true), 32);
}

// A set of L1 holds 8 lines, which rows that are a page apart share.
TEST(TileShape, IsNarrowWhereRowsOfTheOutputShareSets) {
  const auto kind = [](int element_bytes, const RowSteps& steps) {
    return tile_shape(64, element_bytes, 256, 256, steps).kind;
  };
  for (const int element_bytes : {1, 2, 4}) {
    EXPECT_EQ(kind(element_bytes, {}), TileKind::wide);
    EXPECT_EQ(kind(element_bytes, {.in = 192, .out = 4096}), TileKind::narrow);
    EXPECT_EQ(kind(element_bytes, {.in = 192, .out = -8192}), TileKind::narrow);
    EXPECT_EQ(kind(element_bytes, {.in = 4096, .out = 192}), TileKind::wide);
  }
  // Where the input's do as well, tiles that write whole lines stay wide.
  EXPECT_EQ(kind(2, {.in = 4096, .out = 4096}), TileKind::narrow);
  EXPECT_EQ(kind(4, {.in = 4096, .out = 4096}), TileKind::wide);
  EXPECT_EQ(kind(8, {.in = 192, .out = 4096}), TileKind::wide);
  // Narrow tiles write a whole vector.
  EXPECT_EQ(tile_shape(64, 1, 256, 32, {.in = 192, .out = 4096}).kind, TileKind::wide);
}

}  // namespace
}  // namespace ttlg::cpu
