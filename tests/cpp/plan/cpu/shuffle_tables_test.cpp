// Shuffle programs, carried out on plain bytes and compared with the permutation.
#include "plan/cpu/shuffle_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using Lane = std::array<std::uint8_t, kLaneBytes>;
using Memory = std::map<std::int64_t, std::uint8_t>;

struct Program {
  Block block;
  ShuffleTables shuffle;
  std::int64_t element_bytes;
};

// The bytes of the first tile with the step of one side, in the order of the tile's elements.
std::vector<std::int64_t> tile_bytes(const Program& program, std::int64_t BlockMode::* step) {
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(program.element_bytes));
  std::iota(bytes.begin(), bytes.end(), 0);
  for (std::size_t m = 0; m < program.block.modes.size(); ++m) {
    const std::size_t inner = bytes.size();
    for (std::int64_t i = 1; i < program.shuffle.tile[m]; ++i) {
      for (std::size_t k = 0; k < inner; ++k) {
        bytes.push_back(bytes[k] + i * (program.block.modes[m].*step));
      }
    }
  }
  return bytes;
}

Lane load(const Memory& memory, std::int64_t offset) {
  Lane lane;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto byte = memory.find(offset + static_cast<std::int64_t>(i));
    EXPECT_NE(byte, memory.end()) << "reads a byte that is not the tile's";
    lane[i] = byte == memory.end() ? 0 : byte->second;
  }
  return lane;
}

// What unpack instructions do: `unit` bytes of one vector after as many of the other, from their
// lower or their upper halves.
Lane interleave(const Lane& x, const Lane& y, std::size_t unit, bool upper) {
  Lane result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Lane& source = i / unit % 2 == 0 ? x : y;
    result[i] = source[(upper ? kLaneBytes / 2 : 0) + i / (2 * unit) * unit + i % unit];
  }
  return result;
}

std::vector<Lane> compute_rounds(const ShuffleTables& shuffle, std::vector<Lane> vectors) {
  for (Lane& vector : vectors) {
    const Lane before = vector;
    for (std::size_t i = 0; i < before.size(); ++i) vector[i] = before.at(shuffle.first[i]);
  }
  for (const std::uint8_t unit : shuffle.rounds) {
    const std::size_t half = vectors.size() / 2;
    std::vector<Lane> next;
    for (std::size_t i = 0; i < half; ++i) {
      next.push_back(interleave(vectors[i], vectors[i + half], unit, false));
      next.push_back(interleave(vectors[i], vectors[i + half], unit, true));
    }
    vectors = std::move(next);
  }
  return vectors;
}

std::vector<Lane> compute_sums(const ShuffleTables& shuffle, const std::vector<Lane>& vectors) {
  std::vector<Lane> results;
  auto term = shuffle.terms.begin();
  for (const std::uint8_t terms : shuffle.sums) {
    Lane value{};
    for (int k = 0; k < terms; ++k, ++term) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (term->bytes[i] == kNoByte) continue;
        EXPECT_LT(term->bytes[i], kLaneBytes);
        value[i] |= vectors.at(term->source).at(term->bytes[i]);
      }
    }
    results.push_back(value);
  }
  EXPECT_EQ(term, shuffle.terms.end());
  return results;
}

// The stored vectors.
std::vector<Lane> compute(const ShuffleTables& shuffle, const Memory& in) {
  std::vector<Lane> vectors;
  for (const std::int64_t offset : shuffle.loads) vectors.push_back(load(in, offset));
  return shuffle.sums.empty() ? compute_rounds(shuffle, std::move(vectors))
                              : compute_sums(shuffle, vectors);
}

