// Conversions of the most frequent pairs of types in one pass of registers: loaded, multiplied,
// added to, rounded and stored, around the caches where that is asked for. By AVX2, on levels
// beyond it, too: memory is slower than that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/element_map.hpp"

namespace ttlg::cpu {
namespace {

#if defined(__AVX2__) && defined(__F16C__)

// Eight elements as float32.
template <Type kType>
[[gnu::always_inline]] inline __m256 load_eight(const std::byte* from) {
  const auto half = reinterpret_cast<const __m128i*>(from);
  if constexpr (kType == Type::uint8) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(half)));
  } else if constexpr (kType == Type::int8) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(half)));
  } else if constexpr (kType == Type::uint16) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(half)));
  } else if constexpr (kType == Type::int16) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(half)));
  } else if constexpr (kType == Type::float16) {
    return _mm256_cvtph_ps(_mm_loadu_si128(half));
  } else if constexpr (kType == Type::bfloat16) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(half)), 16));
  } else {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
}

// Within the limits of an integer type; NaN is 0.
template <Type kType>
[[gnu::always_inline]] inline __m256i to_integers(__m256 value) {
  constexpr bool kIsSigned = kType == Type::int8 || kType == Type::int16;
  constexpr bool kIsByte = bytes_of(kType) == 1;
  const float least = kIsSigned ? (kIsByte ? -128.0F : -32768.0F) : 0.0F;
  const float greatest = kIsSigned ? (kIsByte ? 127.0F : 32767.0F) : (kIsByte ? 255.0F : 65535.0F);
  value = _mm256_and_ps(value, _mm256_cmp_ps(value, value, _CMP_ORD_Q));
  value = _mm256_min_ps(_mm256_max_ps(value, _mm256_set1_ps(least)), _mm256_set1_ps(greatest));
  return _mm256_cvtps_epi32(value);
}

// As narrow() does.
[[gnu::always_inline]] inline __m256i to_bfloat16(__m256 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(
      _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
  const __m256i nan = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, nan, is_nan);
}

[[gnu::always_inline]] inline void put(std::byte* to, __m256i value, bool streams) {
  if (streams) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
  }
}

// Stores 32 elements.
template <Type kType>
[[gnu::always_inline]] inline void store_all(std::byte* to, const __m256* values, bool streams) {
  if constexpr (kType == Type::float32) {
    for (int i = 0; i < 4; ++i) put(to + 32 * i, _mm256_castps_si256(values[i]), streams);
  } else if constexpr (kType == Type::float16) {
    for (int i = 0; i < 2; ++i) {
      const __m128i low = _mm256_cvtps_ph(values[2 * i], _MM_FROUND_TO_NEAREST_INT);
      const __m128i high = _mm256_cvtps_ph(values[2 * i + 1], _MM_FROUND_TO_NEAREST_INT);
      put(to + 32 * i, _mm256_set_m128i(high, low), streams);
    }
  } else {
    __m256i words[4];
    for (int i = 0; i < 4; ++i) {
      words[i] = kType == Type::bfloat16 ? to_bfloat16(values[i]) : to_integers<kType>(values[i]);
    }
    // Packs work within lanes, which are put in order then.
    constexpr bool kIsSigned = kType == Type::int8 || kType == Type::int16;
    __m256i halves[2];
    for (int i = 0; i < 2; ++i) {
      halves[i] = kIsSigned || bytes_of(kType) == 1
                      ? _mm256_packs_epi32(words[2 * i], words[2 * i + 1])
                      : _mm256_packus_epi32(words[2 * i], words[2 * i + 1]);
    }
    if constexpr (bytes_of(kType) == 2) {
      for (int i = 0; i < 2; ++i) {
        put(to + 32 * i, _mm256_permute4x64_epi64(halves[i], 0xd8), streams);
      }
    } else {
      const __m256i bytes = kIsSigned ? _mm256_packs_epi16(halves[0], halves[1])
                                      : _mm256_packus_epi16(halves[0], halves[1]);
      const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
      put(to, _mm256_permutevar8x32_epi32(bytes, order), streams);
    }
  }
}

