// From plans to kernels' parameters: grids beyond CUDA's limit, offsets beyond 32 bits, alignments.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/lowered_plan.hpp"
#include "messages.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::cuda {
namespace {

using test::contiguous_request;
using test::paper_request;

using enum Schema;

// An address that is never read.
const std::byte* at(std::uintptr_t address) { return reinterpret_cast<const std::byte*>(address); }

constexpr std::uintptr_t kAligned = 1 << 20;

Launch bind_aligned(const LoweredPlan& plan) { return plan.bind(at(kAligned), at(2 * kAligned)); }

// For pointers so far beyond aligned ones, where the plan moves `needed` bytes at once.
void expect_refused(const LoweredPlan& plan, std::uintptr_t in, std::uintptr_t out, int needed) {
  EXPECT_EQ(test::message_of([&] { plan.bind(at(kAligned + in), at(kAligned + out)); }),
            "this plan moves " + std::to_string(needed) +
                " bytes at once, and x or out starts at an address that is no multiple of that; "
                "call ttlg.transpose, which looks at the addresses itself")
      << in << " " << out;
}

constexpr std::int64_t power(int n) { return std::int64_t{1} << n; }

TEST(Lower, TakesSeveralLaunchesForABigGrid) {
  // 2^15 x 2^15 slices for each of 3 x 5 others.
  const LoweredPlan plan(test::built(paper_request({power(20), 3, 5, power(20)}, {3, 2, 1, 0}, 4),
                                     256, {orthogonal_distinct, {1, 1, 32, 32}}));
  EXPECT_EQ(plan.grid.size, power(30));
  EXPECT_EQ(plan.grid.grid.modes, 2);
  std::vector<std::pair<std::int64_t, std::int64_t>> expected;
  const Mode& three = plan.recast.modes[1];
  const Mode& five = plan.recast.modes[2];
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      expected.emplace_back(i * three.in_byte_stride + j * five.in_byte_stride,
                            i * three.out_byte_stride + j * five.out_byte_stride);
    }
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t i = 0; i < plan.grid.launches; ++i) {
    found.emplace_back(plan.grid.shift(i).in, plan.grid.shift(i).out);
  }
  EXPECT_EQ(found, expected);
}

TEST(Lower, FillsTheGridUpToItsLimit) {
  const auto request = [](std::int64_t inner, std::int64_t outer) {
    return paper_request({power(20), inner, outer, power(20)}, {3, 1, 2, 0}, 1);
  };
  const cuda::Parameters parameters{orthogonal_distinct, {1, 1, 32, 32}};
  const LoweredPlan one(test::built(request(1, 1), 256, parameters));
  EXPECT_EQ(one.grid.launches, 1);
  const LoweredPlan two(test::built(request(1, 2), 256, parameters));
  EXPECT_EQ(two.grid.launches, 2) << "2^31 blocks are one too many";
  EXPECT_EQ(two.grid.size, power(30));
}

// Of blocks that walk through their share of the slices, as many as the device holds: with two
// buffers what shared memory holds, else what registers do.
TEST(Lower, LaunchesAsManyBlocksAsAreResident) {
  const Request request = paper_request({power(14), power(14)}, {1, 0}, 4);
  cuda::Parameters parameters{orthogonal_distinct, {1, 1, 64, 64}};
  DeviceModel model = test::analytic_model();
  model.multiprocessors = 7;
  const auto blocks = [&] {
    return bind_aligned(LoweredPlan(test::built(request, 256, parameters, model))).blocks;
  };
  EXPECT_EQ(blocks() % 7, 0U);
  EXPECT_GE(blocks(), 7U * 4) << "for which the kernel is compiled";
  parameters.stages = 2;
  model.shared_bytes_per_multiprocessor = 100 << 10;
  EXPECT_EQ(blocks(), 7U * 2);
  model.shared_bytes_per_multiprocessor = 48 << 10;
  EXPECT_EQ(blocks(), 7U);
  const LoweredPlan few(test::built(paper_request({200, 64}, {1, 0}, 4), 256, parameters, model));
  EXPECT_EQ(bind_aligned(few).blocks, 4U);
}

