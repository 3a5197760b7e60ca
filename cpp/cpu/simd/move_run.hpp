// Moves of runs of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/simd/vectors.hpp"

namespace ttlg::cpu {
namespace {

// Moves kCount whole Ts and one more that ends with the run: kCount * sizeof(T) bytes or more, and
// up to a T more than that.
template <typename T, int kCount>
[[gnu::always_inline]] inline void move_words(std::byte* to, const std::byte* from,
                                              std::int64_t bytes) {
  const std::int64_t tail = bytes - static_cast<std::int64_t>(sizeof(T));
  T words[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(&words[i], from + i * int{sizeof(T)}, sizeof(T));
  T last;
  std::memcpy(&last, from + tail, sizeof(T));
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(to + i * int{sizeof(T)}, &words[i], sizeof(T));
  std::memcpy(to + tail, &last, sizeof(T));
}

// Calls use(move) with what moves runs of that many bytes: move(to, from). Up to 16 vectors, a call
// to memcpy would cost more than the run.
template <typename Use>
[[gnu::always_inline]] inline void with_move_of(std::int64_t bytes, const Use& use) {
  using V = Bytes<kVectorBytes>;
  const auto words = [&]<typename T, int kCount>(T, std::integral_constant<int, kCount>) {
    use([bytes](std::byte* to, const std::byte* from) { move_words<T, kCount>(to, from, bytes); });
  };
  constexpr std::integral_constant<int, 1> kOne;
  if (bytes == 1) {
    use([](std::byte* to, const std::byte* from) { *to = *from; });
  } else if (bytes <= 4) {
    words(std::uint16_t{}, kOne);
  } else if (bytes <= 8) {
    words(std::uint32_t{}, kOne);
  } else if (bytes <= 16) {
    words(std::uint64_t{}, kOne);
  } else if (bytes <= 32) {
    words(Bytes<16>{}, kOne);
  } else if (kVectorBytes == 64 && bytes <= 64) {
    words(Bytes<32>{}, kOne);
  } else if (bytes <= 2 * kVectorBytes) {
    words(V{}, kOne);
  } else if (bytes <= 3 * kVectorBytes) {
    words(V{}, std::integral_constant<int, 2>{});
  } else if (bytes <= 4 * kVectorBytes) {
    words(V{}, std::integral_constant<int, 3>{});
  } else if (bytes <= 16 * kVectorBytes) {
    use([bytes](std::byte* to, const std::byte* from) {
      const std::int64_t tail = bytes - kVectorBytes;
      for (std::int64_t i = 0; i < tail; i += kVectorBytes) store(to + i, load<V>(from + i));
      store(to + tail, load<V>(from + tail));
    });
  } else {
    use([bytes](std::byte* to, const std::byte* from) {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
    });
  }
}

inline void move_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) with_move_of(bytes, [&](const auto& move) { move(to, from); });
}

}  // namespace
}  // namespace ttlg::cpu
