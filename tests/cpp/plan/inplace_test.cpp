#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plan/inplace/c2r.hpp"
#include "plan/inplace/matrices.hpp"
#include "plan/inplace/plan.hpp"
#include "plan/inplace_steps.hpp"

namespace ttlg {
namespace {

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors;
}

// All matrices with this number of bytes.
std::vector<Matrices> all_matrices(std::int64_t bytes) {
  std::vector<Matrices> all;
  for (const std::int64_t batch : divisors_of(bytes)) {
    for (const std::int64_t rows : divisors_of(bytes / batch)) {
      for (const std::int64_t between : divisors_of(bytes / batch / rows)) {
        for (const std::int64_t columns : divisors_of(bytes / batch / rows / between)) {
          const std::int64_t rest = bytes / batch / rows / between / columns;
          all.push_back({batch, rows, between, columns, rest});
        }
      }
    }
  }
  return all;
}

TEST(Permutes, AcceptsJustTheStepThatPermutes) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{2, 3, 2}, {4, 4}, {3, 3, 3}, {2, 2, 3, 2}, {4, 6}}) {
    test::for_each_permutation(shape.size(), [&](const std::vector<int>& axes) {
      const Request request = test::inplace_request(shape, axes, 2);
      const Problem folded = dense_problem(request);
      const test::ByteNumbers expected = test::expected_bytes(request);
      for (const Matrices& each : all_matrices(folded.bytes())) {
        const std::vector<Matrices> sequence{each};
        const bool is_right = test::bytes_after(sequence, folded.bytes()) == expected;
        // What moves nothing may lie across the modes.
        if (permutes(sequence, folded) == is_right) continue;
        EXPECT_TRUE(is_right && each.rows == 1 && each.columns == 1)
            << each.batch << " " << each.rows << " " << each.between << " " << each.columns << " "
            << each.element_bytes;
      }
    });
  }
}

TEST(Permutes, RefusesOtherBytes) {
  const Problem folded = dense_problem(test::inplace_request({6, 4}, {1, 0}, 2));
  EXPECT_TRUE(
      permutes(std::vector<Matrices>{{.rows = 6, .columns = 4, .element_bytes = 2}}, folded));
  for (const Matrices& wrong :
       std::vector<Matrices>{{.rows = 6, .columns = 4, .element_bytes = 1},
                             {.batch = 2, .rows = 6, .columns = 4, .element_bytes = 2},
                             {.rows = 6, .between = 2, .columns = 4, .element_bytes = 2},
                             {.rows = 6, .between = 0, .columns = 4, .element_bytes = 2},
                             {.rows = -6, .columns = -4, .element_bytes = 2},
                             {.rows = std::int64_t{1} << 62, .columns = 4, .element_bytes = 2}}) {
    EXPECT_FALSE(permutes(std::vector<Matrices>{wrong}, folded));
  }
}

TEST(BySquares, TransposesWithoutStepsThatMoveNothing) {
  for (std::int64_t m = 1; m <= 24; ++m) {
    for (std::int64_t n = 1; n <= 24; ++n) {
      const Matrices matrices{.batch = 2, .rows = m, .columns = n, .element_bytes = 3};
      const std::vector<Matrices> sequence = by_squares(matrices);
      const std::int64_t bytes = 2 * m * n * 3;
      EXPECT_EQ(test::bytes_after(sequence, bytes),
                test::bytes_after(std::vector<Matrices>{matrices}, bytes));
      for (const Matrices& each : sequence) {
        EXPECT_GT(each.rows, 1);
        EXPECT_GT(each.columns, 1);
      }
    }
  }
}