TEST(Lower, RefusesSlicesThatAreTooManyOnOneSideAlone) {
  const cuda::Plan plan = test::built(paper_request({power(20), power(20)}, {1, 0}, 1), 256,
                                      {orthogonal_distinct, {1, 1, 1, 1}});
  EXPECT_THROW(LoweredPlan{plan}, std::invalid_argument);
}

TEST(Lower, KeepsStepsAndOffsetsIn64Bits) {
  // 2^33 elements of 4 bytes.
  const LoweredPlan runs(test::built(paper_request({power(31), 2, 2}, {0, 2, 1}, 4), 256,
                                     {fvi_match_large, {1, 1, 4096, 1}}));
  const AnyGrid& grid = runs.grid.grid;
  ASSERT_EQ(grid.modes, 4);
  EXPECT_EQ(grid.mode[1].in_step, 4096 * 4);
  EXPECT_EQ(grid.mode[2].in_step, power(34));
  EXPECT_EQ(grid.mode[2].out_step, power(33));
  EXPECT_EQ(grid.mode[3].in_step, power(33));
  EXPECT_EQ(grid.mode[3].out_step, power(34));
  const BlockOrigin end = decode(grid, 2 * 2 * static_cast<std::uint32_t>(power(19)) - 1);
  EXPECT_EQ(end.in, power(35) - 4096 * 4);
  EXPECT_EQ(end.out, power(35) - 4096 * 4);
  EXPECT_TRUE(end.last_column_block);

  const LoweredPlan matrix(test::built(paper_request({power(15), power(18)}, {1, 0}, 4), 256,
                                       {orthogonal_distinct, {1, 1, 64, 64}}));
  const BlockOrigin corner = decode_in_bands(matrix.grid.grid, matrix.grid.grid.slices - 1);
  EXPECT_EQ(corner.in, 4 * (power(33) - 64 * power(15) + power(15) - 64));
  EXPECT_EQ(corner.out, 4 * (power(33) - 64 * power(18) + power(18) - 64));
}

TEST(Lower, KeepsStepsOfASliceIn64Bits) {
  const LoweredPlan plan(test::built(paper_request({power(13), 8, power(17)}, {2, 1, 0}, 8), 256,
                                     {orthogonal_distinct, {1, 2, 32, 8}, -1}));
  const auto parameters = std::get<DistinctArguments>(bind_aligned(plan).arguments);
  EXPECT_EQ(parameters.row_in.offset(1), power(19));
  EXPECT_EQ(parameters.row_in.offset(static_cast<std::uint32_t>(power(17))), power(16));
  EXPECT_EQ(parameters.row_in.offset(static_cast<std::uint32_t>(power(17) - 1)),
            power(19) * (power(17) - 1));
  EXPECT_EQ(parameters.row_out.offset(static_cast<std::uint32_t>(power(20) - 1)),
            8 * (power(20) - 1));
  EXPECT_EQ(parameters.column_out.offset(31), 31 * power(23));
}

// Runs that begin within words touch more of them than threads can hold.
TEST(Lower, RefusesPointersThatMakeTooManyWordsOfAFullSlice) {
  const LoweredPlan full(test::built(paper_request({64, 30000}, {1, 0}, 2), 16,
                                     {orthogonal_arbitrary, {1, 1, 64, 128}}));
  EXPECT_EQ(full.bind(at(kAligned), at(kAligned)).access, (VectorAccess{true, true}));
  for (const auto& [in, out] : {std::pair{2U, 0U}, std::pair{0U, 2U}}) {
    expect_refused(full, in, out, 4);
  }
  const LoweredPlan smaller(test::built(paper_request({64, 30000}, {1, 0}, 2), 16,
                                        {orthogonal_arbitrary, {1, 1, 64, 100}}));
  EXPECT_EQ(smaller.bind(at(kAligned + 2), at(kAligned)).access, VectorAccess{});
  EXPECT_EQ(smaller.bind(at(kAligned), at(kAligned + 2)).access, VectorAccess{});
}

