#include "plan/cuda/layout/choose_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/packed_slice.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::unfused_problem;

using enum Schema;

// Bytes of shared memory that the lanes of a warp touch.
using Touched = std::vector<std::uint32_t>;

std::uint32_t bank_bytes_of(std::int64_t element_bytes) {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(element_bytes, 4));
}

// What the warp's access takes beyond a cycle for each 128 bytes.
std::int64_t extra_cycles(const Touched& touched, std::uint32_t bank_bytes) {
  const std::uint32_t banks = kSharedLineBytes / bank_bytes;
  std::int64_t extra = 0;
  for (std::size_t first = 0; first < touched.size(); first += banks) {
    std::vector<std::set<std::uint32_t>> words(banks);
    for (std::size_t lane = first; lane < std::min(first + banks, touched.size()); ++lane) {
      const std::uint32_t word = touched[lane] / bank_bytes;
      words[word % banks].insert(word);
    }
    std::size_t most = 1;
    for (const auto& of_bank : words) most = std::max(most, of_bank.size());
    extra += static_cast<std::int64_t>(most) - 1;
  }
  return extra;
}

// A slice in shared memory, as the kernel fills and drains it.
class SharedSlice {
 public:
  SharedSlice(const SliceModes& order, std::int64_t element_bytes, const SharedLayout& layout,
              VectorAccess access = {})
      : order_(order), bytes_(static_cast<std::uint32_t>(element_bytes)), layout_(layout) {
    for (const SliceMode& mode : order_) elements_ *= mode.extent;
    rows_ = elements_ / padded_row_length(order_);
    is_filled_by_vectors_ =
        access.vector_in && keeps_vectors(layout, padded_row_length(order_), bytes_);
    if (access.vector_out) out_lane_ = kMaxAccessBytes / bytes_;
  }

  std::int64_t bytes() const { return (elements_ + rows_ * layout_.row_padding) * bytes_; }
  std::int64_t accesses() const { return 2 * ceil_div(elements_, kWarpSize); }
  std::int64_t conflicts() const { return fill_conflicts() + drain_conflicts(); }

 private:
  // Vectors meet no conflict.
  std::int64_t fill_conflicts() const {
    if (is_filled_by_vectors_) return 0;
    std::int64_t count = 0;
    for (std::int64_t first = 0; first < elements_; first += kWarpSize) {
      Touched touched;
      for (std::int64_t i = first; i < end_of_warp(first, 1); ++i) touched.push_back(address_of(i));
      count += extra_cycles(touched, bank_bytes_of(bytes_));
    }
    return count;
  }

  std::int64_t drain_conflicts() const {
    std::int64_t count = 0;
    for (std::int64_t first = 0; first < elements_; first += kWarpSize * out_lane_) {
      for (std::int64_t e = 0; e < out_lane_; ++e) {
        Touched touched;
        for (std::int64_t i = first + e; i < end_of_warp(first, out_lane_); i += out_lane_) {
          touched.push_back(address_of_output(i));
        }
        count += extra_cycles(touched, bank_bytes_of(bytes_));
      }
    }
    return count;
  }

  std::int64_t end_of_warp(std::int64_t first, std::int64_t lane_elements) const {
    return std::min(first + kWarpSize * lane_elements, elements_);
  }

  std::uint32_t address_of(std::int64_t element) const {
    const std::int64_t row = element / (elements_ / rows_);
    const auto at = static_cast<std::uint32_t>(element + row * layout_.row_padding);
    return swizzle(layout_, bank_bytes_of(bytes_), at * bytes_);
  }

  std::uint32_t address_of_output(std::int64_t i) const {
    std::int64_t element = 0;
    for (const SliceMode& mode : order_) {
      element += i % mode.extent * mode.step;
      i /= mode.extent;
    }
    return address_of(element);
  }

  const SliceModes& order_;
  std::uint32_t bytes_;
  SharedLayout layout_;
  std::int64_t elements_ = 1;
  std::int64_t rows_ = 1;
  bool is_filled_by_vectors_ = false;
  std::int64_t out_lane_ = 1;
};

// The whole of a cube whose modes are reversed.
SliceModes reversed_cube(std::int64_t extent, std::int64_t element_bytes) {
  return slice_in_output_order({unfused_problem({extent, extent, extent}, {2, 1, 0}, element_bytes),
                                {orthogonal_arbitrary, {3, 3, extent, extent}}});
}

TEST(Swizzle, PermutesTheBanksOfALineOfAnySlice) {
  for (const std::uint32_t bank_bytes : {4, 8, 16}) {
    for (const SharedLayout& layout : {SharedLayout{0, 1, 0}, SharedLayout{0, 0, 1},
                                       SharedLayout{0, 8, 3}, SharedLayout{5, 3, 8}}) {
      std::vector<bool> taken(OrthogonalArbitraryPolicy::kPaddedSliceBytes);
      for (std::uint32_t byte = 0; byte < taken.size(); ++byte) {
        const std::uint32_t address = swizzle(layout, bank_bytes, byte);
        ASSERT_EQ(address / kSharedLineBytes, byte / kSharedLineBytes);
        ASSERT_EQ(address % bank_bytes, byte % bank_bytes);
        ASSERT_EQ(address - address % bank_bytes,
                  swizzle(layout, bank_bytes, byte - byte % bank_bytes));
        ASSERT_FALSE(taken[address]);
        taken[address] = true;
      }
    }
  }
}

