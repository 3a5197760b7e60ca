// Elements to the type that they are computed in, what is computed, and to the output's type: loops
// that compilers turn into vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "cpu/simd/narrow.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/element_map.hpp"

namespace ttlg::cpu {
namespace {

// What holds an element in memory.
template <Type kType>
struct StoredAs;
// clang-format off
template <> struct StoredAs<Type::boolean> { using T = std::uint8_t; };
template <> struct StoredAs<Type::uint8> { using T = std::uint8_t; };
template <> struct StoredAs<Type::int8> { using T = std::int8_t; };
template <> struct StoredAs<Type::uint16> { using T = std::uint16_t; };
template <> struct StoredAs<Type::int16> { using T = std::int16_t; };
template <> struct StoredAs<Type::uint32> { using T = std::uint32_t; };
template <> struct StoredAs<Type::int32> { using T = std::int32_t; };
template <> struct StoredAs<Type::int64> { using T = std::int64_t; };
template <> struct StoredAs<Type::float8_e4m3fn> { using T = std::uint8_t; };
template <> struct StoredAs<Type::float8_e5m2> { using T = std::uint8_t; };
template <> struct StoredAs<Type::float16> { using T = std::uint16_t; };
template <> struct StoredAs<Type::bfloat16> { using T = std::uint16_t; };
template <> struct StoredAs<Type::float32> { using T = float; };
template <> struct StoredAs<Type::float64> { using T = double; };
// clang-format on
template <Type kType>
using Stored = typename StoredAs<kType>::T;

constexpr bool is_narrow(Type type) {
  return type == Type::float8_e4m3fn || type == Type::float8_e5m2 || type == Type::float16 ||
         type == Type::bfloat16;
}

template <typename T>
[[gnu::always_inline]] inline T read(const std::byte* from, std::int64_t index) {
  T value;
  std::memcpy(&value, from + index * int{sizeof(T)}, sizeof(T));
  return value;
}

template <typename T>
[[gnu::always_inline]] inline void write(std::byte* to, std::int64_t index, T value) {
  std::memcpy(to + index * int{sizeof(T)}, &value, sizeof(T));
}

template <typename T>
[[gnu::always_inline]] inline T swapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else {
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
}

template <Type kType, typename C>
[[gnu::always_inline]] inline C to_computed(Stored<kType> value) {
  if constexpr (is_narrow(kType)) {
    return static_cast<C>(widen<FormatOf<kType>>(value));
  } else if constexpr (kType == Type::boolean) {
    return static_cast<C>(value != 0 ? 1 : 0);
  } else {
    return static_cast<C>(value);
  }
}

// The integer to which a number is rounded, within limits: NaN becomes 0.
template <typename T, typename C>
[[gnu::always_inline]] inline T saturated(C value) {
  using Limits = std::numeric_limits<T>;
  constexpr C kMagic = C{1.5} * (sizeof(C) == 4 ? C{0x1p23} : C{0x1p52});
  constexpr auto kLowest = static_cast<C>(Limits::lowest());
  // Comparisons with NaN are false, so that unsigned types need no test of their own.
  if constexpr (std::is_signed_v<T>) value = value == value ? value : C{0};
  if constexpr (sizeof(T) == 8) {
    constexpr C kBeyond = C{2} * static_cast<C>(std::uint64_t{1} << (Limits::digits - 1));
    if (value >= kBeyond) return Limits::max();
    if (value < kLowest) return Limits::lowest();
    return static_cast<T>(__builtin_rint(value));
  } else {
    constexpr auto kMax = static_cast<C>(Limits::max());  // exact: of fewer bits than C
    value = value > kLowest ? value : kLowest;
    value = value < kMax ? value : kMax;
    const C whole = (value + kMagic) - kMagic;
    if constexpr (sizeof(T) < 4) return static_cast<T>(static_cast<std::int32_t>(whole));
    return static_cast<T>(whole);
  }
}

// The integer to which a number is rounded, modulo 2^n; what 64 bits do not hold becomes 0.
template <typename T, typename C>
[[gnu::always_inline]] inline T wrapped(C value) {
  constexpr C kBeyond = C{0x1p63};
  const bool fits = value >= -kBeyond && value < kBeyond;
  return static_cast<T>(fits ? static_cast<std::int64_t>(__builtin_rint(value)) : 0);
}

template <Type kType, typename C, bool kSaturates>
[[gnu::always_inline]] inline Stored<kType> from_computed(C value) {
  using T = Stored<kType>;
  if constexpr (kType == Type::boolean) {
    return value != C{0};
  } else if constexpr (is_narrow(kType)) {
    return narrow<FormatOf<kType>>(value);
  } else if constexpr (!is_integral(kType)) {
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<C>) {
    return kSaturates ? saturated<T>(value) : wrapped<T>(value);
  } else if constexpr (kSaturates && sizeof(T) < sizeof(C)) {
    constexpr auto kLowest = static_cast<C>(std::numeric_limits<T>::lowest());
    constexpr auto kMax = static_cast<C>(std::numeric_limits<T>::max());
    return static_cast<T>(value < kLowest ? kLowest : value > kMax ? kMax : value);
  } else {
    return static_cast<T>(value);
  }
}

#if defined(__F16C__)
// The instructions for float16 round as narrow() and widen() do, NaN included. Returns how many
// elements they have converted.
inline std::int64_t load_float16(const std::byte* in, std::byte* computed, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
    _mm256_storeu_ps(reinterpret_cast<float*>(computed + 4 * i), _mm256_cvtph_ps(halves));
  }
  return i;
}

inline std::int64_t save_float16(const std::byte* computed, std::byte* out, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 floats = _mm256_loadu_ps(reinterpret_cast<const float*>(computed + 4 * i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i),
                     _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#else
inline std::int64_t load_float16(const std::byte*, std::byte*, std::int64_t) { return 0; }
inline std::int64_t save_float16(const std::byte*, std::byte*, std::int64_t) { return 0; }
#endif

template <Type kType, typename C>
constexpr bool kHasFloat16 = kType == Type::float16 && sizeof(C) == 4;

template <Type kType, typename C>
void load_elements(const std::byte* in, std::byte* computed, std::int64_t count, bool swaps_bytes) {
  using T = Stored<kType>;
  if (swaps_bytes) {
    for (std::int64_t i = 0; i < count; ++i) {
      write(computed, i, to_computed<kType, C>(swapped(read<T>(in, i))));
    }
    return;
  }
  std::int64_t first = 0;
  if constexpr (kHasFloat16<kType, C>) first = load_float16(in, computed, count);
  for (std::int64_t i = first; i < count; ++i) {
    write(computed, i, to_computed<kType, C>(read<T>(in, i)));
  }
}

template <Type kType, typename C>
void load_scaled(const std::byte* in, std::byte* computed, std::int64_t count,
                 const ChunkValues& values) {
  using T = Stored<kType>;
  if (values.vary) {
    for (std::int64_t i = 0; i < count; ++i) {
      const C value = to_computed<kType, C>(read<T>(in, i));
      write(computed, i, value * read<C>(values.scales, i) + read<C>(values.offsets, i));
    }
    return;
  }
  const C scale = read<C>(values.scales, 0);
  const C offset = read<C>(values.offsets, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    write(computed, i, to_computed<kType, C>(read<T>(in, i)) * scale + offset);
  }
}

template <typename C>
void accumulate(const std::byte* in, std::byte* out, std::int64_t count, const ChunkValues& values,
                const std::byte* beta) {
  const C factor = read<C>(beta, 0);
  if (values.vary) {
    for (std::int64_t i = 0; i < count; ++i) {
      const C value = read<C>(in, i) * read<C>(values.scales, i) + read<C>(values.offsets, i);
      write(out, i, value + factor * read<C>(out, i));
    }
    return;
  }
  const C scale = read<C>(values.scales, 0);
  const C offset = read<C>(values.offsets, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    write(out, i, read<C>(in, i) * scale + offset + factor * read<C>(out, i));
  }
}

template <Type kType, typename C, bool kSaturates>
void save_elements(const std::byte* computed, std::byte* out, std::int64_t count) {
  std::int64_t first = 0;
  if constexpr (kHasFloat16<kType, C>) first = save_float16(computed, out, count);
  for (std::int64_t i = first; i < count; ++i) {
    write(out, i, from_computed<kType, C, kSaturates>(read<C>(computed, i)));
  }
}

template <typename C, typename Operation>
[[gnu::always_inline]] inline void compute(std::byte* computed, const std::byte* values,
                                           std::int64_t count, bool vary,
                                           const Operation& operation) {
  if (vary) {
    for (std::int64_t i = 0; i < count; ++i) {
      write(computed, i, operation(read<C>(computed, i), read<C>(values, i)));
    }
    return;
  }
  const C value = read<C>(values, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    write(computed, i, operation(read<C>(computed, i), value));
  }
}

template <typename C>
void scale(std::byte* computed, const std::byte* values, std::int64_t count, bool vary) {
  compute<C>(computed, values, count, vary, [](C x, C y) { return x * y; });
}

template <typename C>
void add(std::byte* computed, const std::byte* values, std::int64_t count, bool vary) {
  compute<C>(computed, values, count, vary, [](C x, C y) { return x + y; });
}

template <typename C>
void scale_complex(std::byte* computed, const std::byte* values, std::int64_t count, bool vary) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t value = vary ? 2 * i : 0;
    const C real = read<C>(computed, 2 * i);
    const C imaginary = read<C>(computed, 2 * i + 1);
    const C by_real = read<C>(values, value);
    const C by_imaginary = read<C>(values, value + 1);
    write(computed, 2 * i, real * by_real - imaginary * by_imaginary);
    write(computed, 2 * i + 1, real * by_imaginary + imaginary * by_real);
  }
}

template <typename C>
void take_real(const std::byte* complex, std::byte* real, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) write(real, i, read<C>(complex, 2 * i));
}