TEST(Lower, RefusesPointersThatAreNotAlignedAsPlanned) {
  const LoweredPlan plan(
      test::built(paper_request({40, 40}, {1, 0}, 8), 16, {orthogonal_distinct, {1, 1, 32, 32}}));
  for (const auto& [in, out] : {std::pair{4U, 0U}, std::pair{0U, 4U}, std::pair{2U, 16U}}) {
    expect_refused(plan, in, out, 8);
  }
  EXPECT_EQ(plan.bind(at(kAligned + 8), at(kAligned)).access, (VectorAccess{false, true}));
  EXPECT_EQ(plan.bind(at(kAligned), at(kAligned + 8)).access, (VectorAccess{true, false}));
}

// The layout is chosen for the planned alignment; pointers may be aligned better.
TEST(Lower, KeepsVectorsAlignedInSharedMemory) {
  const Request request = contiguous_request({132, 144}, {1, 0}, 4);
  const cuda::Parameters parameters{orthogonal_arbitrary, {1, 1, 144, 16}};
  const LoweredPlan words(test::built(request, 4, parameters));
  ASSERT_NE(words.layout.row_padding % 4, 0U);
  EXPECT_FALSE(bind_aligned(words).access.vector_in);
  EXPECT_TRUE(bind_aligned(LoweredPlan(test::built(request, 16, parameters))).access.vector_in);
}

TEST(Lower, CutsHeadAndTailOffACopy) {
  using Case = std::tuple<std::int64_t, int, int, std::uint32_t, std::uint32_t, std::int64_t>;
  // Bytes, beyond an aligned address of the input and of the output; shift, head, whole words. What
  // is shifted is cut out of words that lie inside the array.
  const std::vector<Case> cases{{1001, 0, 0, 0, 0, 62},   {1001, 5, 5, 0, 11, 61},
                                {1001, 5, 21, 0, 11, 61}, {1001, 4, 12, 8, 20, 60},
                                {1001, 1, 2, 15, 30, 60}, {1001, 3, 1, 2, 15, 60},
                                {1001, 12, 4, 8, 12, 61}, {3, 5, 5, 0, 3, 0},
                                {16, 8, 8, 0, 8, 0},      {31, 0, 1, 15, 15, 0}};
  for (const auto& [bytes, in, out, shift, head, words] : cases) {
    const LoweredPlan plan(test::built(contiguous_request({bytes}, {0}, 1), 1, {}));
    const Launch launch = plan.bind(at(kAligned + static_cast<std::uintptr_t>(in)),
                                    at(2 * kAligned + static_cast<std::uintptr_t>(out)));
    const auto parameters = std::get<CopyArguments>(launch.arguments);
    EXPECT_EQ(launch.word_bytes, 16);
    EXPECT_EQ(parameters.bytes, bytes);
    EXPECT_EQ(parameters.shift, shift) << in << " " << out;
    EXPECT_EQ(parameters.head, head) << in << " " << out;
    EXPECT_EQ(parameters.words, words) << in << " " << out;
    EXPECT_EQ(launch.blocks, 1U);
  }
  const LoweredPlan large(test::built(contiguous_request({power(36)}, {0}, 1), 1, {}));
  EXPECT_EQ(bind_aligned(large).blocks,
            power(36) / (16 * CopyPolicy::kThreads * CopyPolicy::kBatch));
  EXPECT_EQ(std::get<CopyArguments>(bind_aligned(large).arguments).words, power(32));
}

// TTLG, Fig. 4: rows of b runs of N0 lie b * N0 + (N0 - b * N0) mod 32 words apart; doubles, which
// pass in half warps, modulo 16 banks.
TEST(Lower, PadsRowsOfMatchingRuns) {
  for (const std::int64_t bytes : {4, 8}) {
    const std::int64_t banks = 128 / bytes;
    for (std::int64_t run = 2; run < 32; ++run) {
      for (std::int64_t block = 1; block <= 32; ++block) {
        // Pointers aligned to no more than an element keep its words.
        const LoweredPlan plan(test::built(paper_request({run, 33, 33}, {0, 2, 1}, bytes), bytes,
                                           {fvi_match_small, {2, 2, block, 4}}));
        const auto address = kAligned + static_cast<std::uintptr_t>(bytes);
        const Launch launch = plan.bind(at(address), at(address));
        const auto parameters = std::get<MatchSmallArguments>(launch.arguments);
        const std::int64_t pad = ((run - block * run) % banks + banks) % banks;
        ASSERT_EQ(launch.word_bytes, bytes);
        const std::int64_t pitch = bytes * (block * run + pad);
        ASSERT_EQ(parameters.in.shared_line_step, pitch) << run << " " << block;
        ASSERT_EQ(parameters.out.shared_run_step, pitch) << run << " " << block;
        ASSERT_EQ(launch.shared_bytes, 4 * pitch);
      }
    }
  }
}

