#include "tensor/problem.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "moves.hpp"
#include "requests.hpp"

namespace ttlg {
namespace {

using test::contiguous_request;
using test::moves_of;
using Modes = std::vector<Mode>;
using Perm = std::vector<int>;

// Strides with a gap after every axis, so that no two modes fuse.
Request padded_request(std::vector<std::int64_t> shape, std::vector<int> axes) {
  Request request = contiguous_request(std::move(shape), std::move(axes), 4);
  std::int64_t stride = 4;
  for (std::size_t axis = request.shape.size(); axis-- > 0;) {
    request.in_byte_strides[axis] = stride;
    stride *= request.shape[axis] + 1;
  }
  return request;
}

TEST(MakeProblem, NumbersModesFastestFirstAndPermNamesTheInputMode) {
  // The permutation is not its own inverse, so that P is told from its inverse.
  const Problem problem = make_problem(padded_request({2, 3, 4}, {1, 2, 0}));
  EXPECT_EQ(problem.modes, (Modes{{4, 4, 8}, {3, 20, 32}, {2, 80, 4}}));
  EXPECT_EQ(problem.perm, (Perm{2, 0, 1}));
}

TEST(MakeProblem, FollowsTheMapFromAxesToPermForEveryPermutation) {
  for (int rank = 1; rank <= 5; ++rank) {
    test::for_each_permutation(static_cast<std::size_t>(rank), [&](const std::vector<int>& axes) {
      const std::vector<std::int64_t> shape(axes.size(), 2);
      const Problem problem = make_problem(padded_request(shape, axes));
      ASSERT_EQ(problem.perm.size(), axes.size());
      for (int i = 0; i < rank; ++i) {
        EXPECT_EQ(problem.perm[static_cast<std::size_t>(i)],
                  rank - 1 - axes[static_cast<std::size_t>(rank - 1 - i)]);
      }
    });
  }
}

TEST(MakeProblem, ScaledRanksOfTheSixDimensionalPermutations) {
  std::array<int, 7> count{};
  test::for_each_permutation(6, [&](const std::vector<int>& axes) {
    ++count[make_problem(contiguous_request({2, 3, 4, 5, 6, 7}, axes, 8)).modes.size()];
  });
  EXPECT_EQ(count, (std::array<int, 7>{0, 1, 5, 30, 110, 265, 309}));
}

TEST(MakeProblem, MovesWhatTheRequestAsksFor) {
  test::Random random(2);
  for (int i = 0; i < 500; ++i) {
    const Request request = test::random_request(random);
    const Problem problem = make_problem(request);
    ASSERT_EQ(moves_of(problem), moves_of(request));
    ASSERT_EQ(moves_of(fold_run(problem)), moves_of(request));
  }
}

TEST(MakeProblem, IsNormal) {
  test::Random random(3);
  for (int i = 0; i < 500; ++i) {
    const Problem problem = make_problem(test::random_request(random));
    for (const Mode& mode : problem.modes) {
      EXPECT_GT(mode.extent, 1);
      EXPECT_TRUE(mode.out_byte_stride > 0 ||
                  (mode.out_byte_stride < 0 && mode.in_byte_stride > 0));
    }
    for (std::size_t k = 1; k < problem.perm.size(); ++k) {
      const auto distance = [&](std::size_t at) {
        return std::abs(problem.modes[static_cast<std::size_t>(problem.perm[at])].out_byte_stride);
      };
      EXPECT_LE(distance(k - 1), distance(k));
    }
    EXPECT_EQ(place_signs(fuse_modes(
                  sort_by_input_stride(flip_negative_strides(drop_unit_modes(problem))))),
              problem);
  }
}

TEST(MakeProblem, ReversedArrayBecomesOneMode) {
  Request request = contiguous_request({3, 4, 5}, {0, 1, 2}, 2);
  for (std::int64_t& stride : request.in_byte_strides) stride = -stride;
  const Problem problem = make_problem(request);
  EXPECT_EQ(problem.modes, (Modes{{60, -2, 2}}));
  EXPECT_EQ(problem.in_byte_offset, 0);
}

TEST(MakeProblem, KnowsHowTheFirstElementOfTheOutputIsAligned) {
  Request request = contiguous_request({3, 10}, {1, 0}, 4);
  EXPECT_EQ(make_problem(request).out_alignment, 1);
  request.out_alignment = 64;
  EXPECT_EQ(make_problem(request).out_alignment, 64);
  request.out_byte_strides = {12, -4};  // flipped: what was element (0, 2) is the first
  EXPECT_EQ(make_problem(request).out_byte_offset, -8);
  EXPECT_EQ(make_problem(request).out_alignment, 8);
  request.out_alignment = 48;
  EXPECT_THROW(make_problem(request), std::invalid_argument);
  request.out_alignment = 0;
  EXPECT_THROW(make_problem(request), std::invalid_argument);
}

TEST(MakeProblem, KnowsTheElementsOfEachSide) {
  Request request = contiguous_request({30, 40}, {1, 0}, 4);
  request.map = {Type::float32, Type::complex128};
  const Problem problem = make_problem(request);
  EXPECT_EQ(problem.in_bytes, 4);
  EXPECT_EQ(problem.out_bytes, 16);
  EXPECT_EQ(problem.map, request.map);
  EXPECT_EQ(problem.modes, (Modes{{40, 4, 480}, {30, 160, 16}}));
  EXPECT_EQ(problem.conversion_obstacle(),
            "elements are to be converted (from 4 to 16 bytes each), not only moved");
  request.axes = {0, 1};
  EXPECT_EQ(make_problem(request).modes, (Modes{{1200, 4, 16}}));
  request.shape[0] = 0;
  EXPECT_EQ(make_problem(request).modes, (Modes{{0, 4, 16}}));
  request = contiguous_request({std::int64_t{1} << 60, 4}, {1, 0}, 1);
  EXPECT_NO_THROW(make_problem(request));
  request.map = {Type::uint8, Type::uint16};
  EXPECT_THROW(make_problem(request), std::overflow_error);
}

TEST(MakeProblem, OfATypeThatStaysMovesBits) {
  Request request = contiguous_request({30, 40}, {1, 0}, 4);
  const Problem bits = make_problem(request);
  request.map = {Type::float32, Type::float32};
  EXPECT_EQ(make_problem(request).modes, bits.modes);
  EXPECT_EQ(make_problem(request).element_bytes(), 4);
  EXPECT_EQ(make_problem(request).conversion_obstacle(), "");
}

TEST(MakeProblem, EmptyArraysMoveNothing) {
  for (const Request& request :
       {contiguous_request({3, 0, 5}, {2, 0, 1}, 4), contiguous_request({0}, {0}, 1),
        contiguous_request({3, 4}, {1, 0}, 0)}) {
    EXPECT_EQ(make_problem(request).bytes(), 0);
    EXPECT_EQ(fold_run(make_problem(request)).bytes(), 0);
  }
}

TEST(MakeProblem, StridesOfUnitAxesAndOfEmptyArraysMeanNothing) {
  for (const std::int64_t garbage : {INT64_MIN, INT64_MAX}) {
    Request unit = contiguous_request({3, 1, 5}, {2, 1, 0}, 4);
    unit.in_byte_strides[1] = garbage;
    unit.out_byte_strides = {12, garbage, 4};
    EXPECT_EQ(make_problem(unit).modes, (Modes{{5, 4, 12}, {3, 20, 4}}));
    Request empty = contiguous_request({3, 0, 5}, {2, 1, 0}, 4);
    empty.in_byte_strides = empty.out_byte_strides = {garbage, garbage, garbage};
    EXPECT_EQ(make_problem(empty).bytes(), 0);
  }
}

TEST(MakeProblem, ScalarIsOneElement) {
  const Problem problem = make_problem(contiguous_request({}, {}, 16));
  EXPECT_TRUE(problem.modes.empty());
  EXPECT_EQ(problem.bytes(), 16);
}

TEST(MakeProblem, TakesRank64AndRefuses65) {
  std::vector<std::int64_t> shape(64, 2);
  shape[0] = shape[20] = shape[63] = 1;
  std::vector<int> axes(64);
  std::iota(axes.rbegin(), axes.rend(), 0);
  const Problem problem = make_problem(contiguous_request(shape, axes, 1));
  EXPECT_EQ(problem.modes.size(), 61U);
  EXPECT_EQ(problem.elements(), std::int64_t{1} << 61);
  shape.push_back(1);
  axes.push_back(64);
  EXPECT_THROW(make_problem(contiguous_request(shape, axes, 1)), std::invalid_argument);
}

TEST(MakeProblem, CountsElementsBeyond32Bits) {
  EXPECT_EQ(make_problem(contiguous_request({70'000, 70'000}, {1, 0}, 1)).elements(),
            4'900'000'000);
}

TEST(MakeProblem, RefusesMalformedRequests) {
  const Request good = contiguous_request({2, 3, 4}, {2, 0, 1}, 4);
  const auto expect_refused = [&](auto spoil) {
    Request bad = good;
    spoil(bad);
    EXPECT_THROW(make_problem(bad), std::invalid_argument);
  };
  EXPECT_NO_THROW(make_problem(good));
  expect_refused([](Request& r) { r.axes = {2, 0, 0}; });
  expect_refused([](Request& r) { r.axes = {2, 0, 3}; });
  expect_refused([](Request& r) { r.axes = {2, 0, -1}; });
  expect_refused([](Request& r) { r.axes = {1, 0}; });
  expect_refused([](Request& r) { r.in_byte_strides.pop_back(); });
  expect_refused([](Request& r) { r.out_byte_strides = {4, 8}; });
  expect_refused([](Request& r) { r.shape[1] = -3; });
  expect_refused([](Request& r) { r.itemsize = -1; });
  expect_refused([](Request& r) { r.map = {Type::float64, Type::float32}; });
  expect_refused([](Request& r) { r.map = {Type::float64, Type::float64}; });
  expect_refused([](Request& r) { r.map = {Type::float32, Type::bits}; });
  expect_refused([](Request& r) { r.map = {Type::bits, Type::float32}; });
}

TEST(MakeProblem, RefusesSizesBeyond64Bits) {
  const auto make = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                       std::vector<std::int64_t> out_strides = {}) {
    make_problem({.shape = std::move(shape),
                  .in_byte_strides = std::move(strides),
                  .axes = {1, 0},
                  .itemsize = 8,
                  .out_byte_strides = std::move(out_strides)});
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THROW(make({kHuge, 2}, {0, 0}), std::overflow_error);      // bytes
  EXPECT_THROW(make({3, 2}, {kHuge, 8}), std::overflow_error);      // one axis
  EXPECT_THROW(make({2, 2}, {kHuge, kHuge}), std::overflow_error);  // both together
  EXPECT_THROW(make({2, 2}, {8, 16}, {-kHuge, kHuge}), std::overflow_error);
  EXPECT_THROW(make({2, 2}, {INT64_MIN, 8}), std::overflow_error);
  EXPECT_NO_THROW(make({2, 2}, {kHuge, 8}));
}

TEST(MakeProblem, FusesWithoutOverflowAtTheLimit) {
  const Request request{.shape = {2, 2, 2},
                        .in_byte_strides = {0, std::int64_t{1} << 62, 8},
                        .axes = {0, 1, 2},
                        .itemsize = 8,
                        .out_byte_strides = {}};
  EXPECT_EQ(make_problem(request).modes.size(), 3U);
}

TEST(ContiguousByteStrides, AreRowMajorAndTakeEmptyAxesAsOne) {
  using Strides = std::vector<std::int64_t>;
  EXPECT_EQ(contiguous_byte_strides(Strides{2, 3, 4}, 8), (Strides{96, 32, 8}));
  EXPECT_EQ(contiguous_byte_strides(Strides{2, 0, 4}, 8), (Strides{32, 32, 8}));
  EXPECT_EQ(contiguous_byte_strides(Strides{}, 8), Strides{});
  EXPECT_THROW(contiguous_byte_strides(Strides{2, INT64_MAX}, 8), std::overflow_error);
}

TEST(IsFreeOfSelfOverlap, TellsLayoutsApart) {
  const auto check = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
    return is_free_of_self_overlap(shape, strides, 4);
  };
  EXPECT_TRUE(check({2, 3}, {12, 4}));
  EXPECT_TRUE(check({2, 3}, {4, 8}));
  EXPECT_TRUE(check({2, 3}, {-12, -4})) << "walking backwards";
  EXPECT_TRUE(check({2, 3}, {100, 7})) << "gaps";
  EXPECT_FALSE(check({2, 3}, {12, 3})) << "elements overlap their neighbours";
  EXPECT_FALSE(check({2, 3}, {8, 4})) << "rows overlap";
  EXPECT_FALSE(check({2, 3}, {0, 4})) << "broadcast";
  EXPECT_TRUE(check({1, 3}, {0, 4})) << "an axis of one element is never stepped along";
  EXPECT_TRUE(check({0, 3}, {0, 0})) << "nothing there";
  EXPECT_TRUE(check({}, {}));
  EXPECT_FALSE(check({3, 2}, {8, 12})) << "free in truth, but interleaved: sufficient only";
}

}  // namespace
}  // namespace ttlg
