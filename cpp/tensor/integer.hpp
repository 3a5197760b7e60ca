// Exact integer helpers. Counts and offsets are 64-bit everywhere.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

namespace ttlg {

constexpr double as_double(std::int64_t x) { return static_cast<double>(x); }

inline std::int64_t checked_mul(std::int64_t x, std::int64_t y) {
  std::int64_t product;
  if (__builtin_mul_overflow(x, y, &product)) {
    throw std::overflow_error("an extent or offset exceeds the 64-bit range");
  }
  return product;
}

inline std::int64_t checked_add(std::int64_t x, std::int64_t y) {
  std::int64_t sum;
  if (__builtin_add_overflow(x, y, &sum)) {
    throw std::overflow_error("an extent or offset exceeds the 64-bit range");
  }
  return sum;
}

constexpr std::int64_t ceil_div(std::int64_t numerator, std::int64_t denominator) {
  return numerator / denominator + (numerator % denominator != 0);
}

// The length of about equal chunks of `extent`: a multiple of `grain`, and as few chunks as there
// are of length `limit`, so that the last is not much shorter than the others. May exceed `limit`
// by less than a grain; what to do then depends on what the limit is for.
constexpr std::int64_t even_chunk(std::int64_t extent, std::int64_t limit, std::int64_t grain = 1) {
  const std::int64_t even = ceil_div(extent, ceil_div(extent, limit));
  return ceil_div(even, grain) * grain;
}

// The largest power of two that divides `limit`, itself one, and every number whose bits are set in
// `bits`.
constexpr std::int64_t common_power(std::int64_t bits, std::int64_t limit) {
  return (bits | limit) & -(bits | limit);
}

// Division by a run-time constant as multiply-high and shift (Catanzaro et al., PPoPP 2014,
// section 4.4, in its 64-bit form). With L = ceil(log2 d), p = 63 + L and M = ceil(2^p / d) the
// error M*d - 2^p is below d <= 2^L, so n*error < 2^p and the quotient is exact for every
// 0 <= n < 2^63 and 1 <= d < 2^63. M fits in 64 bits because d > 2^(L-1).
class FastDivisor {
 public:
  constexpr FastDivisor() : FastDivisor(1) {}
  constexpr explicit FastDivisor(std::int64_t divisor) : divisor_(divisor) {
    if (divisor < 1) throw std::invalid_argument("FastDivisor needs a divisor >= 1");
    const auto d = static_cast<std::uint64_t>(divisor);
    shift_ = 63 + static_cast<int>(std::bit_width(d - 1));
    const Wide power = Wide{1} << shift_;
    multiplier_ = static_cast<std::uint64_t>((power + (d - 1)) / d);
  }

  constexpr std::int64_t divisor() const { return divisor_; }

  // Exact for 0 <= n < 2^63.
  constexpr std::int64_t quotient(std::int64_t n) const {
    return static_cast<std::int64_t>((Wide{static_cast<std::uint64_t>(n)} * multiplier_) >> shift_);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;  // nvcc knows no __extension__ using
  std::int64_t divisor_;
  std::uint64_t multiplier_ = 0;
  int shift_ = 0;
};

// Division for 0 <= n < 2^31 and 1 <= d < 2^31 with p = 31 + L, as the kernels use it.
class FastDivisor32 {
 public:
  constexpr FastDivisor32() : FastDivisor32(1) {}
  constexpr explicit FastDivisor32(std::int64_t divisor)
      : divisor_(static_cast<std::uint32_t>(divisor)) {
    if (divisor < 1 || divisor > INT32_MAX) {
      throw std::invalid_argument("FastDivisor32 needs a divisor in 1..2^31-1");
    }
    shift_ = 31 + static_cast<std::uint32_t>(std::bit_width(divisor_ - 1));
    multiplier_ =
        static_cast<std::uint32_t>(((std::uint64_t{1} << shift_) + (divisor_ - 1)) / divisor_);
  }

  constexpr std::uint32_t divisor() const { return divisor_; }

  constexpr std::uint32_t quotient(std::uint32_t n) const {
    return static_cast<std::uint32_t>((std::uint64_t{n} * multiplier_) >> shift_);
  }

 private:
  std::uint32_t divisor_;
  std::uint32_t multiplier_ = 0;
  std::uint32_t shift_ = 0;
};

}  // namespace ttlg
