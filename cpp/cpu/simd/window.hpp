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

// Permutes what a window reads, and writes it: by bytes in lanes, by words in longer vectors.
// Copied from the window, which what is stored could change, for all that the compiler knows.
template <int kBytes, int kVectors>
struct Permutation {
  static constexpr bool kIsOfBytes = kBytes == kLaneBytes;

  explicit Permutation(const Window& window) {
    for (int i = 0; i < kVectors; ++i) {
      const void* from = window.bytes[static_cast<std::size_t>(i)].data();
      if constexpr (!kIsOfBytes) from = window.words[static_cast<std::size_t>(i)].data();
      indices[i] = load<Bytes<kBytes>>(static_cast<const std::byte*>(from));
    }
  }

  [[gnu::always_inline]] void write(std::byte* to, Bytes<kBytes> value) const {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      if constexpr (kIsOfBytes) {
        store(to + i * kBytes,
              shuffle_bytes<kBytes>(value, reinterpret_cast<const std::uint8_t*>(indices + i)));
      } else {
        store(to + i * kBytes,
              permute_words<kBytes>(value,
                                    reinterpret_cast<VectorOf<std::uint32_t, kBytes>>(indices[i])));
      }
    }
  }

  Bytes<kBytes> indices[kVectors];
};

// Up to a vector: so that the compiler leaves out what moves longer runs.
template <int kBytes>
inline void move_part(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > kBytes) __builtin_unreachable();
  move_run(to, from, bytes);
}

// Reads no more than the window, unless a vector may be read, and stores no more.
template <int kBytes, int kVectors>
inline void move_exactly(const std::byte* in, std::byte* out, const Window& window,
                         const Permutation<kBytes, kVectors>& permutation, bool is_readable) {
  alignas(kBytes) std::byte bytes[kVectors * kBytes] = {};
  Bytes<kBytes> vector;
  if (is_readable) {
    vector = load<Bytes<kBytes>>(in + window.load);
  } else {
    move_part<kBytes>(bytes + (window.begin - window.load), in + window.begin, window.in_bytes);
    vector = load<Bytes<kBytes>>(bytes);
  }
  permutation.write(bytes, vector);
  move_part<kVectors * kBytes>(out, bytes, window.out_bytes);
}

template <int kBytes, int kVectors>
void move_windows_of(const std::byte* in, std::byte* out, const Window& window,
                     const WindowLine& line) {
  const Permutation<kBytes, kVectors> permutation(window);
  const std::int64_t elements = window.elements;
  const std::int64_t in_step = elements * line.in_step;
  const std::int64_t out_step = window.out_bytes;
  const std::byte* from = in + window.load;
  std::byte* to = out;
  const auto move_whole = [&] {
    permutation.write(to, load<Bytes<kBytes>>(from));
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
    move_exactly(in + first * line.in_step, out + first * window.element_bytes, window, permutation,
                 first <= line.last_readable);
  }
}

template <int kBytes>
void move_windows_in(const std::byte* in, std::byte* out, const Window& window,
                     const WindowLine& line) {
  switch (window.vectors) {
    case 1:
      return move_windows_of<kBytes, 1>(in, out, window, line);
    case 2:
      return move_windows_of<kBytes, 2>(in, out, window, line);
    case 3:
      return move_windows_of<kBytes, 3>(in, out, window, line);
    default:
      return move_windows_of<kBytes, kMaxWindowVectors>(in, out, window, line);
  }
}

[[maybe_unused]] void move_windows(const std::byte* in, std::byte* out, const Window& window,
                                   const WindowLine& line) {
  if constexpr (kVectorBytes > 32) {
    if (window.vector_bytes > 32) return move_windows_in<64>(in, out, window, line);
  }
  if constexpr (kVectorBytes > 16) {
    if (window.vector_bytes > 16) return move_windows_in<32>(in, out, window, line);
  }
  move_windows_in<kLaneBytes>(in, out, window, line);
}

}  // namespace
}  // namespace ttlg::cpu
