// Streaming without a staged block: rows leave in whole lines, each stored by the block in which it
// begins, and what lies of a row before the first of them or after the last one goes through the
// caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cpu/block_mover.hpp"
#include "cpu/executions.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"
#include "sample.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;
using test::matches_reference;
using test::pick;
using Side = test::Placement::Side;

class DirectStreaming : public testing::TestWithParam<std::int64_t> {};

Plan matrix_plan(Request request, std::int64_t in_block, std::int64_t out_block, int threads) {
  std::vector<int> loops;
  if (out_block < request.shape[0]) loops.push_back(1);
  if (in_block < request.shape[1]) loops.push_back(0);
  return build_plan(std::move(request), {.kernel = Kernel::tile,
                                         .block = {in_block, out_block},
                                         .loop_order = loops,
                                         .streaming = true,
                                         .prefetch = 2,
                                         .threads = threads});
}

// Rows of whole lines and rows that begin at another place of their line each, in blocks that end
// anywhere in them and leave clipped ones on both sides.
TEST_P(DirectStreaming, TilesAtEveryAlignment) {
  const std::int64_t line = kLineBytes / GetParam();
  for (const std::int64_t columns : {1, 3, 8, 19, 67}) {
    for (const std::int64_t row : {7 * line, 7 * line + 1, 6 * line - 1}) {
      const Request request = contiguous_request({row, columns}, {1, 0}, GetParam());
      if (!applies(Kernel::tile, fold_run(make_problem(request)))) continue;
      for (const auto& [in_block, out_block] : {std::pair{columns, row},
                                                {columns, 3 * line + 1},
                                                {std::min<std::int64_t>(columns, 17), 2 * line}}) {
        const Plan plan =
            matrix_plan(request, in_block, out_block, 1 + static_cast<int>(columns % 2));
        for (std::size_t alignment = 0; alignment < 64; ++alignment) {
          ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
        }
      }
    }
  }
}

