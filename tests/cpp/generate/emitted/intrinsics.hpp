// What intrinsics do, by the definitions of Intel's Intrinsics Guide and of Arm's ACLE, on bytes
// that know where they come from. None of it is taken from the back ends that emit them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "generate/emitted/value.hpp"

namespace ttlg::test::emitted {

using Arguments = std::span<const Value>;

struct Intrinsic {
  int instructions;
  std::function<Bytes(Arguments)> run;  // stores return nothing
};
using Intrinsics = std::map<std::string, Intrinsic, std::less<>>;

inline Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline Bytes zeros(int count) { return Bytes(static_cast<std::size_t>(count), constant(0)); }

inline std::span<const Byte> part(const Bytes& bytes, int from, int count) {
  require(from >= 0 && from + count <= std::ssize(bytes), "a register has no such bytes");
  return std::span(bytes).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
}

// Unit i of the result is unit from(i) of `sources`.
template <typename From>
Bytes gather(const Bytes& sources, int width, int unit, const From& from) {
  Bytes result;
  for (int i = 0; i < width / unit; ++i) {
    const auto taken = part(sources, static_cast<int>(from(i)) * unit, unit);
    result.insert(result.end(), taken.begin(), taken.end());
  }
  return result;
}

inline int bit(std::int64_t mask, int number) {
  return static_cast<int>(static_cast<std::uint64_t>(mask) >> number & 1);
}
// A field of two bits of an immediate.
inline int pair_of_bits(std::int64_t immediate, int number) {
  return static_cast<int>(immediate >> (2 * number) & 3);
}

// Byte by byte.
template <typename Combine>
Bytes combine(const Bytes& first, const Bytes& second, const Combine& combine) {
  Bytes result;
  std::ranges::transform(first, second, std::back_inserter(result), combine);
  return result;
}
inline Byte both_or(Byte x, Byte y) {
  if (is_constant(x) && is_constant(y)) return constant(number_of(x) | number_of(y));
  if (x == constant(0)) return y;
  return y == constant(0) ? x : kGarbage;
}
inline Byte both_and(Byte x, Byte y) {
  if (is_constant(x) && is_constant(y)) return constant(number_of(x) & number_of(y));
  if (x == constant(0) || y == constant(0)) return constant(0);
  if (x == constant(0xff)) return y;
  return y == constant(0xff) ? x : kGarbage;
}

void add_x86(Intrinsics& all);
void add_arm(Intrinsics& all, int vector_bytes);

}  // namespace ttlg::test::emitted
