// Compiled twice, once with -ffast-math: none of it may depend on how roots are rounded.
#include "plan/inplace/schemes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ttlg {
namespace {

using Plain = Entry<std::int64_t>;
using Size = Enumeration<std::int64_t>::Size;

constexpr Scheme kSchemes[] = {Scheme::v1, Scheme::v1r, Scheme::v1d,
                               Scheme::v2, Scheme::v1b, Scheme::v1bf};

std::string text_of(Scheme scheme, const Size& size) {
  return "scheme " + std::to_string(static_cast<int>(scheme)) + ", m " + std::to_string(size.m) +
         ", n " + std::to_string(size.n) + ", w " + std::to_string(size.w) +
         (size.reversed ? ", reversed" : "");
}

// The entries in their order.
std::vector<Plain> listed(Scheme scheme, const Size& size) {
  const auto [m, n, w, reversed] = size;
  std::vector<Plain> entries;
  if (scheme == Scheme::v1bf) {
    for (std::int64_t begin = 0; begin < m; begin += w) {
      for (std::int64_t y = 0; y < n; ++y) {
        for (std::int64_t x = begin; x < std::min(m, begin + w); ++x) entries.push_back({x, y});
      }
    }
  } else if (scheme == Scheme::v1b) {
    for (std::int64_t begin = 0; begin < m; begin += w) {
      for (std::int64_t y = 0; y < m; ++y) {
        for (std::int64_t x = begin; x < std::min(y, begin + w); ++x) entries.push_back({x, y});
      }
    }
  } else if (scheme == Scheme::v2) {
    for (std::int64_t x = 0; x < m; ++x) {
      for (std::int64_t y = x + 1; y < m; ++y) entries.push_back({x, y});
    }
  } else if (scheme == Scheme::v1r) {
    for (std::int64_t y = 0; y < m; ++y) {
      for (std::int64_t x = y - 1; x >= 0; --x) entries.push_back({x, y});
    }
  } else {
    for (std::int64_t y = 0; y < m; ++y) {
      for (std::int64_t x = 0; x < y + (scheme == Scheme::v1d); ++x) entries.push_back({x, y});
    }
  }
  if (reversed) std::ranges::reverse(entries);
  return entries;
}

// Calls with every size that a scheme has with fewer rows and columns than the limit.
template <typename Call>
void for_each_size(Scheme scheme, std::int64_t limit, const Call& call) {
  const bool has_height = scheme == Scheme::v1bf;
  const bool has_width = has_height || scheme == Scheme::v1b;
  for (const bool reversed : {false, true}) {
    for (std::int64_t m = 1; m < limit; ++m) {
      for (std::int64_t n = 1; n < (has_height ? limit : 2); ++n) {
        for (std::int64_t w = 1; w <= (has_width ? m : 1); ++w) {
          call(Size{.m = m, .n = n, .w = w, .reversed = reversed});
        }
      }
    }
  }
}

// As a number of 64 bits, whichever it is.
template <typename Index>
Plain plain(const Entry<Index>& entry) {
  return {static_cast<std::int64_t>(entry.x), static_cast<std::int64_t>(entry.y)};
}

template <typename Index>
class Schemes : public testing::Test {
 public:
  using Enumeration = ttlg::Enumeration<Index>;

  static Enumeration make(Scheme scheme, const Size& size) {
    return {scheme, {.m = size.m, .n = size.n, .w = size.w, .reversed = size.reversed}};
  }

  template <typename... Root>
  static Plain at(const Enumeration& enumeration, std::int64_t k, Root... root) {
    return plain(enumeration.at(static_cast<Index>(k), root...));
  }

  static std::int64_t number_of(const Enumeration& enumeration, const Plain& entry) {
    return static_cast<std::int64_t>(
        enumeration.number_of({static_cast<Index>(entry.x), static_cast<Index>(entry.y)}));
  }

  // Whether the k-th is this entry, and the entry's number is k.
  template <typename... Root>
  static bool holds(const Enumeration& enumeration, std::int64_t k, const Plain& entry,
                    Root... root) {
    return at(enumeration, k, root...) == entry && number_of(enumeration, entry) == k;
  }