// Rows that do not fit L1 at once.
TEST_P(DirectStreaming, LongTiles) {
  const Request request = contiguous_request({5003, 21}, {1, 0}, GetParam());
  for (const std::int64_t out_block : {5003, 2500}) {
    const Plan plan = matrix_plan(request, 9, out_block, 2);
    for (const std::size_t alignment : {0, 8, 63}) {
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

// Rows of an output with gaps, which need not be a multiple of an element apart.
TEST_P(DirectStreaming, RowsApart) {
  const std::int64_t row = 300 / GetParam() + 5;
  for (const std::int64_t gap : {1, 4, 30}) {
    Request request = contiguous_request({row, 37}, {1, 0}, GetParam());
    request.out_byte_strides = {row * GetParam() + gap, GetParam()};
    const Plan plan = matrix_plan(request, 20, 130 / GetParam() + 1, 2);
    for (std::size_t alignment = 0; alignment < 64; alignment += 7) {
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

// Rows of the input that are a page apart, and share a set of L1; some make whole lines.
TEST_P(DirectStreaming, RowsInOneSet) {
  const std::int64_t line = kLineBytes / GetParam();
  for (const std::int64_t columns : {line, 2 * line + 3}) {
    for (const std::int64_t row : {3 * line, 3 * line + 1, 7 * line - 1}) {
      Request request = contiguous_request({row, columns}, {1, 0}, GetParam());
      request.in_byte_strides[0] = 4096;
      const Plan plan = matrix_plan(request, columns, row, 1);
      for (std::size_t alignment = 0; alignment < 64; alignment += 4) {
        ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
      }
    }
  }
}

// Packed structures of few fields, split and joined, in blocks that end anywhere; and the same with
// gaps between the rows of the input, where split structures are not packed.
TEST_P(DirectStreaming, PackedFields) {
  for (const std::int64_t fields : {2, 3, 4, 5}) {
    for (const std::int64_t structures : {128, 130, 331}) {
      for (const bool splits : {true, false}) {
        Request request = splits ? contiguous_request({structures, fields}, {1, 0}, GetParam())
                                 : contiguous_request({fields, structures}, {1, 0}, GetParam());
        for (const std::int64_t gap : {std::int64_t{0}, GetParam()}) {
          request.in_byte_strides[0] = request.shape[1] * GetParam() + gap;
          const std::int64_t block = std::min<std::int64_t>(structures, 150);
          const Plan plan = splits ? matrix_plan(request, fields, block, 2)
                                   : matrix_plan(request, block, fields, 2);
          for (std::size_t alignment = 0; alignment < 64; alignment += 3) {
            ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
          }
        }
      }
    }
  }
}

// Threads may move neighbouring blocks at the same time, so that no two may store the same byte,
// be it with the same value; and no two may store the same line but at the ends of a row, and not
// even there where rows of whole lines `adjoin`.
void check_every_line_has_one_block(const Plan& plan, std::int64_t row_bytes, std::size_t alignment,
                                    bool adjoin) {
  const auto bytes = static_cast<std::size_t>(plan.problem.bytes());
  const std::vector<std::byte> in(bytes, std::byte{1});
  const std::byte* const first_element = in.data() - test::in_span_of(plan.request).first;
  for (const Kernels* level : usable_levels()) {
    test::SentinelOutput out(bytes, alignment);
    std::vector<std::int64_t> block_of(out.surroundings().size(), -1);
    for (std::int64_t block = 0; block < plan.blocks(); ++block) {
      test::SentinelOutput alone(bytes, alignment);
      BlockMover(plan, *level).move(first_element, alone.data(), block, block + 1);
      for (std::size_t i = 0; i < block_of.size(); ++i) {
        if (alone.surroundings()[i] != std::byte{1}) continue;
        ASSERT_EQ(block_of[i], -1) << level->name << ", byte " << i;
        block_of[i] = block;
      }
    }
    const auto first = static_cast<std::int64_t>(out.data() - out.surroundings().data());
    EXPECT_EQ(std::ranges::count(block_of, -1), std::ssize(block_of) - std::ssize(in));
    for (std::int64_t i = 1; i < std::ssize(in); ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      if (line_offset(out.data() + i) == 0 || (!adjoin && i % row_bytes == 0)) continue;
      ASSERT_EQ(block_of[at], block_of[at - 1]) << level->name << ", byte " << i;
    }
  }
}

TEST_P(DirectStreaming, EveryLineHasOneBlock) {
  const std::int64_t size = GetParam();
  const std::int64_t lines = ceil_div(2 * kLineBytes, size);
  for (const std::int64_t row : {450 / size + 3, lines}) {
    const Plan plan = matrix_plan(contiguous_request({row, 35}, {1, 0}, size), 20, lines, 1);
    for (const std::size_t alignment : {16, 17}) {  // elements begin at their multiples, or not
      const bool adjoin = row == lines && alignment % static_cast<std::size_t>(size) == 0;
      check_every_line_has_one_block(plan, row * size, alignment, adjoin);
    }
  }
}

// `rows` rows of `columns` elements, mirrored, in blocks of half a row or so.
Plan mirrored_plan(std::int64_t rows, std::int64_t columns, std::int64_t size, int threads) {
  Request request = contiguous_request({rows, columns}, {0, 1}, size);
  request.in_byte_strides[1] = -size;
  return build_plan(request, {.kernel = Kernel::strided_copy,
                              .block = {columns / 2 + 5, rows},
                              .loop_order = {0},
                              .streaming = true,
                              .prefetch = 1,
                              .threads = threads});
}

TEST_P(DirectStreaming, MirroredRowsAtEveryAlignment) {
  const std::int64_t line = kLineBytes / GetParam();
  for (const std::int64_t columns : {5 * line, 6 * line + 3, 17 * line - 1}) {
    const Plan plan = mirrored_plan(3, columns, GetParam(), 2);
    for (std::size_t alignment = 0; alignment < 64; ++alignment) {
      for (const Side side : {Side::before, Side::after}) {
        ASSERT_TRUE(matches_reference(plan, {side, 0}, alignment));
      }
    }
  }
}

TEST_P(DirectStreaming, EveryLineOfMirroredRowsHasOneBlock) {
  for (const std::size_t alignment : {16, 17}) {
    const Plan plan = mirrored_plan(5, 333, GetParam(), 1);
    check_every_line_has_one_block(plan, 333 * GetParam(), alignment, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, DirectStreaming, testing::ValuesIn(kWidths),
                         testing::PrintToStringParamName());

Plan run_plan(std::int64_t bytes, int threads) {
  return build_plan(contiguous_request({150, 5, bytes}, {1, 0, 2}, 1),
                    {.kernel = Kernel::strided_copy,
                     .block = {4, 131},
                     .loop_order = {1, 0},
                     .streaming = true,
                     .prefetch = 1,
                     .threads = threads});
}

// Elements shorter and longer than a line, and those that leave from their source.
TEST(DirectStreamingOf, RunsAtEveryAlignment) {
  for (const std::int64_t bytes : {1, 3, 4, 7, 16, 60, 64, 65, 128, 129, 1000, 1024, 1500}) {
    const Plan plan = run_plan(bytes, 2);
    for (std::size_t alignment = 0; alignment < 64; ++alignment) {
      ASSERT_TRUE(matches_reference(plan, {Side::after, 0}, alignment));
    }
  }
}

TEST(DirectStreamingOf, EveryLineOfRunsHasOneBlock) {
  for (const std::int64_t bytes : {7, 60, 64, 65, 128, 1000}) {
    for (const std::size_t alignment : {0, 17}) {
      check_every_line_has_one_block(run_plan(bytes, 1), 150 * bytes, alignment, false);
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
    const std::int64_t row = line * pick(random, 2, 4) + pick(random, 0, 1) * pick(random, 1, 9);
    const std::vector<std::int64_t> shape{row, pick(random, 2, 9), pick(random, 2, 40)};
    const std::vector<int> axes =
        pick(random, 0, 1) == 0 ? std::vector{1, 2, 0} : std::vector{2, 1, 0};
    Request request = contiguous_request(shape, axes, itemsize);
    for (std::int64_t& stride : request.in_byte_strides) {
      if (pick(random, 0, 5) == 0) stride = pick(random, 0, 1) == 0 ? 0 : -stride;
    }
    const Problem folded = fold_run(make_problem(request));
    for (const Kernel kernel : {Kernel::tile, Kernel::strided_copy}) {
      if (!applies(kernel, folded)) continue;
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
