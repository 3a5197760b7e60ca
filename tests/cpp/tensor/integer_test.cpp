#include "tensor/integer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "tensor/width.hpp"

namespace ttlg {
namespace {

constexpr std::int64_t kMax = INT64_MAX;

static_assert(FastDivisor(7).quotient(48) == 6, "usable at compile time");
static_assert(FastDivisor().quotient(kMax) == kMax, "the default divides by 1");

void expect_exact(std::int64_t divisor, std::int64_t numerator) {
  ASSERT_EQ(FastDivisor(divisor).quotient(numerator), numerator / divisor)
      << numerator << " / " << divisor;
}

// The numerators at which a quotient changes, around the multiple of `divisor` next below `near`.
void expect_exact_around(std::int64_t divisor, std::int64_t near) {
  const std::int64_t multiple = near / divisor * divisor;
  for (const std::int64_t step : {-1, 0, 1}) {
    if (step > 0 && multiple == kMax) continue;
    if (multiple + step >= 0) expect_exact(divisor, multiple + step);
  }
}

// 2^k - 1, 2^k and 2^k + 1 for every k that fits: where the multiplier and the shift change.
std::vector<std::int64_t> around_powers_of_two() {
  std::vector<std::int64_t> values{1, 2, 3};
  for (int k = 2; k < 63; ++k) {
    const std::int64_t power = std::int64_t{1} << k;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  values.insert(values.end(), {kMax - 1, kMax});
  return values;
}

// Uniform in the number of bits, so that small and large values come equally often.
std::int64_t random_positive(std::mt19937_64& random) {
  const int bits = std::uniform_int_distribution<int>(1, 63)(random);
  return std::max<std::int64_t>(static_cast<std::int64_t>(random() >> (64 - bits)), 1);
}

TEST(FastDivisor, SmallDivisorsAndNumeratorsExhaustively) {
  for (std::int64_t divisor = 1; divisor <= 300; ++divisor) {
    for (std::int64_t numerator = 0; numerator <= 2000; ++numerator) {
      expect_exact(divisor, numerator);
    }
  }
}

TEST(FastDivisor, AroundMultiplesUpToTheEndOfTheRange) {
  for (std::int64_t divisor = 1; divisor <= 5000; ++divisor) {
    for (const std::int64_t near : around_powers_of_two()) expect_exact_around(divisor, near);
  }
}

TEST(FastDivisor, DivisorsAroundPowersOfTwo) {
  for (const std::int64_t divisor : around_powers_of_two()) {
    for (const std::int64_t near : around_powers_of_two()) {
      expect_exact(divisor, near);
      expect_exact_around(divisor, near);
    }
  }
}

TEST(FastDivisor, RandomOverTheWholeRange) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300'000; ++i) {
    const std::int64_t divisor = random_positive(random);
    const std::int64_t numerator = random_positive(random);
    expect_exact(divisor, numerator);
    expect_exact_around(divisor, numerator);
  }
}

TEST(FastDivisor, KeepsItsDivisor) {
  EXPECT_EQ(FastDivisor(kMax).divisor(), kMax);
  EXPECT_EQ(FastDivisor().divisor(), 1);
}

TEST(FastDivisor, RefusesDivisorsBelowOne) {
  EXPECT_THROW(FastDivisor(0), std::invalid_argument);
  EXPECT_THROW(FastDivisor(-1), std::invalid_argument);
  EXPECT_THROW(FastDivisor(INT64_MIN), std::invalid_argument);
}

TEST(CheckedMul, IsExactUpToTheLimitAndThrowsBeyond) {
  EXPECT_EQ(checked_mul(3037000499, 3037000499), 9223372030926249001);
  EXPECT_EQ(checked_mul(-4, 1LL << 61), INT64_MIN);
  EXPECT_EQ(checked_mul(0, INT64_MIN), 0);
  EXPECT_THROW(checked_mul(3037000500, 3037000500), std::overflow_error);
  EXPECT_THROW(checked_mul(4, 1LL << 61), std::overflow_error);
  EXPECT_THROW(checked_mul(-1, INT64_MIN), std::overflow_error);
}

TEST(CheckedAdd, IsExactUpToTheLimitAndThrowsBeyond) {
  EXPECT_EQ(checked_add(kMax - 5, 5), kMax);
  EXPECT_EQ(checked_add(INT64_MIN, kMax), -1);
  EXPECT_THROW(checked_add(kMax, 1), std::overflow_error);
  EXPECT_THROW(checked_add(INT64_MIN, -1), std::overflow_error);
}

TEST(CeilDiv, RoundsUpWithoutOverflow) {
  EXPECT_EQ(ceil_div(0, 7), 0);
  EXPECT_EQ(ceil_div(14, 7), 2);
  EXPECT_EQ(ceil_div(15, 7), 3);
  EXPECT_EQ(ceil_div(kMax, kMax - 1), 2);
  EXPECT_EQ(ceil_div(kMax, 1), kMax);
}

TEST(EvenChunk, CutsIntoTheFewestAboutEqualChunks) {
  EXPECT_EQ(even_chunk(100, 100), 100);
  EXPECT_EQ(even_chunk(100, 99), 50);
  EXPECT_EQ(even_chunk(100, 33), 25);
  EXPECT_EQ(even_chunk(100, 1), 1);
  EXPECT_EQ(even_chunk(100, 60, 16), 64) << "over the limit by less than a grain";
  EXPECT_EQ(even_chunk(kMax, kMax - 1), kMax / 2 + 1);
  for (std::int64_t extent = 1; extent < 60; ++extent) {
    for (std::int64_t limit = 1; limit < 70; ++limit) {
      const std::int64_t chunk = even_chunk(extent, limit);
      EXPECT_LE(chunk, limit);
      EXPECT_EQ(ceil_div(extent, chunk), ceil_div(extent, limit));
      EXPECT_GT(ceil_div(extent, limit) * chunk - extent, -1);
      EXPECT_LT(ceil_div(extent, limit) * chunk - extent, ceil_div(extent, limit));
      for (const std::int64_t grain : {2, 3, 8}) {
        const std::int64_t grains = even_chunk(extent, limit, grain);
        EXPECT_EQ(grains % grain, 0);
        EXPECT_GE(grains, chunk);
        EXPECT_LT(grains, chunk + grain);
      }
    }
  }
}

static_assert(is_width(1) && is_width(16));
static_assert(!is_width(0) && !is_width(-1) && !is_width(3) && !is_width(12) && !is_width(32));
static_assert(width_index(1) == 0 && width_index(16) == 4);
static_assert(width_index(3) == kWidths.size() && width_index(32) == kWidths.size());

TEST(Widths, AreListedForMessages) {
  EXPECT_EQ(list_of_widths(), "1, 2, 4, 8 or 16");
  EXPECT_EQ(list_of_widths(8), "1, 2, 4 or 8");
}

}  // namespace
}  // namespace ttlg