  static void expect_listed(const Enumeration& enumeration, const std::vector<Plain>& entries) {
    ASSERT_EQ(enumeration.count(), entries.size());
    for (std::int64_t k = 0; k < std::ssize(entries); ++k) {
      ASSERT_TRUE(holds(enumeration, k, entries[static_cast<std::size_t>(k)])) << "k " << k;
    }
  }
};

using Indices = testing::Types<std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(Schemes, Indices);

TYPED_TEST(Schemes, ListEveryEntryOnceAndInOrder) {
  for (const Scheme scheme : kSchemes) {
    for_each_size(scheme, scheme == Scheme::v1bf ? 26 : 60, [&](const Size& size) {
      SCOPED_TRACE(text_of(scheme, size));
      TestFixture::expect_listed(TestFixture::make(scheme, size), listed(scheme, size));
    });
  }
}

TYPED_TEST(Schemes, BandsAreAtMostAsWideAsTheMatrix) {
  for (const Scheme scheme : {Scheme::v1b, Scheme::v1bf}) {
    const std::vector<Plain> entries = listed(scheme, {.m = 40, .n = 7, .w = 40});
    for (const std::int64_t w : {std::int64_t{41}, std::int64_t{100000}, INT64_MAX}) {
      SCOPED_TRACE(w);
      TestFixture::expect_listed(TestFixture::make(scheme, {.m = 40, .n = 7, .w = w}), entries);
    }
  }
}

// Roots that are off as the roots of an approximate square root may be, and further.
struct WrongRoot {
  int ulps;
  int steps;