TEST(Swizzle, CountsLinesAndPages) {
  EXPECT_EQ(swizzle({}, 4, 12345), 12345U);
  EXPECT_EQ(swizzle({.line_rotation = 1}, 4, 0), 0U);
  EXPECT_EQ(swizzle({.line_rotation = 1}, 4, 128), 132U);
  EXPECT_EQ(swizzle({.line_rotation = 1}, 4, 255), 131U);
  EXPECT_EQ(swizzle({.line_rotation = 3}, 8, 2 * 128), 2 * 128 + 48U);
  EXPECT_EQ(swizzle({.page_rotation = 1}, 4, 31 * 128), 31 * 128U);
  EXPECT_EQ(swizzle({.page_rotation = 1}, 4, 32 * 128), 32 * 128 + 4U);
  EXPECT_EQ(swizzle({.page_rotation = 1}, 8, 16 * 128), 16 * 128 + 8U);
}

TEST(Swizzle, KeepsVectorsWholeOnlyByWholeVectors) {
  for (const std::uint32_t bank_bytes : {4, 8, 16}) {
    for (std::uint32_t line = 0; line <= 8; ++line) {
      for (std::uint32_t page = 0; page <= 8; ++page) {
        const SharedLayout layout{.line_rotation = line, .page_rotation = page};
        bool whole = true;
        for (std::uint32_t vector = 0; vector < OrthogonalArbitraryPolicy::kSliceBytes;
             vector += kMaxAccessBytes) {
          const std::uint32_t address = swizzle(layout, bank_bytes, vector);
          whole = whole && address % kMaxAccessBytes == 0;
        }
        EXPECT_EQ(keeps_vectors(layout, 1, bank_bytes), whole) << bank_bytes << line << page;
      }
    }
  }
}

TEST(Padding, KeepsVectorsWholeOnlyBetweenWholeVectors) {
  EXPECT_TRUE(keeps_vectors({.row_padding = 4}, 12, 4));
  EXPECT_FALSE(keeps_vectors({.row_padding = 4}, 10, 4));
  EXPECT_FALSE(keeps_vectors({.row_padding = 2}, 12, 4));
  EXPECT_TRUE(keeps_vectors({.row_padding = 2}, 12, 8));
  EXPECT_TRUE(keeps_vectors({}, 3, 4));
}

TEST(RowsOf, AreTheModesOfTheOutputAloneTheCutOneLast) {
  const Problem problem = unfused_problem({4, 5, 6, 7, 8}, {4, 3, 1, 2, 0}, 4);
  const auto rows = [&](const Slice& slice) {
    const auto found = rows_of({problem, {orthogonal_arbitrary, slice}});
    return std::vector(found.begin(), found.end());
  };
  EXPECT_EQ(rows({1, 2, 4, 7}), (std::vector{4, 3}));
  EXPECT_EQ(rows({1, 3, 4, 5}), (std::vector{3, 4, 1}));
  EXPECT_EQ(rows({2, 4, 5, 3}), (std::vector{3, 4, 2}));
  EXPECT_EQ(rows({4, 3, 7, 5}), (std::vector{4}));
}

TEST(SliceInOutputOrder, CountsColumnsFirst) {
  const Problem problem = unfused_problem({4, 5, 6, 7}, {2, 0, 3, 1}, 4);
  const SliceModes order = slice_in_output_order({problem, {orthogonal_arbitrary, {2, 1, 3, 6}}});
  std::vector<std::array<std::int64_t, 3>> found;
  for (const auto& [mode, extent, step] : order) found.push_back({mode, extent, step});
  // A mode along which the slice holds one element has no place.
  EXPECT_EQ(found, (std::vector<std::array<std::int64_t, 3>>{{2, 6, 12}, {0, 4, 1}, {1, 3, 4}}));
  EXPECT_EQ(padded_row_length(order), 12);
  EXPECT_EQ(padded_row_length(std::span(order).subspan(1)), 4);
  EXPECT_EQ(padded_row_length(std::span(order).subspan(1, 1)), 1);
  EXPECT_EQ(padded_row_length({}), 1);
}

TEST(ChooseSharedLayout, LeavesNoConflictInReversedCubesOf16) {
  constexpr VectorAccess kVectors{.vector_in = true, .vector_out = true};
  for (const std::int64_t bytes : {4, 8}) {
    const SliceModes order = reversed_cube(16, bytes);
    EXPECT_GT(SharedSlice(order, bytes, {}, kVectors).conflicts(), 0);
    const SharedLayout layout = choose_shared_layout(order, bytes, kVectors).layout;
    EXPECT_EQ(SharedSlice(order, bytes, layout, kVectors).conflicts(), 0) << bytes;
  }
}

