// Lines that are moved in windows (plan/cpu/window.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/vectors.hpp"
#include "plan/cpu/window.hpp"

namespace ttlg::cpu {
namespace {

// What permutes a window's vector: its bytes in a lane, its words in a longer vector. Copied from
// the window, which what is stored could change, for all that the compiler knows.
template <int kBytes>
struct Permutation {
  using Words = VectorOf<std::uint32_t, kBytes>;

  explicit Permutation(const Window& window)
      : words(load<Words>(reinterpret_cast<const std::byte*>(window.words.data()))) {}

  [[gnu::always_inline]] Bytes<kBytes> operator()(Bytes<kBytes> value) const {
    return permute_words<kBytes>(value, words);
  }

  Words words;
};

template <>
struct Permutation<kLaneBytes> {
  explicit Permutation(const Window& window) : bytes(window.bytes) {}

  [[gnu::always_inline]] Bytes<kLaneBytes> operator()(Bytes<kLaneBytes> value) const {
    return shuffle_bytes<kLaneBytes>(value, bytes.data());
  }

  alignas(kLaneBytes) ByteIndices bytes;
};

// Up to a vector: so that the compiler leaves out what moves longer runs.
template <int kBytes>
inline void move_part(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > kBytes) __builtin_unreachable();
  move_run(to, from, bytes);
}

// Reads no more than the window, unless a vector may be read, and stores no more.
template <int kBytes>
inline void move_exactly(const std::byte* in, std::byte* out, const Window& window,
                         const Permutation<kBytes>& permuted, bool is_readable) {
  alignas(kBytes) std::byte bytes[kBytes] = {};
  Bytes<kBytes> vector;
  if (is_readable) {
    vector = load<Bytes<kBytes>>(in + window.load);
  } else {
    move_part<kBytes>(bytes + (window.begin - window.load), in + window.begin, window.in_bytes);
    vector = load<Bytes<kBytes>>(bytes);
  }
  store(bytes, permuted(vector));
  move_part<kBytes>(out, bytes, window.out_bytes);
}

template <int kBytes>
void move_windows_of(const std::byte* in, std::byte* out, const Window& window,
                     const WindowLine& line) {
  const Permutation<kBytes> permuted(window);
  const std::int64_t elements = window.elements;
  const std::int64_t in_step = elements * line.in_step;
  const std::int64_t out_step = window.out_bytes;
  const std::byte* from = in + window.load;
  std::byte* to = out;
  const auto move_whole = [&] {
    store(to, permuted(load<Bytes<kBytes>>(from)));
    from += in_step;
    to += out_step;
  };
  const std::int64_t writable = line.count - window.written_elements;
  const std::int64_t last = writable < line.last_readable ? writable : line.last_readable;
  constexpr int kAtOnce = 4;
  std::int64_t at = 0;
  for (; at + (kAtOnce - 1) * elements <= last; at += kAtOnce * elements) {
#pragma GCC unroll 4
    for (int i = 0; i < kAtOnce; ++i) move_whole();
  }
  for (; at <= last; at += elements) move_whole();
  // The last window is moved back until it fits.
  const std::int64_t last_first = line.count - elements;
  for (; at < line.count; at += elements) {
    const std::int64_t first = at < last_first ? at : last_first;
    move_exactly<kBytes>(in + first * line.in_step, out + first * window.element_bytes, window,
                         permuted, first <= line.last_readable);
  }
}

[[maybe_unused]] void move_windows(const std::byte* in, std::byte* out, const Window& window,
                                   const WindowLine& line) {
  if constexpr (kVectorBytes > 32) {
    if (window.vector_bytes > 32) return move_windows_of<64>(in, out, window, line);
  }
  if constexpr (kVectorBytes > 16) {
    if (window.vector_bytes > 16) return move_windows_of<32>(in, out, window, line);
  }
  move_windows_of<kLaneBytes>(in, out, window, line);
}

}  // namespace
}  // namespace ttlg::cpu