template <typename C>
void make_complex(const std::byte* real, std::byte* complex, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    write(complex, 2 * i, read<C>(real, i));
    write(complex, 2 * i + 1, C{0});
  }
}

template <typename C>
void conjugate(std::byte* computed, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    write(computed, 2 * i + 1, -read<C>(computed, 2 * i + 1));
}

// Whether elements of a type are computed in that one.
template <typename C>
constexpr bool is_computed_in(Type type) {
  if (type == Type::bits || type == Type::uint64 || is_complex(type)) return false;
  if (std::is_integral_v<C>) {
    return is_integral(type) && (sizeof(C) == 8 || bytes_of(type) < 4 || type == Type::int32);
  }
  return sizeof(C) == 8 || bytes_of(type) < 4 || type == Type::float32;
}

template <typename C, std::size_t... kNumbers>
constexpr ConvertKernels kernels_of(std::index_sequence<kNumbers...>) {
  ConvertKernels kernels;
  const auto fill = [&]<Type kType>() {
    if constexpr (is_computed_in<C>(kType)) {
      kernels.load[type_number(kType)] = load_elements<kType, C>;
      if constexpr (std::is_floating_point_v<C>) {
        kernels.load_scaled[type_number(kType)] = load_scaled<kType, C>;
      }
      kernels.save[type_number(kType)] = save_elements<kType, C, false>;
      kernels.save_saturated[type_number(kType)] = save_elements<kType, C, true>;
    }
  };
  (fill.template operator()<static_cast<Type>(kNumbers)>(), ...);
  if constexpr (std::is_floating_point_v<C>) {
    kernels.scale = scale<C>;
    kernels.add = add<C>;
    kernels.accumulate = accumulate<C>;
    kernels.scale_complex = scale_complex<C>;
    kernels.take_real = take_real<C>;
    kernels.make_complex = make_complex<C>;
    kernels.conjugate = conjugate<C>;
  }
  return kernels;
}

constexpr std::array<ConvertKernels, kComputedTypes> convert_kernels() {
  constexpr auto kAll = std::make_index_sequence<kTypes>{};
  return {kernels_of<std::int32_t>(kAll), kernels_of<std::int64_t>(kAll), kernels_of<float>(kAll),
          kernels_of<double>(kAll)};
}

}  // namespace
}  // namespace ttlg::cpu
