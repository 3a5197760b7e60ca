// Which programs are chosen, and that they move every element of a tensor.
#include "generate/choose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "generate/choices.hpp"
#include "generate/lowering.hpp"
#include "sample.hpp"

namespace ttlg::generate {
namespace {

using shuffle::Tile;

std::string describe(const Request& request) {
  return testing::PrintToString(request.shape) + " by " + testing::PrintToString(request.axes) +
         ", strides " + testing::PrintToString(request.in_byte_strides) + " -> " +
         testing::PrintToString(request.resolved_out_byte_strides()) + ", item size " +
         std::to_string(request.itemsize);
}

void check(const Tile& tensor, const Isa& isa, const Options& options) {
  const Choice choice = choose(tensor, isa, options);
  ASSERT_LT(shuffle::live_registers(choice.program), isa.registers);
  std::vector<std::int64_t> out;
  ASSERT_NO_THROW(out = test::carry_out(choice, tensor)) << to_text(choice.program);
  ASSERT_EQ(out, test::permuted(test::whole(tensor))) << to_text(choice.program);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  int instructions = 0;
  for (const shuffle::Operation& each : choice.program.operations) {
    instructions += lowering->lower(choice.program, each).instructions;
  }
  ASSERT_EQ(instructions, choice.instructions);
  ASSERT_TRUE(options.unroll == 0 || choice.tiles <= options.unroll);
}

// Axes nested in any order, with gaps between their elements; none is walked backwards.
Request random_request(test::Random& random) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(test::pick(random, 2, 4)));
  for (std::int64_t& extent : shape) {
    extent = test::pick(random, 1, 11);
    if (extent == 11) extent = 17;
  }
  Request request = test::pick(random, 0, 3) == 0
                        ? test::many_modes_request(random)
                        : test::random_layouts(random, shape, test::random_itemsize(random));
  for (auto* const strides : {&request.in_byte_strides, &request.out_byte_strides}) {
    for (std::int64_t& stride : *strides) stride = std::abs(stride);
  }
  return request;
}

TEST(Choose, MovesEveryElementOfAnyLayout) {
  test::Random random(91);
  for (int i = 0; i < 240; ++i) {
    const Request request = random_request(random);
    if (std::ranges::find(request.in_byte_strides, 0) != request.in_byte_strides.end()) continue;
    const Tile tensor = make_tensor(make_problem(request));
    const Isa& isa = isas()[static_cast<std::size_t>(i) % isas().size()];
    SCOPED_TRACE(std::string(isa.name) + ": " + describe(request));
    check(tensor, isa, {});
    check(tensor, isa, {.unroll = 1, .reorder = i % 3 == 0});
    check(tensor, isa, {.unroll = 4, .vector_bytes = isa.vector_bytes.back()});
    if (HasFatalFailure()) return;
  }
}

// Windows of 30 bytes that begin 17 bytes apart: 64 bytes, but a register that ends with them holds
// none of the second window's elements whole.
TEST(Choose, LoadsNothingBeforeATensor) {
  Request request = test::contiguous_request({3, 5, 3}, {2, 0, 1}, 2);
  request.in_byte_strides = {17, 6, 2};
  for (const Isa& isa : isas()) check(make_tensor(make_problem(request)), isa, {});
}

// GenTT, section 4.2: log2(w) / w shuffles of an element, of one source or two.
TEST(Choose, TakesNoMoreShufflesOfSquareBlocksThanThePaper) {
  for (const Isa& isa : isas()) {
    for (const std::int64_t element_bytes : {4, 8}) {
      for (const int bytes : isa.vector_bytes) {
        SCOPED_TRACE(std::string(isa.name) + ", " + std::to_string(bytes) + " bytes");
        const Tile tensor = test::matrix(64, 64, element_bytes);
        const Choice choice = choose(tensor, isa, {.vector_bytes = bytes});
        ASSERT_EQ(choice.vector_bytes, bytes);
        const std::int64_t lanes = bytes / element_bytes;
        const auto log = std::countr_zero(static_cast<std::uint64_t>(lanes));
        const shuffle::Counts counts = shuffle::count(choice.program);
        EXPECT_LE((counts.shuffles + counts.self_shuffles) * lanes,
                  log * choice.tile.elements() * choice.tiles);
      }
      check(test::matrix(64, 64, element_bytes), isa, {});
    }
  }
}