// Carries the program out on one tile: every byte of it arrives and nothing else is touched.
void check(const Program& program) {
  const ShuffleTables& shuffle = program.shuffle;
  const std::vector<std::int64_t> in_bytes = tile_bytes(program, &BlockMode::in_step);
  test::Random random(1);
  Memory in;
  for (const std::int64_t byte : in_bytes) {
    in[byte] = static_cast<std::uint8_t>(test::pick(random, 0, 255));
  }
  // What lies in gaps may be read as well.
  for (auto byte = in.begin(); std::next(byte) != in.end(); ++byte) {
    const std::int64_t next = std::next(byte)->first;
    if (next <= byte->first + 1 + kMaxLaneGap && next > byte->first + 1) {
      in[byte->first + 1] = static_cast<std::uint8_t>(test::pick(random, 0, 255));
    }
  }
  const std::vector<Lane> vectors = compute(shuffle, in);
  const auto check_stores = [&](const std::vector<std::int64_t>& stores,
                                std::int64_t BlockMode::* step) {
    ASSERT_EQ(stores.size(), vectors.size());
    Memory expected;
    const std::vector<std::int64_t> out_bytes = tile_bytes(program, step);
    for (std::size_t i = 0; i < out_bytes.size(); ++i) expected[out_bytes[i]] = in[in_bytes[i]];
    Memory out;
    for (std::size_t i = 0; i < stores.size(); ++i) {
      for (std::size_t k = 0; k < kLaneBytes; ++k) {
        out[stores[i] + static_cast<std::int64_t>(k)] = vectors[i][k];
      }
    }
    ASSERT_EQ(out, expected);
  };
  check_stores(shuffle.out_stores, &BlockMode::out_step);
  check_stores(shuffle.staging_stores, &BlockMode::staging_step);
}

Program make_program(const Problem& problem, const std::vector<std::int64_t>& extents) {
  const std::vector<std::int64_t> least = shuffle_tile(problem);
  std::vector<std::int64_t> tile;
  for (const int m : problem.perm) {
    if (extents[static_cast<std::size_t>(m)] > 1)
      tile.push_back(least[static_cast<std::size_t>(m)]);
  }
  std::vector<int> loops(extents.size(), -1);
  const std::vector<int> cut = test::cut_modes(problem, extents);
  for (std::size_t i = 0; i < cut.size(); ++i)
    loops[static_cast<std::size_t>(cut[i])] = static_cast<int>(i);
  Block block = make_block(problem, {.kernel = Kernel::shuffle, .block = extents}, loops);
  ShuffleTables shuffle = make_shuffle_tables(block, std::move(tile), problem.element_bytes());
  return {std::move(block), std::move(shuffle), problem.element_bytes()};
}

// GenTT, section 4.2, for one permutation of size-2 indices, each of which is a mode: output index
// k is input index sigma[k], 0 fastest (section 2.1).
void check_counts(const std::vector<int>& sigma, int lg_w) {
  const std::vector<std::int64_t> twos(sigma.size(), 2);
  const Problem problem = test::unfused_problem(twos, sigma, kLaneBytes >> lg_w);
  const std::vector<std::int64_t> tile = shuffle_tile(problem);
  ASSERT_FALSE(tile.empty());
  const Program program = make_program(problem, tile);
  check(program);
  const auto columns = std::span(sigma).first(static_cast<std::size_t>(lg_w));
  const auto common = std::ranges::count_if(columns, [&](int k) { return k < lg_w; });
  const bool same_order = std::ranges::is_sorted(columns) && common == lg_w;
  const auto swaps = static_cast<std::size_t>(lg_w - common);
  const ShuffleTables& shuffle = program.shuffle;
  const std::size_t vectors = std::size_t{1} << swaps;
  EXPECT_TRUE(shuffle.sums.empty());
  EXPECT_EQ(shuffle.loads.size(), vectors);
  EXPECT_EQ(shuffle.out_stores.size(), vectors) << "vectors are renamed, not moved";
  EXPECT_EQ(shuffle.rounds.size(), swaps);
  if (swaps > 0) return;
  ByteIndices same;
  std::iota(same.begin(), same.end(), std::uint8_t{0});
  EXPECT_EQ(shuffle.first == same, same_order)
      << "nothing to do, or one self-shuffle, which the paper overlooks";
}

