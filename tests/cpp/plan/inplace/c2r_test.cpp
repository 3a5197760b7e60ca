#include "plan/inplace/c2r.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ttlg {
namespace {

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