template <Type kFrom, Type kTo>
void convert_fused(const std::byte* in, std::byte* out, std::int64_t count,
                   const ChunkValues& values, bool streams) {
  const auto scales = reinterpret_cast<const float*>(values.scales);
  const auto offsets = reinterpret_cast<const float*>(values.offsets);
  const std::int64_t step = values.vary ? 1 : 0;
  for (std::int64_t i = 0; i < count; i += kFusedElements) {
    __m256 all[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const std::int64_t at = i + 8 * k;
      const __m256 value = load_eight<kFrom>(in + at * bytes_of(kFrom));
      const __m256 product = _mm256_mul_ps(value, _mm256_loadu_ps(scales + step * at));
      all[k] = _mm256_add_ps(product, _mm256_loadu_ps(offsets + step * at));
    }
    store_all<kTo>(out + i * bytes_of(kTo), all, streams);
  }
}

// Four elements as float64.
template <Type kType>
[[gnu::always_inline]] inline __m256d load_four(const std::byte* from) {
  if constexpr (kType == Type::int32) {
    return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  } else if constexpr (kType == Type::float32) {
    return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(from)));
  } else {
    return _mm256_loadu_pd(reinterpret_cast<const double*>(from));
  }
}

template <Type kFrom, Type kTo>
void convert_fused_wide(const std::byte* in, std::byte* out, std::int64_t count,
                        const ChunkValues& values, bool streams) {
  const auto scales = reinterpret_cast<const double*>(values.scales);
  const auto offsets = reinterpret_cast<const double*>(values.offsets);
  const std::int64_t step = values.vary ? 1 : 0;
  for (std::int64_t i = 0; i < count; i += 8) {
    __m256d both[2];
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const std::int64_t at = i + 4 * k;
      const __m256d value = load_four<kFrom>(in + at * bytes_of(kFrom));
      const __m256d product = _mm256_mul_pd(value, _mm256_loadu_pd(scales + step * at));
      both[k] = _mm256_add_pd(product, _mm256_loadu_pd(offsets + step * at));
    }
    std::byte* const to = out + i * bytes_of(kTo);
    if constexpr (kTo == Type::float64) {
      put(to, _mm256_castpd_si256(both[0]), streams);
      put(to + 32, _mm256_castpd_si256(both[1]), streams);
    } else {
      const __m256 floats = _mm256_set_m128(_mm256_cvtpd_ps(both[1]), _mm256_cvtpd_ps(both[0]));
      put(to, _mm256_castps_si256(floats), streams);
    }
  }
}

template <Type kFrom, Type... kTo>
constexpr void add_fused(FusedKernels& kernels) {
  ((kernels[type_number(kFrom)][type_number(kTo)] = convert_fused<kFrom, kTo>), ...);
}

template <Type kFrom, Type... kTo>
constexpr void add_fused_wide(FusedKernels& kernels) {
  ((kernels[type_number(kFrom)][type_number(kTo)] = convert_fused_wide<kFrom, kTo>), ...);
}

template <Type... kFrom>
constexpr void add_all_fused(FusedKernels& kernels) {
  using enum Type;
  (add_fused<kFrom, uint8, int8, uint16, int16, float16, bfloat16, float32>(kernels), ...);
}

constexpr FusedKernels fused_kernels() {
  using enum Type;
  FusedKernels kernels{};
  add_all_fused<uint8, int8, uint16, int16, float16, bfloat16, float32>(kernels);
  add_fused_wide<float32, float64>(kernels);
  add_fused_wide<float64, float32, float64>(kernels);
  add_fused_wide<int32, float32, float64>(kernels);
  return kernels;
}

#else

constexpr FusedKernels fused_kernels() { return {}; }

#endif

}  // namespace
}  // namespace ttlg::cpu