  template <typename Index>
  std::make_signed_t<Index> operator()(Index n) const {
    const float exact = 1 / std::sqrt(static_cast<float>(n));
    const float moved = std::bit_cast<float>(std::bit_cast<std::int32_t>(exact) + ulps);
    return rounded_root(n, moved) + steps;
  }
};

std::vector<WrongRoot> wrong_roots() {
  std::vector<WrongRoot> roots;
  for (const int ulps : {-3, -1, 0, 1, 3}) {
    for (const int steps : {-2, -1, 0, 1, 2}) roots.push_back({ulps, steps});
  }
  return roots;
}

TYPED_TEST(Schemes, AreExactWhateverTheRoots) {
  for (const Scheme scheme : kSchemes) {
    for_each_size(scheme, scheme == Scheme::v1bf ? 4 : 18, [&](const Size& size) {
      const auto enumeration = TestFixture::make(scheme, size);
      const std::vector<Plain> entries = listed(scheme, size);
      for (const WrongRoot root : wrong_roots()) {
        for (std::int64_t k = 0; k < std::ssize(entries); ++k) {
          ASSERT_EQ(TestFixture::at(enumeration, k, root), entries[static_cast<std::size_t>(k)])
              << text_of(scheme, size) << ", k " << k << ", " << root.ulps << " ulps, "
              << root.steps << " steps";
        }
      }
    });
  }
}

// V1B at the first number of every band, and at those before and after it.
template <typename Fixture, typename... Root>
void check_bands(std::int64_t m, std::int64_t w, Root... root) {
  const auto enumeration = Fixture::make(Scheme::v1b, {.m = m, .w = w});
  std::int64_t begin = 0;
  for (std::int64_t x = 0; x < m - 1; x += w) {
    const auto fails = [&](std::int64_t k, const Plain& entry) {
      return !Fixture::holds(enumeration, k, entry, root...);
    };
    if (fails(begin, {x, x + 1}) || (begin > 0 && fails(begin - 1, {x - 1, m - 1})) ||
        (x + 2 < m && fails(begin + 1, {x, x + 2}))) {
      FAIL() << "m " << m << ", w " << w << ", the band of column " << x;
    }
    for (std::int64_t j = x; j < std::min(x + w, m - 1); ++j) begin += m - 1 - j;
  }
  ASSERT_EQ(begin, enumeration.count());
}

TYPED_TEST(Schemes, BandsBeginAndEndWhereTheyShould) {
  for (const std::int64_t w : {1, 8, 32, 64}) {
    for (std::int64_t m = 2; m <= 3000; ++m) {
      ASSERT_NO_FATAL_FAILURE(check_bands<TestFixture>(m, w));
    }
  }
}

// Where 32-bit floating point and 32-bit integers would go wrong.
TYPED_TEST(Schemes, BandsAreExactForLargeOrders) {
  ASSERT_NO_FATAL_FAILURE(check_bands<TestFixture>(4098, 1));
  ASSERT_NO_FATAL_FAILURE(check_bands<TestFixture>(4105, 8));
  for (const std::int64_t m : {23171, 65536}) {
    for (const std::int64_t w : {1, 7, 8, 32, 64, 1000}) {
      ASSERT_NO_FATAL_FAILURE(check_bands<TestFixture>(m, w));
    }
    for (const WrongRoot root : wrong_roots()) {
      ASSERT_NO_FATAL_FAILURE(check_bands<TestFixture>(m, 8, root));
    }
  }
}

// The rows whose neighbourhood is checked: all of the small ones, those at powers of two, and
// others at random.
std::vector<std::int64_t> rows_up_to(std::int64_t order) {
  std::vector<std::int64_t> rows;
  for (std::int64_t y = 2; y < std::min<std::int64_t>(order, 70000); ++y) rows.push_back(y);
  for (std::int64_t power = 1 << 16; power <= order; power *= 2) {
    for (std::int64_t y = power - 3; y <= power + 3; ++y) rows.push_back(y);
  }
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(2, order - 1);
  for (int i = 0; i < 50000; ++i) rows.push_back(any(random));
  std::erase_if(rows, [&](std::int64_t y) { return y < 2 || y >= order; });
  return rows;
}

// The last number of a row and the first two of the next, or of a column of V2.
template <typename Fixture, typename... Root>
void check_rows(std::int64_t m, Root... root) {
  const std::int64_t d = m - 1;  // V1D's order, which has the same number of entries
  const auto v1 = Fixture::make(Scheme::v1, {.m = m});
  const auto v1r = Fixture::make(Scheme::v1r, {.m = m});
  const auto v1d = Fixture::make(Scheme::v1d, {.m = d});
  const auto v2 = Fixture::make(Scheme::v2, {.m = m});
  for (const std::int64_t y : rows_up_to(m)) {
    const std::int64_t first = y % 2 == 0 ? y / 2 * (y - 1) : (y - 1) / 2 * y;
    const std::int64_t last = static_cast<std::int64_t>(v1.count()) - 1 - first;
    const auto fails = [&](const auto& enumeration, std::int64_t k, const Plain& entry) {
      return !Fixture::holds(enumeration, k, entry, root...);
    };
    if (fails(v1, first, {0, y}) || fails(v1, first + 1, {1, y}) ||
        fails(v1, first - 1, {y - 2, y - 1}) || fails(v1r, first, {y - 1, y}) ||
        fails(v1r, first + 1, {y - 2, y}) || fails(v1r, first - 1, {0, y - 1}) ||
        fails(v1d, first, {0, y - 1}) || fails(v1d, first + 1, {1, y - 1}) ||
        fails(v1d, first - 1, {y - 2, y - 2}) || fails(v2, last, {m - 1 - y, m - 1}) ||
        fails(v2, last - 1, {m - 1 - y, m - 2}) || fails(v2, last + 1, {m - y, m - y + 1})) {
      FAIL() << "m " << m << ", row " << y;
    }
  }
}

TYPED_TEST(Schemes, RowsAndColumnsBeginWhereTheyShould) {
  for (const std::int64_t m : {3, 4098, 4609, 23171, 65536}) {
    ASSERT_NO_FATAL_FAILURE(check_rows<TestFixture>(m));
  }
  for (const WrongRoot root : wrong_roots()) {
    ASSERT_NO_FATAL_FAILURE(check_rows<TestFixture>(23171, root));
  }
}

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

TEST(LargestOrders, RowsAndColumnsBeginWhereTheyShould) {
  using Fixture = Schemes<std::int64_t>;
  for (const std::int64_t m : {kLargest, kLargest - 1, std::int64_t{3000000}}) {
    ASSERT_NO_FATAL_FAILURE(check_rows<Fixture>(m));
    for (const WrongRoot root : {WrongRoot{3, 2}, WrongRoot{-3, -2}}) {
      ASSERT_NO_FATAL_FAILURE(check_rows<Fixture>(m, root));
    }
  }
}

TEST(LargestOrders, EveryNumberComesBack) {
  using Fixture = Schemes<std::int64_t>;
  std::mt19937_64 random(2);
  for (const Scheme scheme : kSchemes) {
    for (const std::int64_t m : {kLargest, kLargest - 1}) {
      for (const std::int64_t w : {std::int64_t{1}, std::int64_t{8}, std::int64_t{1000}, m - 1}) {
        for (const bool reversed : {false, true}) {
          const Size size{.m = m, .n = m, .w = w, .reversed = reversed};
          const auto enumeration = Fixture::make(scheme, size);
          std::uniform_int_distribution<std::int64_t> any(0, enumeration.count() - 1);
          for (int i = 0; i < 2000; ++i) {
            std::int64_t k = any(random);
            if (i < 200) k = i % 2 == 0 ? i / 2 : enumeration.count() - 1 - i / 2;
            const auto [x, y] = enumeration.at(k);
            ASSERT_TRUE(x >= 0 && x < m && y >= 0 && y < m) << text_of(scheme, size);
            ASSERT_EQ(enumeration.number_of({x, y}), k) << text_of(scheme, size);
          }
        }
      }
    }
  }
}

// One comparison each way is then all that a correction takes.
template <typename Index>
void check_estimates(std::int64_t y, int ulps) {
  const std::int64_t first = y % 2 == 0 ? y / 2 * (y - 1) : (y - 1) / 2 * y;
  for (const std::int64_t k : {first, first + y - 1}) {
    const auto n = static_cast<Index>(2 * k + 1);
    const auto off = static_cast<std::int64_t>(WrongRoot{ulps, 0}(n)) - y;
    ASSERT_LE(std::abs(off), 1) << "the root of " << n << ", " << ulps << " ulps off";
    ASSERT_LE(std::abs(static_cast<std::int64_t>(RootEstimate()(n)) - y), 1) << n;
  }
}

TEST(RootEstimates, AreOffByOneAtMost) {
  for (const int ulps : {-3, 0, 3}) {
    for (const std::int64_t y : rows_up_to(65536)) {
      ASSERT_NO_FATAL_FAILURE(check_estimates<std::uint32_t>(y, ulps));
    }
    for (const std::int64_t y : rows_up_to(kLargest)) {
      ASSERT_NO_FATAL_FAILURE(check_estimates<std::int64_t>(y, ulps));
    }
  }
}

TEST(BandedScheme, TheNarrowestBandsAreV2AndOneBandIsV1) {
  for (std::int64_t m = 2; m < 60; ++m) {
    const Enumeration<std::int64_t> v1(Scheme::v1, {.m = m});
    const Enumeration<std::int64_t> v2(Scheme::v2, {.m = m});
    const Enumeration<std::int64_t> narrow(Scheme::v1b, {.m = m, .w = 1});
    for (const std::int64_t w : {m - 1, m, m + 100}) {
      const Enumeration<std::int64_t> wide(Scheme::v1b, {.m = m, .w = w});
      for (std::int64_t k = 0; k < v1.count(); ++k) {
        ASSERT_EQ(wide.at(k), v1.at(k)) << "m " << m << ", w " << w << ", k " << k;
        ASSERT_EQ(narrow.at(k), v2.at(k)) << "m " << m << ", k " << k;
      }
    }
  }
}

TEST(BandedScheme, NextIsTheEntryAfter) {
  for_each_size(Scheme::v1b, 60, [](const Size& size) {
    if (size.reversed) return;
    const Enumeration<std::int64_t> enumeration(Scheme::v1b, size);
    const std::vector<Plain> entries = listed(Scheme::v1b, size);
    for (std::size_t k = 1; k < entries.size(); ++k) {
      ASSERT_EQ(enumeration.next(entries[k - 1]), entries[k]) << text_of(Scheme::v1b, size);
    }
  });
}

TEST(Enumerations, AreOfSizesThatCanBeNumbered) {
  using Wide = Enumeration<std::int64_t>;
  using Narrow = Enumeration<std::uint32_t>;
  EXPECT_THROW(Wide(Scheme::v1, {.m = 0}), std::invalid_argument);
  EXPECT_THROW(Wide(Scheme::v1bf, {.m = 4, .n = 0}), std::invalid_argument);
  EXPECT_THROW(Wide(Scheme::v1b, {.m = 4, .w = 0}), std::invalid_argument);
  EXPECT_THROW(Wide(Scheme::v2, {.m = kLargest + 1}), std::overflow_error);
  EXPECT_THROW(Wide(Scheme::v1bf, {.m = kLargest, .n = 2 * kLargest}), std::overflow_error);
  EXPECT_EQ(Wide(Scheme::v1d, {.m = kLargest}).count(), (kLargest + 1) * (kLargest / 2));
  EXPECT_THROW(Narrow(Scheme::v1, {.m = 65537}), std::overflow_error);
  EXPECT_THROW(Narrow(Scheme::v1d, {.m = 65536}), std::overflow_error);
  EXPECT_THROW(Narrow(Scheme::v1bf, {.m = 65536, .n = 32768}), std::overflow_error);
  EXPECT_EQ(Narrow(Scheme::v1, {.m = 65536}).count(), 2147450880u);
}

}  // namespace
}  // namespace ttlg
