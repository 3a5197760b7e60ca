// Vectors of kVectorBytes for the SIMD level that the including file is compiled for. Everything
// works within 16-byte lanes, so that one source serves 16, 32 and 64-byte vectors alike; unnamed
// namespaces keep the levels apart at link time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace ttlg::cpu {
namespace {

#if defined(__AVX512BW__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

#if defined(__SSSE3__) || defined(__aarch64__)
constexpr bool kHasShuffle = true;
#else
constexpr bool kHasShuffle = false;
#endif

template <typename T, int kBytes>
using VectorOf __attribute__((vector_size(kBytes))) = T;
template <int kBytes>
using Bytes = VectorOf<std::uint8_t, kBytes>;

template <typename V>
[[gnu::always_inline]] inline V load(const std::byte* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

template <typename V>
[[gnu::always_inline]] inline void store(std::byte* to, const V& value) {
  std::memcpy(to, &value, sizeof(V));
}

// One vector from kBytes/16 lanes of 16 bytes; lane(l) says where the l-th lies.
template <int kBytes, typename Lane>
[[gnu::always_inline]] inline Bytes<kBytes> load_lanes(const Lane& lane) {
  if constexpr (kBytes == 16) {
    return load<Bytes<16>>(lane(0));
#if defined(__AVX2__)
  } else if constexpr (kBytes == 32) {
    const auto low = reinterpret_cast<const __m128i*>(lane(0));
    const auto high = reinterpret_cast<const __m128i*>(lane(1));
    return reinterpret_cast<Bytes<32>>(_mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1));
#endif
#if defined(__AVX512BW__)
  } else {
    const auto at = [&](int l) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(lane(l)));
    };
    __m512i lanes = _mm512_castsi128_si512(at(0));
    lanes = _mm512_inserti32x4(lanes, at(1), 1);
    lanes = _mm512_inserti32x4(lanes, at(2), 2);
    return reinterpret_cast<Bytes<64>>(_mm512_inserti32x4(lanes, at(3), 3));
#endif
  }
}

// The 16-byte lanes of a vector to where lane(l) says.
template <int kBytes, typename Lane>
[[gnu::always_inline]] inline void store_lanes(const Bytes<kBytes>& value, const Lane& lane) {
  if constexpr (kBytes == 16) {
    store(lane(0), value);
#if defined(__AVX2__)
  } else if constexpr (kBytes == 32) {
    const auto lanes = reinterpret_cast<__m256i>(value);
    const auto at = [&](int l) { return reinterpret_cast<__m128i*>(lane(l)); };
    _mm_storeu_si128(at(0), _mm256_castsi256_si128(lanes));
    _mm_storeu_si128(at(1), _mm256_extracti128_si256(lanes, 1));
#endif
#if defined(__AVX512BW__)
  } else {
    const auto lanes = reinterpret_cast<__m512i>(value);
    const auto at = [&](int l) { return reinterpret_cast<__m128i*>(lane(l)); };
    _mm_storeu_si128(at(0), _mm512_castsi512_si128(lanes));
    _mm_storeu_si128(at(1), _mm512_extracti32x4_epi32(lanes, 1));
    _mm_storeu_si128(at(2), _mm512_extracti32x4_epi32(lanes, 2));
    _mm_storeu_si128(at(3), _mm512_extracti32x4_epi32(lanes, 3));
#endif
  }
}

// Interleaves the lower or the upper halves of each lane.
template <typename V, bool kHigh, int... kI>
[[gnu::always_inline]] inline V interleave(V x, V y, std::integer_sequence<int, kI...>) {
  constexpr int kAll = sizeof...(kI);
  constexpr int kLane = kAll * 16 / static_cast<int>(sizeof(V));
  return __builtin_shufflevector(
      x, y, (kI / kLane * kLane + (kHigh ? kLane / 2 : 0) + kI % kLane / 2 + (kI % 2) * kAll)...);
}

template <typename T, int kBytes, bool kHigh>
[[gnu::always_inline]] inline Bytes<kBytes> unpack(Bytes<kBytes> x, Bytes<kBytes> y) {
  using V = VectorOf<T, kBytes>;
  return reinterpret_cast<Bytes<kBytes>>(
      interleave<V, kHigh>(reinterpret_cast<V>(x), reinterpret_cast<V>(y),
                           std::make_integer_sequence<int, kBytes / int{sizeof(T)}>{}));
}

