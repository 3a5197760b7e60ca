// Moves of elements, and of runs of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Moves kCount whole Ts and one more that ends with the run: kCount * sizeof(T) bytes or more, and
// up to a T more than that.
template <typename T, int kCount>
[[gnu::always_inline]] inline void move_pieces(std::byte* to, const std::byte* from,
                                               std::int64_t bytes) {
  const std::int64_t tail = bytes - static_cast<std::int64_t>(sizeof(T));
  T pieces[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(&pieces[i], from + i * int{sizeof(T)}, sizeof(T));
  T last;
  std::memcpy(&last, from + tail, sizeof(T));
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(to + i * int{sizeof(T)}, &pieces[i], sizeof(T));
  std::memcpy(to + tail, &last, sizeof(T));
}

// Calls use(move) with what moves runs of so many bytes: move(to, from). Up to 16 vectors, a call
// to memcpy would cost more than the run.
template <typename Use>
[[gnu::always_inline]] inline void with_move_of(std::int64_t bytes, const Use& use) {
  using V = Bytes<kVectorBytes>;
  const auto pieces = [&]<typename T, int kCount>(T, std::integral_constant<int, kCount>) {
    use([bytes](std::byte* to, const std::byte* from) { move_pieces<T, kCount>(to, from, bytes); });
  };
  constexpr std::integral_constant<int, 1> kOne;
  if (bytes == 1) {
    use([](std::byte* to, const std::byte* from) { *to = *from; });
  } else if (bytes <= 4) {
    pieces(std::uint16_t{}, kOne);
  } else if (bytes <= 8) {
    pieces(std::uint32_t{}, kOne);
  } else if (bytes <= 16) {
    pieces(std::uint64_t{}, kOne);
  } else if (bytes <= 32) {
    pieces(Bytes<16>{}, kOne);
  } else if (kVectorBytes == 64 && bytes <= 64) {
    pieces(Bytes<32>{}, kOne);
  } else if (bytes <= 2 * kVectorBytes) {
    pieces(V{}, kOne);
  } else if (bytes <= 3 * kVectorBytes) {
    pieces(V{}, std::integral_constant<int, 2>{});
  } else if (bytes <= 4 * kVectorBytes) {
    pieces(V{}, std::integral_constant<int, 3>{});
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

// Calls sweep(line, begin, end) for all lines of every few elements: of so many that their source
// lines stay in L1 for the next line, even where they share a few of its sets, and that background
// work comes after every 8 lines of memory.
template <typename Sweep>
[[gnu::always_inline]] inline void for_sweeps(std::int64_t lines, std::int64_t count,
                                              std::int64_t element_bytes, const Sweep& sweep) {
  const std::int64_t few = 8 * kLineBytes / element_bytes + 1;
  const std::int64_t step = few < 32 ? few : 32;
  for (std::int64_t begin = 0; begin < count; begin += step) {
    const std::int64_t end = begin + step < count ? begin + step : count;
    for (std::int64_t line = 0; line < lines; ++line) sweep(line, begin, end);
  }
}

// Moves every element with `move`. The longer axis is the inner loop, so that three channels cost
// three long loops and not a loop of three per pixel. done(n) is called after about n lines.
template <typename Move, typename Done>
[[gnu::always_inline]] inline void move_elements(const std::byte* in, std::byte* out,
                                                 const Cells& cells, const Move& move,
                                                 const Done& done) {
  const bool along_out = cells.out_count >= cells.in_count;
  const std::int64_t lines = along_out ? cells.in_count : cells.out_count;
  const std::int64_t count = along_out ? cells.out_count : cells.in_count;
  const std::int64_t* in_line = along_out ? cells.in_by_in : cells.in_by_out;
  const std::int64_t* out_line = along_out ? cells.out_by_in : cells.out_by_out;
  const std::int64_t* in_each = along_out ? cells.in_by_out : cells.in_by_in;
  const std::int64_t* out_each = along_out ? cells.out_by_out : cells.out_by_in;
  for_sweeps(lines, count, cells.element_bytes,
             [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
               const std::byte* from = in + in_line[line];
               std::byte* to = out + out_line[line];
#pragma GCC unroll 4
               for (std::int64_t i = begin; i < end; ++i) move(to + out_each[i], from + in_each[i]);
               done(ceil_div((end - begin) * cells.element_bytes, kLineBytes));
             });
}

// Whether elements that follow one another along the out axis do so in the output.
inline bool writes_forward(const Cells& cells) {
  for (std::int64_t i = 1; i < cells.out_count; ++i) {
    if (cells.out_by_out[i] - cells.out_by_out[i - 1] != cells.element_bytes) return false;
  }
  return true;
}

// Moves elements of half a W or more as whole Ws: what one writes too much, the next one
// overwrites. The last element of a line has no next one, and in the line that lies last in the
// input too much might be read: these are moved exactly.
template <typename W, typename Half, typename Done>
inline void move_forward(const std::byte* in, std::byte* out, const Cells& cells,
                         const Done& done) {
  const std::int64_t bytes = cells.element_bytes;
  const std::int64_t last = cells.out_count - 1;
  std::int64_t last_line = 0;
  for (std::int64_t line = 1; line < cells.in_count; ++line) {
    if (cells.in_by_in[line] > last_line) last_line = cells.in_by_in[line];
  }
  const std::int64_t safe = last_line + bytes - static_cast<std::int64_t>(sizeof(W));
  const std::int64_t* in_each = cells.in_by_out;
  out += cells.out_by_out[0];
  for_sweeps(cells.in_count, last, bytes,
             [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
               const std::byte* from = in + cells.in_by_in[line];
               std::byte* to = out + cells.out_by_in[line] + begin * bytes;
               if (cells.in_by_in[line] <= safe) {
#pragma GCC unroll 4
                 for (std::int64_t i = begin; i < end; ++i, to += bytes) {
                   std::memcpy(to, from + in_each[i], sizeof(W));
                 }
               } else {
                 for (std::int64_t i = begin; i < end; ++i, to += bytes) {
                   move_pieces<Half, 1>(to, from + in_each[i], bytes);
                 }
               }
               done(ceil_div((end - begin) * bytes, kLineBytes));
             });
  for (std::int64_t line = 0; line < cells.in_count; ++line) {
    move_pieces<Half, 1>(out + cells.out_by_in[line] + last * bytes,
                         in + cells.in_by_in[line] + in_each[last], bytes);
  }
}

template <typename Done>
inline void move_any_elements(const std::byte* in, std::byte* out, const Cells& cells,
                              const Done& done) {
  const std::int64_t bytes = cells.element_bytes;
  constexpr std::int64_t kMostForward = kVectorBytes < 32 ? 16 : 32;
  constexpr std::int64_t kLongLine = 16;
  if (bytes > 2 && bytes <= kMostForward && writes_forward(cells) &&
      (cells.out_count >= cells.in_count || cells.out_count >= kLongLine)) {
    if (bytes <= 4) {
      move_forward<std::uint32_t, std::uint16_t>(in, out, cells, done);
    } else if (bytes <= 8) {
      move_forward<std::uint64_t, std::uint32_t>(in, out, cells, done);
    } else if (bytes <= 16) {
      move_forward<Bytes<16>, std::uint64_t>(in, out, cells, done);
    } else if constexpr (kMostForward == 32) {
      move_forward<Bytes<32>, Bytes<16>>(in, out, cells, done);
    }
    return;
  }
  with_move_of(bytes, [&](const auto& move) { move_elements(in, out, cells, move, done); });
}

}  // namespace
}  // namespace ttlg::cpu
