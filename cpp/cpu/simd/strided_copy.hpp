// The strided copy: moves elements of any width, one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/vectors.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Calls sweep(line, begin, end) for all lines of elements: of few at a time if the pipeline must
// advance after every 8 lines of memory, or if the next line may read other parts of the same
// source lines, which then stay in L1 for it, even where they share a few of its sets.
template <typename Sweep>
[[gnu::always_inline]] inline void for_sweeps(std::int64_t lines, std::int64_t count,
                                              std::int64_t element_bytes, bool may_share,
                                              const Advance& done, const Sweep& sweep) {
  const std::int64_t eight_lines = 8 * kLineBytes / element_bytes + 1;
  const std::int64_t few = done.is_needed || may_share ? eight_lines : count;
  const auto sweep_part = [&](std::int64_t line, std::int64_t begin, std::int64_t step) {
    const std::int64_t end = begin + step < count ? begin + step : count;
    sweep(line, begin, end);
    done(ceil_div((end - begin) * element_bytes, kLineBytes));
  };
  if (may_share) {
    const std::int64_t step = few < 32 ? few : 32;
    for (std::int64_t begin = 0; begin < count; begin += step) {
      for (std::int64_t line = 0; line < lines; ++line) sweep_part(line, begin, step);
    }
  } else {
    for (std::int64_t line = 0; line < lines; ++line) {
      for (std::int64_t begin = 0; begin < count; begin += few) sweep_part(line, begin, few);
    }
  }
}

// Of four elements at a time. Where steps are not constants, the compiler would put vectors
// together element by element, which takes longer than to move each: the values are kept from it.
template <typename T>
inline void move_one_by_one(const std::byte* from, std::int64_t in_step, std::byte* to,
                            std::int64_t out_step, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
    constexpr int kAtOnce = 4;
    for (; i + kAtOnce <= count; i += kAtOnce) {
      T values[kAtOnce];
      for (int k = 0; k < kAtOnce; ++k) {
        std::memcpy(&values[k], from + (i + k) * in_step, sizeof(T));
        asm("" : "+r"(values[k]));
      }
      for (int k = 0; k < kAtOnce; ++k) {
        std::memcpy(to + (i + k) * out_step, &values[k], sizeof(T));
      }
    }
  }
  for (; i < count; ++i) std::memcpy(to + i * out_step, from + i * in_step, sizeof(T));
}

// Elements of 4 or 8 bytes, to a run: stored a vector at a time.
template <typename T>
inline void move_to_vectors(const std::byte* from, std::int64_t in_step, std::byte* to,
                            std::int64_t count) {
  using V = VectorOf<T, 16>;
  constexpr std::int64_t kBytes = sizeof(T);
  const auto at = [&](std::int64_t i) { return load<T>(from + i * in_step); };
  std::int64_t i = 0;
  if constexpr (kBytes == 8) {
    for (; i + 2 <= count; i += 2) store(to + i * kBytes, V{at(i), at(i + 1)});
  } else {
    for (; i + 4 <= count; i += 4) {
      store(to + i * kBytes, V{at(i), at(i + 1), at(i + 2), at(i + 3)});
    }
  }
  for (; i < count; ++i) store(to + i * kBytes, at(i));
}

// Moves elements from places at equal steps to others, without tables. The compiler vectorizes the
// loops whose steps are constants, those that moves_vectors names.
template <typename T>
inline void move_evenly(const std::byte* __restrict from, std::int64_t in_step,
                        std::byte* __restrict to, std::int64_t out_step, std::int64_t count) {
  constexpr std::int64_t kBytes = sizeof(T);
  const auto move_to_run = [&](auto step) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * kBytes, from + i * step, sizeof(T));
    }
  };
  if (out_step != kBytes) {
    move_one_by_one<T>(from, in_step, to, out_step, count);
  } else if (in_step == 0) {
    move_to_run(std::integral_constant<std::int64_t, 0>{});
  } else if (in_step == -kBytes) {
    move_to_run(std::integral_constant<std::int64_t, -kBytes>{});
  } else if (kBytes < 8 && in_step == 2 * kBytes) {
    move_to_run(std::integral_constant<std::int64_t, 2 * kBytes>{});
  } else if constexpr (kBytes == 4 || kBytes == 8) {
    move_to_vectors<T>(from, in_step, to, count);
  } else {
    move_one_by_one<T>(from, in_step, to, kBytes, count);
  }
}

// Whether the out axis of a block is the inner loop: the longer axis is, so that three channels
// cost three long loops and not a loop of three per pixel, but where a shorter one moves in
// vectors.
template <typename T>
inline bool moves_along_out(const BlockArguments& block) {
  constexpr std::int64_t kFewVectors = 64 / sizeof(T);
  if (block.out_count >= block.in_count) return true;
  return block.out_is_even && block.out_count >= kFewVectors &&
         moves_vectors(sizeof(T), block.in_by_out[1] - block.in_by_out[0],
                       block.out_by_out[1] - block.out_by_out[0]);
}
template <>
inline bool moves_along_out<void>(const BlockArguments& block) {
  return block.out_count >= block.in_count;
}