TEST(ByPieces, TransposesPiecesAndMovesThem) {
  for (const auto& [rows, columns] : {std::pair{12, 5}, {5, 12}}) {
    for (const std::int64_t length : {2, 3, 4, 6}) {
      const Matrices matrices{.batch = 2, .rows = rows, .columns = columns, .element_bytes = 2};
      const std::vector<Matrices> sequence = by_pieces(matrices, length);
      EXPECT_EQ(test::bytes_after(sequence, 240),
                test::bytes_after(std::vector<Matrices>{matrices}, 240));
      EXPECT_EQ(sequence[0].element_bytes + sequence[1].element_bytes, 2 + 2 * length);
    }
  }
}

TEST(ByParts, TransposesElementsPartByPart) {
  for (const std::int64_t part : {1, 2, 3, 6}) {
    const Matrices matrices{.batch = 2, .rows = 5, .columns = 4, .element_bytes = 6};
    const std::vector<Matrices> sequence = by_parts(matrices, part);
    for (const Matrices& each : sequence) EXPECT_EQ(each.element_bytes, part);
    EXPECT_EQ(test::bytes_after(sequence, 240),
              test::bytes_after(std::vector<Matrices>{matrices}, 240));
    const Problem folded = dense_problem(test::inplace_request({2, 5, 4, 6}, {0, 2, 1, 3}, 1));
    EXPECT_EQ(folded.element_bytes(), 6);
    EXPECT_TRUE(permutes(sequence, folded));
    EXPECT_FALSE(permutes({sequence[0]}, folded));
  }
}

TEST(DenseProblem, RefusesGaps) {
  Request request = test::inplace_request({30, 40}, {1, 0}, 4);
  EXPECT_EQ(dense_problem(request).bytes(), 4800);
  request.in_byte_strides = {200, 4};
  EXPECT_THROW(dense_problem(request), std::invalid_argument);
  request.in_byte_strides = {-160, 4};
  EXPECT_THROW(dense_problem(request), std::invalid_argument);
  request.out_byte_strides = {120, -4};  // without gaps, but elsewhere
  EXPECT_THROW(dense_problem(request), std::invalid_argument);
}

TEST(InverseMod, IsTheInverse) {
  EXPECT_EQ(inverse_mod(5, 1), 0);
  EXPECT_EQ(inverse_mod(0, 1), 0);
  for (std::int64_t m = 2; m < 200; ++m) {
    for (std::int64_t x = 1; x < m; ++x) {
      if (std::gcd(x, m) != 1) continue;
      ASSERT_EQ(multiply_mod(x, inverse_mod(x, m), m), 1) << x << " mod " << m;
    }
  }
  constexpr std::int64_t kLarge = 1'000'000'007;
  EXPECT_EQ(multiply_mod(31, inverse_mod(31, kLarge), kLarge), 1);
}

TEST(RowOrder, FollowsTheFormulaFromAnyRow) {
  for (std::int64_t m = 1; m < 40; ++m) {
    for (std::int64_t n = 1; n < 40; ++n) {
      const C2r c2r(m, n);
      std::vector<bool> seen(static_cast<std::size_t>(m));
      for (std::int64_t first = 0; first < m; first += 1 + m / 3) {
        RowOrder order(c2r, first);
        for (std::int64_t i = first; i < m; ++i, ++order) {
          ASSERT_EQ(*order, ((i * n - i / c2r.a) % m + m) % m);
          if (first > 0) continue;
          ASSERT_FALSE(seen[static_cast<std::size_t>(*order)]);
          seen[static_cast<std::size_t>(*order)] = true;
        }
      }
    }
  }
}

// Products beyond 64 bits, of 31 columns and rows beyond 2^33.
TEST(C2r, TakesProductsBeyond64Bits) {
  constexpr std::int64_t kRows = (std::int64_t{1} << 40) + 15;
  const C2r c2r(kRows, kRows - 2);
  const std::int64_t i = kRows - 5;
  __extension__ typedef __int128 Wide;
  EXPECT_EQ(c2r.q(i), static_cast<std::int64_t>((Wide{i} * (kRows - 2) - i / c2r.a) % kRows));
}

}  // namespace
}  // namespace ttlg
