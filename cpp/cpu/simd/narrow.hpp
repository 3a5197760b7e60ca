// Floating-point numbers of 8 and 16 bits, by integer arithmetic alone: the same on every SIMD
// level and in vectors of any length. Rounds half to even; a NaN stays one, and becomes quiet.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tensor/element_map.hpp"

namespace ttlg::cpu {
namespace {

// A format of IEEE 754's kind, or the one of float8_e4m3fn, which has no infinities and one NaN.
template <int kExponentBits, int kMantissaBits, bool kFiniteOnly = false>
struct Format {
  using Bits =
      std::conditional_t<1 + kExponentBits + kMantissaBits == 8, std::uint8_t, std::uint16_t>;
  static constexpr int kExponent = kExponentBits;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr bool kIsFinite = kFiniteOnly;
  // Without the sign.
  static constexpr unsigned kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  static constexpr unsigned kQuiet = 1u << (kMantissaBits - 1);
};

template <Type kType>
struct FormatOf;
template <>
struct FormatOf<Type::float8_e4m3fn> : Format<4, 3, true> {};
template <>
struct FormatOf<Type::float8_e5m2> : Format<5, 2> {};
template <>
struct FormatOf<Type::float16> : Format<5, 10> {};
template <>
struct FormatOf<Type::bfloat16> : Format<8, 7> {};

// float or double, as integers.
template <typename Wide>
struct WideFormat {
  using Bits = std::conditional_t<sizeof(Wide) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int kMantissa = sizeof(Wide) == 4 ? 23 : 52;
  static constexpr int kBias = sizeof(Wide) == 4 ? 127 : 1023;
  static constexpr Bits kInfinity = Bits{2 * kBias + 1} << kMantissa;
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(Wide) - 1);
};

template <typename F>
[[gnu::always_inline]] inline float widen(typename F::Bits narrow) {
  using W = WideFormat<float>;
  constexpr int kShift = W::kMantissa - F::kMantissa;
  constexpr std::uint32_t kMagnitude = (1u << (F::kExponent + F::kMantissa)) - 1;
  const std::uint32_t magnitude = narrow & kMagnitude;
  const std::uint32_t sign = std::uint32_t{narrow} << (31 - F::kExponent - F::kMantissa) & W::kSign;
  std::uint32_t wide = magnitude << kShift;
  if constexpr (F::kBias != W::kBias) {
    // Numbers below the normal ones are multiples of the smallest.
    constexpr float kSmallest = std::bit_cast<float>(
        static_cast<std::uint32_t>(W::kBias + 1 - F::kBias - F::kMantissa) << W::kMantissa);
    const auto subnormal = std::bit_cast<std::uint32_t>(
        static_cast<float>(static_cast<std::int32_t>(magnitude)) * kSmallest);
    wide += static_cast<std::uint32_t>(W::kBias - F::kBias) << W::kMantissa;
    wide = magnitude < (1u << F::kMantissa) ? subnormal : wide;
  }
  if constexpr (F::kIsFinite) {
    wide = magnitude == kMagnitude ? W::kInfinity | 1u << 22 : wide;
  } else {
    const std::uint32_t nan = W::kInfinity | magnitude << kShift | 1u << 22;
    wide = magnitude == F::kInfinity ? W::kInfinity : wide;
    wide = magnitude > F::kInfinity ? nan : wide;
  }
  return std::bit_cast<float>(wide | sign);
}

template <typename F, typename Wide>
[[gnu::always_inline]] inline typename F::Bits narrow(Wide value) {
  using W = WideFormat<Wide>;
  using Bits = typename W::Bits;
  constexpr int kShift = W::kMantissa - F::kMantissa;
  constexpr Bits kOne = 1;
  constexpr Bits kFirstNormal = static_cast<Bits>(W::kBias - F::kBias + 1) << W::kMantissa;
  // The first that is rounded beyond the largest number: half a unit above it, or above half where
  // the largest is even.
  constexpr Bits kLargest =
      (static_cast<Bits>(W::kBias + F::kBias + (F::kIsFinite ? 1 : 0)) << W::kMantissa) +
      (((kOne << F::kMantissa) - (F::kIsFinite ? 2 : 1)) << kShift);
  constexpr Bits kBeyond = kLargest + (kOne << (kShift - 1)) + (F::kIsFinite ? 1 : 0);
  // What brings the units of subnormal numbers to the end of a wide mantissa, which rounds them.
  constexpr Bits kMagic = static_cast<Bits>(W::kBias - F::kBias + 1 + kShift) << W::kMantissa;
  const Bits bits = std::bit_cast<Bits>(value);
  const Bits magnitude = bits & ~W::kSign;
  if constexpr (F::kBias == W::kBias) {  // the upper bits of the wide number
    const Bits upper = bits >> kShift;
    const Bits nearest = bits + ((kOne << (kShift - 1)) - 1) + (upper & 1);
    return static_cast<typename F::Bits>(magnitude > W::kInfinity ? upper | F::kQuiet
                                                                  : nearest >> kShift);
  }
  const Bits odd = magnitude >> kShift & 1;
  const Bits rounded = magnitude + ((kOne << (kShift - 1)) - 1) + odd;
  Bits result = (rounded >> kShift) - (static_cast<Bits>(W::kBias - F::kBias) << F::kMantissa);
  const Bits subnormal =
      std::bit_cast<Bits>(std::bit_cast<Wide>(magnitude) + std::bit_cast<Wide>(kMagic)) - kMagic;
  result = magnitude < kFirstNormal ? subnormal : result;
  if constexpr (F::kIsFinite) {
    constexpr Bits kNan = (kOne << (F::kExponent + F::kMantissa)) - 1;
    result = magnitude >= kBeyond ? kNan : result;
  } else {
    constexpr Bits kInfinity = F::kInfinity;
    const Bits nan = kInfinity | F::kQuiet | (magnitude >> kShift & (F::kQuiet - 1));
    result = magnitude >= kBeyond ? kInfinity : result;
    result = magnitude > W::kInfinity ? nan : result;
  }
  const Bits sign = (bits & W::kSign) >> (8 * sizeof(Wide) - 1 - F::kExponent - F::kMantissa);
  return static_cast<typename F::Bits>(result | sign);
}

}  // namespace
}  // namespace ttlg::cpu