TEST(Lower, WidensMatchingRunsAsFarAsBothPointersAllow) {
  const LoweredPlan plan(
      test::built(paper_request({20, 33, 33}, {0, 2, 1}, 4), 4, {fvi_match_small, {2, 2, 4, 4}}));
  const auto width = [&](std::uintptr_t in, std::uintptr_t out) {
    return plan.bind(at(kAligned + in), at(kAligned + out)).word_bytes;
  };
  EXPECT_EQ(width(0, 0), 16);
  EXPECT_EQ(width(8, 0), 8);
  EXPECT_EQ(width(0, 4), 4);
  EXPECT_EQ(width(12, 16), 4);
}

TEST(Lower, SharesABlockAmongShortRuns) {
  // 25 words of 16 bytes, for 8 lanes each: 32 runs a block.
  const LoweredPlan plan(test::built(paper_request({100, 7, 5}, {0, 2, 1}, 4), 256,
                                     {fvi_match_large, {1, 1, 100, 1}}));
  EXPECT_EQ(bind_aligned(plan).word_bytes, 16);
  EXPECT_EQ(bind_aligned(plan).blocks, 2U);
}

// Every chunk of a line has a warp in some pass, and the last pass leaves as few idle as it can.
TEST(Lower, SharesChunksOfLinesAmongWarps) {
  for (std::int64_t block = 1; block <= 32; ++block) {
    const LoweredPlan plan(test::built(paper_request({21, 33, 33}, {0, 2, 1}, 4), 4,
                                       {fvi_match_small, {2, 2, block, 4}}));
    const Launch launch = plan.bind(at(kAligned + 4), at(kAligned));
    const MatchSmallSide side = std::get<MatchSmallArguments>(launch.arguments).in;
    ASSERT_EQ(side.chunks, (21 * block + 31) / 32);
    const std::uint32_t last = side.last_chunks.divisor();
    ASSERT_EQ((side.chunks - last) % 8, 0U);
    ASSERT_LE(last, 8U);
    ASSERT_EQ(side.last_warps, 8 / last);
  }
}

// The loop that fills batches of four loads is the inner one.
TEST(Lower, GoesAlongChunksOrAcrossThem) {
  const auto lowered = [](std::int64_t run, std::int64_t repeats) {
    const LoweredPlan plan(test::built(paper_request({run, repeats, 5}, {0, 2, 1}, 16), 256,
                                       {fvi_match_large, {1, 1, run, 1}, 1}));
    return std::get<MatchLargeArguments>(bind_aligned(plan).arguments);
  };
  const MatchLargeArguments across = lowered(33, 100);
  EXPECT_FALSE(across.inner_along_chunk);
  EXPECT_EQ(across.inner.count, 100U);
  EXPECT_EQ(across.outer.count, 3U) << "16 lanes for 33 words";
  const MatchLargeArguments along = lowered(1024, 2);
  EXPECT_TRUE(along.inner_along_chunk);
  EXPECT_EQ(along.inner.count, 4U) << "256 lanes for 1024 words";
  EXPECT_EQ(along.outer.count, 2U);
}

TEST(Lower, LaunchesNothingForNoElements) {
  const LoweredPlan plan(test::built(contiguous_request({4, 0}, {1, 0}, 4), 4, {}));
  EXPECT_EQ(plan.bind(nullptr, nullptr).blocks, 0U);
}

}  // namespace
}  // namespace ttlg::cuda