TEST(ChooseSharedLayout, LeavesOddExtentsAlone) {
  for (const std::int64_t bytes : {4, 8}) {
    const SliceModes order = reversed_cube(15, bytes);
    EXPECT_EQ(choose_shared_layout(order, bytes, {}).layout, SharedLayout{}) << bytes;
  }
}

// Any slices of Orthogonal-Arbitrary, filled and drained element by element.
template <typename Check>
void for_random_slices(const Check& check) {
  test::Random random(41);
  test::for_random_candidates(
      random, 400, [&](const Problem& problem, const cuda::Parameters& parameters) {
        if (parameters.schema != orthogonal_arbitrary) return;
        if (OrthogonalArbitraryPolicy::is_packed(problem.element_bytes())) return;
        check(slice_in_output_order({problem, parameters}), problem.element_bytes());
      });
}

// A sample of the warps errs. Seen from all slices together little is lost.
TEST(ChooseSharedLayout, IsNoWorseThanNone) {
  int better = 0;
  std::int64_t conflicts = 0;
  std::int64_t of_packed = 0;
  for_random_slices([&](const SliceModes& order, std::int64_t bytes) {
    const SharedSlice packed(order, bytes, {});
    const SharedSlice chosen(order, bytes, choose_shared_layout(order, bytes, {}).layout);
    const std::int64_t error = std::max<std::int64_t>(packed.accesses() / 5, 3);
    conflicts += chosen.conflicts();
    of_packed += packed.conflicts();
    EXPECT_LE(chosen.conflicts(), packed.conflicts() + error) << bytes << " " << packed.accesses();
    better += chosen.conflicts() < packed.conflicts();
  });
  EXPECT_GT(better, 50);
  EXPECT_LT(conflicts, of_packed / 3);
}

TEST(ChooseSharedLayout, StaysWithinFiveQuartersOfASlice) {
  constexpr std::int64_t kRoom = OrthogonalArbitraryPolicy::kPaddedSliceBytes;
  for_random_slices([&](const SliceModes& order, std::int64_t bytes) {
    EXPECT_LE(SharedSlice(order, bytes, choose_shared_layout(order, bytes, {}).layout).bytes(),
              kRoom);
  });
  // Rows of 2 KB leave room for misalignments of up to 16 doubles, rows of 16 bytes for none.
  for (const std::int64_t column : {2, 256}) {
    const Problem problem = unfused_problem({column, 4096 / column, 2}, {1, 2, 0}, 8);
    const SliceModes order =
        slice_in_output_order({problem, {orthogonal_arbitrary, {1, 1, column, 4096 / column}}});
    const SharedLayout layout = choose_shared_layout(order, 8, {}).layout;
    EXPECT_LE(SharedSlice(order, 8, layout).bytes(), kRoom);
    EXPECT_LE(SharedSlice(order, 8, layout).conflicts(), SharedSlice(order, 8, {}).conflicts());
  }
}

// Where a layout that splits vectors is better for draining, elements are filled in one by one.
TEST(ChooseSharedLayout, KeepsVectorsWhereItCan) {
  int slices = 0;
  int kept = 0;
  for_random_slices([&](const SliceModes& order, std::int64_t bytes) {
    const SharedLayout layout =
        choose_shared_layout(order, bytes, {.vector_in = true, .vector_out = false}).layout;
    ++slices;
    kept += keeps_vectors(layout, padded_row_length(order), bytes);
  });
  EXPECT_GT(kept, slices / 2);
  EXPECT_LT(kept, slices);
}

// Words of narrow elements must stay words.
TEST(ChooseSharedLayout, PadsNarrowElementsByWholeWords) {
  int padded = 0;
  int padded_within_words = 0;
  int rotated = 0;
  test::Random random(43);
  test::for_random_candidates(random, 800,
                              [&](const Problem& problem, const cuda::Parameters& parameters) {
                                const std::int64_t bytes = problem.element_bytes();
                                if (parameters.schema != orthogonal_arbitrary) return;
                                if (!OrthogonalArbitraryPolicy::is_packed(bytes)) return;
                                const SlicedProblem sliced(problem, parameters);
                                const SliceModes order = slice_in_output_order(sliced);
                                const VectorAccess access = planned_access(sliced);
                                const SharedLayout layout = choose_shared_layout(sliced).layout;
                                const std::int64_t row_bytes = padded_row_length(order) * bytes;
                                EXPECT_EQ(layout.row_padding * bytes % 4, 0);
                                if (!access.vector_in) {
                                  EXPECT_EQ(layout.line_rotation | layout.page_rotation, 0U);
                                  if (layout.row_padding > 0) {
                                    EXPECT_GE(row_bytes, packed_slice(sliced).in.bytes);
                                    ++padded_within_words;
                                  }
                                } else if (layout.row_padding > 0) {
                                  EXPECT_EQ(row_bytes % 4, 0);
                                }
                                padded += layout.row_padding > 0;
                                rotated += (layout.line_rotation | layout.page_rotation) != 0;
                              });
  EXPECT_GT(padded, 5);
  EXPECT_GT(padded_within_words, 5);
  EXPECT_GT(rotated, 5);
}

}  // namespace
}  // namespace ttlg::cuda