// One round of a butterfly: vector i and vector i + kCount/2 become vectors 2i and 2i + 1.
template <typename T, int kBytes, int kCount>
[[gnu::always_inline]] inline void interleave_vectors(Bytes<kBytes>* vectors) {
  Bytes<kBytes> next[kCount];
  for (int i = 0; i < kCount / 2; ++i) {
    next[2 * i] = unpack<T, kBytes, false>(vectors[i], vectors[i + kCount / 2]);
    next[2 * i + 1] = unpack<T, kBytes, true>(vectors[i], vectors[i + kCount / 2]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) vectors[i] = next[i];
}

// Interleaves the 16-byte lanes of the lower or the upper halves of two vectors.
template <int kBytes, bool kHigh, int... kI>
[[gnu::always_inline]] inline Bytes<kBytes> interleave_lanes(Bytes<kBytes> x, Bytes<kBytes> y,
                                                             std::integer_sequence<int, kI...>) {
  using V = VectorOf<std::uint64_t, kBytes>;
  constexpr int kAll = sizeof...(kI);
  return reinterpret_cast<Bytes<kBytes>>(__builtin_shufflevector(
      reinterpret_cast<V>(x), reinterpret_cast<V>(y),
      ((kHigh ? kAll / 2 : 0) + kI / 4 * 2 + kI % 2 + (kI / 2 % 2) * kAll)...));
}

// Brings equal lanes of kGroups vectors together: read one after another, the vectors then hold
// lane 0 of each, lane 1 of each, and so on.
template <int kBytes, int kGroups>
[[gnu::always_inline]] inline void gather_groups(Bytes<kBytes>* lanes) {
  constexpr auto kIndices = std::make_integer_sequence<int, kBytes / 8>{};
  if constexpr (kGroups > 1) {
    for (int round = 1; round < kGroups; round *= 2) {
      Bytes<kBytes> next[kGroups];
      for (int i = 0; i < kGroups / 2; ++i) {
        next[2 * i] = interleave_lanes<kBytes, false>(lanes[i], lanes[i + kGroups / 2], kIndices);
        next[2 * i + 1] =
            interleave_lanes<kBytes, true>(lanes[i], lanes[i + kGroups / 2], kIndices);
      }
      for (int i = 0; i < kGroups; ++i) lanes[i] = next[i];
    }
  }
}

// In each lane: byte i is byte indices[i] of `value`, or 0 where indices[i] is kNoByte.
template <int kBytes>
[[gnu::always_inline]] inline Bytes<kBytes> shuffle_bytes(
    [[maybe_unused]] Bytes<kBytes> value, [[maybe_unused]] const std::uint8_t* indices) {
#if defined(__AVX512BW__)
  if constexpr (kBytes == 64) {
    const __m128i once = _mm_load_si128(reinterpret_cast<const __m128i*>(indices));
    return reinterpret_cast<Bytes<64>>(
        _mm512_shuffle_epi8(reinterpret_cast<__m512i>(value), _mm512_broadcast_i32x4(once)));
  }
#endif
#if defined(__AVX2__)
  if constexpr (kBytes == 32) {
    const __m128i once = _mm_load_si128(reinterpret_cast<const __m128i*>(indices));
    return reinterpret_cast<Bytes<32>>(
        _mm256_shuffle_epi8(reinterpret_cast<__m256i>(value), _mm256_broadcastsi128_si256(once)));
  }
#endif
#if defined(__SSSE3__)
  if constexpr (kBytes == 16) {
    return reinterpret_cast<Bytes<16>>(
        _mm_shuffle_epi8(reinterpret_cast<__m128i>(value),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(indices))));
  }
#elif defined(__aarch64__)
  return vqtbl1q_u8(value, vld1q_u8(indices));
#else
  __builtin_unreachable();  // the table of such a level has no shuffle kernel
#endif
}

// Word i is word indices[i] of `value`, in any lane.
template <int kBytes>
[[gnu::always_inline]] inline Bytes<kBytes> permute_words(Bytes<kBytes> value,
                                                          VectorOf<std::uint32_t, kBytes> indices) {
#if defined(__AVX512BW__)
  if constexpr (kBytes == 64) {
    return reinterpret_cast<Bytes<64>>(_mm512_permutexvar_epi32(reinterpret_cast<__m512i>(indices),
                                                                reinterpret_cast<__m512i>(value)));
  }
#endif
#if defined(__AVX2__)
  if constexpr (kBytes == 32) {
    return reinterpret_cast<Bytes<32>>(_mm256_permutevar8x32_epi32(
        reinterpret_cast<__m256i>(value), reinterpret_cast<__m256i>(indices)));
  }
#endif
}

// An aligned vector around the caches. Vectors of less than a line must make it whole one right
// after the other.
template <int kBytes>
[[gnu::always_inline]] inline void store_past_caches(std::byte* to, Bytes<kBytes> value) {
#if defined(__AVX512BW__)
  if constexpr (kBytes == 64) {
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
  }
#endif
#if defined(__AVX2__)
  if constexpr (kBytes == 32) {
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
  }
#endif
#if defined(__SSE2__)
  if constexpr (kBytes == 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
  }
#else
  store(to, value);
#endif
}

// One aligned line around the caches.
inline void store_line_past_caches(std::byte* to, const std::byte* from) {
  for (int i = 0; i < 64; i += kVectorBytes) {
    store_past_caches<kVectorBytes>(to + i, load<Bytes<kVectorBytes>>(from + i));
  }
}

inline void fence_streamed_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace ttlg::cpu
