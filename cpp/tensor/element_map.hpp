// What becomes of each element on its way: nothing, or another type, another order of its bytes, a
// multiple, a sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttlg {

// Of elements. `bits` are of any size and have no value.
enum class Type : std::uint8_t {
  bits,
  boolean,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float8_e4m3fn,
  float8_e5m2,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};
inline constexpr std::size_t kTypes = 18;

constexpr std::size_t type_number(Type type) { return static_cast<std::size_t>(type); }

// 0 for `bits`, whose size the type does not tell.
constexpr std::int64_t bytes_of(Type type) {
  constexpr std::array<std::int64_t, kTypes> kBytes{0, 1, 1, 1, 2, 2, 4, 4, 8,
                                                    8, 1, 1, 2, 2, 4, 8, 8, 16};
  return kBytes[type_number(type)];
}

constexpr bool is_complex(Type type) { return type == Type::complex64 || type == Type::complex128; }

// Booleans included.
constexpr bool is_integral(Type type) { return type >= Type::boolean && type <= Type::int64; }

// The type of the parts of complex numbers; of others, their own.
constexpr Type part_of(Type type) {
  if (type == Type::complex64) return Type::float32;
  return type == Type::complex128 ? Type::float64 : type;
}

// From x and the element y that the output has had: convert(scale * x + offset + beta * y). Without
// their values, which calls bring, and of which there is one for all elements or, along an axis of
// the input, one for each index.
struct ElementMap {
  Type from = Type::bits;
  Type to = Type::bits;
  bool swaps_bytes = false;  // of the input
  bool conjugates = false;
  bool scales = false;
  bool adds = false;
  bool accumulates = false;
  bool saturates = false;  // integers that do not hold a result; else it is taken modulo 2^n
  std::int8_t axis = -1;   // of the input, along which scale and offset vary

  bool operator==(const ElementMap&) const = default;

  bool computes() const { return scales || adds || accumulates; }
  bool is_identity() const { return from == to && !swaps_bytes && !conjugates && !computes(); }
  // Of an element while it is computed: complex numbers that stay complex have two.
  std::int64_t parts() const { return is_complex(from) && is_complex(to) ? 2 : 1; }
  bool varies() const { return axis >= 0 && (scales || adds); }

  // The type that elements, or their parts, have while they are computed: that of integers that
  // become integers, else float32, or float64 where either side has more than 24 bits.
  Type computed_in() const {
    const auto is_short = [](Type type) {
      return bytes_of(type) < 4 || type == Type::float32 || type == Type::complex64;
    };
    if (is_integral(from) && is_integral(to) && !computes()) {
      const auto fits = [](Type type) { return bytes_of(type) < 4 || type == Type::int32; };
      return fits(from) && fits(to) ? Type::int32 : Type::int64;
    }
    return is_short(from) && is_short(to) ? Type::float32 : Type::float64;
  }

  // A word of its own for every map, for hashes.
  explicit operator std::uint64_t() const {
    std::uint64_t word = static_cast<std::uint64_t>(from) << 8 | static_cast<std::uint64_t>(to);
    for (const bool flag : {swaps_bytes, conjugates, scales, adds, accumulates, saturates}) {
      word = word << 1 | static_cast<std::uint64_t>(flag);
    }
    return word << 8 | static_cast<std::uint8_t>(axis);
  }
};

}  // namespace ttlg
