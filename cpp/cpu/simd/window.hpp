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

// Up to a lane: so that the compiler leaves out what moves longer runs.
inline void move_part(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > kLaneBytes) __builtin_unreachable();
  move_run(to, from, bytes);
}

// Reads no more than the window, unless a vector may be read, and stores no more.
inline void move_exactly(const std::byte* in, std::byte* out, const Window& window,
                         bool is_readable) {
  alignas(kLaneBytes) std::byte bytes[kLaneBytes] = {};
  Bytes<kLaneBytes> vector;
  if (is_readable) {
    vector = load<Bytes<kLaneBytes>>(in + window.load);
  } else {
    move_part(bytes + (window.begin - window.load), in + window.begin, window.in_bytes);
    vector = load<Bytes<kLaneBytes>>(bytes);
  }
  store(bytes, shuffle_bytes<kLaneBytes>(vector, window.bytes.data()));
  move_part(out, bytes, window.out_bytes);
}

[[maybe_unused]] void move_windows(const std::byte* in, std::byte* out, const Window& window,
                                   const WindowLine& line) {
  // Copies: what is stored could change the window's own, for all that the compiler knows.
  alignas(kLaneBytes) const ByteIndices bytes = window.bytes;
  const std::int64_t elements = window.elements;
  const std::int64_t in_step = elements * line.in_step;
  const std::int64_t out_step = window.out_bytes;
  const std::byte* from = in + window.load;
  std::byte* to = out;
  const auto move_whole = [&] {
    store(to, shuffle_bytes<kLaneBytes>(load<Bytes<kLaneBytes>>(from), bytes.data()));
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
    move_exactly(in + first * line.in_step, out + first * window.element_bytes, window,
                 first <= line.last_readable);
  }
}

}  // namespace
}  // namespace ttlg::cpu