TEST(Butterfly, TakesTheStepsAndVectorsThatThePaperCounts) {
  const auto check_all = [](const std::vector<int>& sigma) {
    for (const int lg_w : {2, 3, 4}) check_counts(sigma, lg_w);
    ASSERT_FALSE(HasFailure()) << testing::PrintToString(sigma);
  };
  for (const std::size_t rank : {4U, 5U, 6U, 7U}) {
    test::for_each_permutation(rank, [&](const std::vector<int>& sigma) {
      if (!HasFailure()) check_all(sigma);
    });
  }
  test::Random random(21);
  for (int i = 0; i < 2000 && !HasFailure(); ++i) check_all(test::random_axes(random, 8));
}

// Any extents, widths and layouts (GenTT, section 5), in blocks that hold more than the tile.
TEST(ShuffleTables, RandomShapes) {
  test::Random random(22);
  int checked = 0;
  int over_several_modes = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(test::pick(random, 2, 5)));
    for (std::int64_t& extent : shape) {
      extent = test::pick(random, 1, 11);
      if (extent == 11) extent = 17;
    }
    const Request request =
        test::random_layouts(random, std::move(shape), test::pick(random, 1, 12));
    const Problem folded = fold_run(make_problem(request));
    if (!applies(Kernel::shuffle, folded)) continue;
    const Program program =
        make_program(folded, test::random_block(random, folded, Kernel::shuffle));
    check(program);
    EXPECT_LE(program.shuffle.loads.size(), std::size_t{kMaxTileVectors});
    EXPECT_LE(program.shuffle.out_stores.size(), std::size_t{kMaxTileVectors});
    ASSERT_FALSE(HasFailure()) << testing::PrintToString(request.shape) << " by "
                               << testing::PrintToString(request.axes) << ", strides "
                               << testing::PrintToString(request.in_byte_strides) << " -> "
                               << testing::PrintToString(request.out_byte_strides);
    ++checked;
    over_several_modes += std::ranges::count_if(program.shuffle.tile,
                                                [](std::int64_t extent) { return extent > 1; }) > 2;
  }
  EXPECT_GT(checked, 4000);
  EXPECT_GT(over_several_modes, 500);
}

// Windows into one row: two modes of the same step, only one of which at a time fills a vector.
TEST(ShuffleTables, OverlappingInputs) {
  for (const std::vector<int>& axes : {std::vector{1, 0, 2}, {0, 2, 1}, {2, 1, 0}}) {
    Request request = test::contiguous_request({3, 20, 5}, axes, 4);
    request.in_byte_strides = {4, 20, 4};
    const Problem folded = fold_run(make_problem(request));
    if (!applies(Kernel::shuffle, folded)) continue;
    std::vector<std::int64_t> whole;
    for (const Mode& mode : folded.modes) whole.push_back(mode.extent);
    check(make_program(folded, whole));
  }
}

TEST(ShuffleTile, NeedsContiguousBytesForAVectorOnBothSides) {
  const auto applies = [](const Request& request) {
    return !shuffle_tile(fold_run(make_problem(request))).empty();
  };
  using test::contiguous_request;
  EXPECT_TRUE(applies(contiguous_request({8, 3}, {1, 0}, 4)));
  EXPECT_FALSE(applies(contiguous_request({8, 3}, {1, 0}, 16))) << "an element fills the vector";
  EXPECT_FALSE(applies(contiguous_request({3, 1}, {1, 0}, 4))) << "nothing to permute";
  Request strided = contiguous_request({8, 3}, {1, 0}, 4);
  strided.in_byte_strides = {16, 4};
  EXPECT_TRUE(applies(strided)) << "12 bytes and a small gap";
  strided.in_byte_strides = {32, 4};
  EXPECT_FALSE(applies(strided)) << "12 bytes and a gap that no vector spans";
  strided = contiguous_request({8, 3}, {1, 0}, 4);
  strided.out_byte_strides = {40, 5};
  EXPECT_FALSE(applies(strided));
}

}  // namespace
}  // namespace ttlg::cpu
