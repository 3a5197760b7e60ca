// What becomes of each element on its way. Today nothing: every kernel moves its bits as they are,
// and refuses any other map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttlg {

// Of elements. `bits` are of any size and have no value.
enum class Type : std::uint8_t {
  bits,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

// 0 for `bits`, whose size the type does not tell.
constexpr std::int64_t bytes_of(Type type) {
  constexpr std::array<std::int64_t, 15> kBytes{0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
  return kBytes[static_cast<std::size_t>(type)];
}

struct ElementMap {
  Type from = Type::bits;
  Type to = Type::bits;

  bool operator==(const ElementMap&) const = default;

  bool is_identity() const { return from == to; }
  // A word of its own for every map, for hashes.
  explicit operator std::uint64_t() const {
    return static_cast<std::uint64_t>(from) << 8 | static_cast<std::uint64_t>(to);
  }
};

}  // namespace ttlg