// Moves every element with `move`, or by move_evenly where T is their type and not void.
template <typename T, typename Move>
[[gnu::always_inline]] inline void move_elements(const std::byte* in, std::byte* out,
                                                 const BlockArguments& block, const Move& move,
                                                 const Advance& done) {
  const bool along_out = moves_along_out<T>(block);
  const std::int64_t lines = along_out ? block.in_count : block.out_count;
  const std::int64_t count = along_out ? block.out_count : block.in_count;
  const std::int64_t* in_line = along_out ? block.in_by_in : block.in_by_out;
  const std::int64_t* out_line = along_out ? block.out_by_in : block.out_by_out;
  const std::int64_t* in_each = along_out ? block.in_by_out : block.in_by_in;
  const std::int64_t* out_each = along_out ? block.out_by_out : block.out_by_in;
  if constexpr (!std::is_void_v<T>) {
    if (count > 1 && (along_out ? block.out_is_even : block.in_is_even)) {
      const std::int64_t in_step = in_each[1] - in_each[0];
      const std::int64_t out_step = out_each[1] - out_each[0];
      const bool may_share = lines > 1 && !moves_vectors(sizeof(T), in_step, out_step);
      for_sweeps(lines, count, block.element_bytes, may_share, done,
                 [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
                   move_evenly<T>(in + in_line[line] + in_each[begin], in_step,
                                  out + out_line[line] + out_each[begin], out_step, end - begin);
                 });
      return;
    }
  }
  for_sweeps(lines, count, block.element_bytes, lines > 1, done,
             [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
               const std::byte* from = in + in_line[line];
               std::byte* to = out + out_line[line];
#pragma GCC unroll 4
               for (std::int64_t i = begin; i < end; ++i) move(to + out_each[i], from + in_each[i]);
             });
}

template <typename T>
[[gnu::always_inline]] inline void move_whole(const std::byte* in, std::byte* out,
                                              const BlockArguments& block, const Advance& done) {
  move_elements<T>(
      in, out, block,
      [](std::byte* to, const std::byte* from) { std::memcpy(to, from, sizeof(T)); }, done);
}

// Whether elements that follow one another along the out axis do so in the output.
inline bool writes_forward(const BlockArguments& block) {
  for (std::int64_t i = 1; i < block.out_count; ++i) {
    if (block.out_by_out[i] - block.out_by_out[i - 1] != block.element_bytes) return false;
  }
  return true;
}

// Moves elements of half a W or more as whole Ws: what one writes too much, the next one
// overwrites. The last element of a line has no next one, and in the line that lies last in the
// input too much might be read: these are moved exactly.
template <typename W, typename Half>
inline void move_forward(const std::byte* in, std::byte* out, const BlockArguments& block,
                         const Advance& done) {
  const std::int64_t bytes = block.element_bytes;
  const std::int64_t last = block.out_count - 1;
  std::int64_t last_line = 0;
  for (std::int64_t line = 1; line < block.in_count; ++line) {
    if (block.in_by_in[line] > last_line) last_line = block.in_by_in[line];
  }
  const std::int64_t safe = last_line + bytes - static_cast<std::int64_t>(sizeof(W));
  const std::int64_t* in_each = block.in_by_out;
  out += block.out_by_out[0];
  for_sweeps(block.in_count, last, bytes, block.in_count > 1, done,
             [&](std::int64_t line, std::int64_t begin, std::int64_t end) {
               const std::byte* from = in + block.in_by_in[line];
               std::byte* to = out + block.out_by_in[line] + begin * bytes;
               if (block.in_by_in[line] <= safe) {
#pragma GCC unroll 4
                 for (std::int64_t i = begin; i < end; ++i, to += bytes) {
                   std::memcpy(to, from + in_each[i], sizeof(W));
                 }
               } else {
                 for (std::int64_t i = begin; i < end; ++i, to += bytes) {
                   move_words<Half, 1>(to, from + in_each[i], bytes);
                 }
               }
             });
  for (std::int64_t line = 0; line < block.in_count; ++line) {
    move_words<Half, 1>(out + block.out_by_in[line] + last * bytes,
                        in + block.in_by_in[line] + in_each[last], bytes);
  }
}

inline void move_any_elements(const std::byte* in, std::byte* out, const BlockArguments& block,
                              const Advance& done) {
  const std::int64_t bytes = block.element_bytes;
  if (block.out_is_even) {
    if (bytes == 1) return move_whole<std::uint8_t>(in, out, block, done);
    if (bytes == 2) return move_whole<std::uint16_t>(in, out, block, done);
    if (bytes == 4) return move_whole<std::uint32_t>(in, out, block, done);
    if (bytes == 8) return move_whole<std::uint64_t>(in, out, block, done);
    if (bytes == 16) return move_whole<Bytes<16>>(in, out, block, done);
  }
  constexpr std::int64_t kMaxForward = kVectorBytes < 32 ? 16 : 32;
  constexpr std::int64_t kLongLine = 16;
  if (bytes > 2 && bytes <= kMaxForward && writes_forward(block) &&
      (block.out_count >= block.in_count || block.out_count >= kLongLine)) {
    if (bytes <= 4) {
      move_forward<std::uint32_t, std::uint16_t>(in, out, block, done);
    } else if (bytes <= 8) {
      move_forward<std::uint64_t, std::uint32_t>(in, out, block, done);
    } else if (bytes <= 16) {
      move_forward<Bytes<16>, std::uint64_t>(in, out, block, done);
    } else if constexpr (kMaxForward == 32) {
      move_forward<Bytes<32>, Bytes<16>>(in, out, block, done);
    }
    return;
  }
  with_move_of(bytes, [&](const auto& move) { move_elements<void>(in, out, block, move, done); });
}

template <typename T>
void strided_copy(const std::byte* in, std::byte* out, const BlockArguments& block) {
  move_whole<T>(in, out, block, advance_if_busy(block));
}

void strided_copy_any(const std::byte* in, std::byte* out, const BlockArguments& block) {
  move_any_elements(in, out, block, advance_if_busy(block));
}

}  // namespace
}  // namespace ttlg::cpu