TEST(Choose, UsesNoMoreRegistersThanThereAre) {
  for (const Isa& isa : isas()) {
    for (const std::int64_t element_bytes : {2, 4, 8, 16}) {
      for (const int unroll : {0, 64}) {
        for (const bool reorder : {false, true}) {
          if (!test::is_sample()) continue;
          const Choice choice = choose(test::matrix(128, 64, element_bytes), isa,
                                       {.unroll = unroll, .reorder = reorder});
          EXPECT_LT(shuffle::live_registers(choice.program), isa.registers) << isa.name;
        }
      }
    }
  }
}

// Of an instruction set with fewer: smaller tiles, or single elements at last.
TEST(Choose, MakesDoWithFewRegisters) {
  Isa isa = find_isa("avx512");
  for (isa.registers = 2; isa.registers < 20; ++isa.registers) {
    for (const bool reorder : {false, true}) {
      check(test::matrix(32, 32, 4), isa, {.unroll = 1, .reorder = reorder});
    }
  }
}

// Lanes that stay are brought into their order by the shuffles of two registers where these take
// any index (GenTT, section 4.3).
TEST(Choose, JoinsShufflesWhereAnyIndexIsAnInstruction) {
  const Tile tensor =
      make_tensor(make_problem(test::contiguous_request({4, 4, 4, 4}, {0, 3, 1, 2}, 4)));
  const shuffle::Counts counts =
      shuffle::count(choose(tensor, find_isa("avx512"), {.unroll = 1, .vector_bytes = 64}).program);
  EXPECT_EQ(counts.loads, 4);
  EXPECT_EQ(counts.shuffles, 8);
  EXPECT_EQ(counts.self_shuffles, 0);
}

// The square of GenTT, section 6.2, in AVX-512: 16 registers of data, and two more within a pair.
TEST(Choose, HoldsASquareOf16LanesInEighteenRegisters) {
  const Choice choice = choose(test::matrix(16, 16, 4), find_isa("avx512"), {});
  EXPECT_LE(shuffle::live_registers(choice.program), 18);
  EXPECT_EQ(choice.tiles, 1);
  EXPECT_TRUE(choice.loops.empty());
}

TEST(Choose, UnrollsByWhatDividesTheInnermostLoop) {
  const Isa& isa = find_isa("ssse3");
  const auto tiles = [&](std::int64_t columns, int unroll) {
    return choose(test::matrix(4, columns, 4), isa, {.unroll = unroll}).tiles;
  };
  EXPECT_EQ(tiles(64, 1), 1);
  EXPECT_EQ(tiles(64, 2), 2);
  EXPECT_EQ(tiles(64, 4), 4);
  EXPECT_EQ(tiles(24, 4), 2) << "six tiles";
  EXPECT_EQ(tiles(20, 4), 1) << "five tiles";
}

TEST(Choose, MovesNothingOfAnEmptyTensor) {
  const Choice choice = choose(test::matrix(0, 5, 4), find_isa("avx2"), {});
  EXPECT_TRUE(choice.program.operations.empty());
}

TEST(MakeTensor, RefusesToConvertElements) {
  for (const Request& request : ttlg::test::converting_requests()) {
    EXPECT_THROW(make_tensor(make_problem(request)), std::invalid_argument);
  }
}

TEST(MakeTensor, SplitsElementsIntoWords) {
  const auto words = [](std::int64_t itemsize) {
    const Tile tensor = test::matrix(5, 3, itemsize);
    const bool has_words = tensor.modes.size() > 2;
    return std::pair{tensor.element_bytes, has_words ? tensor.modes.front().extent : 1};
  };
  EXPECT_EQ(words(1), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(words(16), std::pair(std::int64_t{16}, std::int64_t{1}));
  EXPECT_EQ(words(3), std::pair(std::int64_t{1}, std::int64_t{3}));
  EXPECT_EQ(words(12), std::pair(std::int64_t{4}, std::int64_t{3}));
  EXPECT_EQ(words(32), std::pair(std::int64_t{16}, std::int64_t{2}));
}

}  // namespace
}  // namespace ttlg::generate
