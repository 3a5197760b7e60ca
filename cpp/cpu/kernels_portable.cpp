// Kernels on 16-byte vectors, in the vector extensions that GCC and Clang share: SSE2 on x86-64,
// NEON on AArch64, scalar code elsewhere, from one source.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cpu/kernels.hpp"
#include "plan/plan.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kVectorBytes = 16;

template <typename T>
struct Vector {
  using Type __attribute__((vector_size(kVectorBytes))) = T;
  static constexpr int kLanes = kVectorBytes / sizeof(T);
};

template <typename V>
V load(const std::byte* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

template <typename V>
void store(std::byte* to, const V& value) {
  std::memcpy(to, &value, sizeof(V));
}

template <typename V, int kLanes, int... kI>
V interleave_low(V x, V y, std::integer_sequence<int, kI...>) {
  return __builtin_shufflevector(x, y, (kI / 2 + (kI % 2) * kLanes)...);
}

template <typename V, int kLanes, int... kI>
V interleave_high(V x, V y, std::integer_sequence<int, kI...>) {
  return __builtin_shufflevector(x, y, (kLanes / 2 + kI / 2 + (kI % 2) * kLanes)...);
}

// Transposes kLanes vectors of kLanes lanes. One round interleaves vector i with vector i + n/2 and
// moves one bit of the register index into the lane index; log2(n) rounds exchange the two
// (requirement G-07, in the form that needs only unpack instructions).
template <typename T>
void transpose_lanes(typename Vector<T>::Type (&rows)[Vector<T>::kLanes]) {
  using V = typename Vector<T>::Type;
  constexpr int kLanes = Vector<T>::kLanes;
  constexpr auto kIndices = std::make_integer_sequence<int, kLanes>{};
  for (int round = 1; round < kLanes; round *= 2) {
    V next[kLanes];
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = interleave_low<V, kLanes>(rows[i], rows[i + kLanes / 2], kIndices);
      next[2 * i + 1] = interleave_high<V, kLanes>(rows[i], rows[i + kLanes / 2], kIndices);
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

// Requests the lines of one source row of the next block.
void prefetch_row(const std::byte* row, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(row + i);
  if (bytes > kLineBytes / 4) __builtin_prefetch(row + bytes - 1);
}

// Short runs as two overlapping moves of a fixed size: a call to memcpy would cost more than the
// run.
template <typename T>
void move_ends(std::byte* to, const std::byte* from, std::int64_t bytes) {
  T first;
  T last;
  const std::int64_t tail = bytes - static_cast<std::int64_t>(sizeof(T));
  std::memcpy(&first, from, sizeof(T));
  std::memcpy(&last, from + tail, sizeof(T));
  std::memcpy(to, &first, sizeof(T));
  std::memcpy(to + tail, &last, sizeof(T));
}

void move_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 128) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (bytes > 16) {
    std::int64_t i = 0;
    for (; i + 16 < bytes; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    move_ends<std::uint64_t>(to, from, bytes);
  } else if (bytes >= 4) {
    move_ends<std::uint32_t>(to, from, bytes);
  } else if (bytes >= 2) {
    move_ends<std::uint16_t>(to, from, bytes);
  } else if (bytes == 1) {
    *to = *from;
  }
}

struct Bytes16 {
  std::byte bytes[16];
};

// Requests the next block's lines before this one is moved element by element: each once, however
// many elements lie in it.
void prefetch_block(const Block& block) {
  if (block.next == nullptr) return;
  const bool in_is_inner = std::abs(block.in_step_in) <= std::abs(block.in_step_out);
  const std::int64_t step = in_is_inner ? block.in_step_in : block.in_step_out;
  const std::int64_t extent = in_is_inner ? block.in_extent : block.out_extent;
  const std::int64_t outer_step = in_is_inner ? block.in_step_out : block.in_step_in;
  const std::int64_t outer_extent = in_is_inner ? block.out_extent : block.in_extent;
  const auto per_line = [](std::int64_t byte_step) {
    return std::max<std::int64_t>(kLineBytes / std::max<std::int64_t>(std::abs(byte_step), 1), 1);
  };
  for (std::int64_t i = 0; i < outer_extent; i += per_line(outer_step)) {
    for (std::int64_t j = 0; j < extent; j += per_line(step)) {
      prefetch_row(block.next + i * outer_step + j * step, block.element_bytes);
    }
  }
}

// Moves every element with `move`. The longer mode is the inner loop, so that three channels cost
// three long loops and not a loop of three per pixel.
template <typename Move>
void move_elements(const std::byte* in, std::byte* out, const Block& block, const Move& move) {
  const bool out_is_inner = block.out_extent >= block.in_extent;
  const std::int64_t count = out_is_inner ? block.out_extent : block.in_extent;
  const std::int64_t lines = out_is_inner ? block.in_extent : block.out_extent;
  const std::int64_t from_step = out_is_inner ? block.in_step_out : block.in_step_in;
  const std::int64_t to_step = out_is_inner ? block.out_step_out : block.out_step_in;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::byte* from = in + line * (out_is_inner ? block.in_step_in : block.in_step_out);
    std::byte* to = out + line * (out_is_inner ? block.out_step_in : block.out_step_out);
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < count; ++i) move(to + i * to_step, from + i * from_step);
  }
}

template <typename T>
void run(const std::byte* in, std::byte* out, const Block& block) {
  prefetch_block(block);
  move_elements(in, out, block,
                [](std::byte* to, const std::byte* from) { std::memcpy(to, from, sizeof(T)); });
}

void run_any(const std::byte* in, std::byte* out, const Block& block) {
  const std::int64_t bytes = block.element_bytes;
  if (block.next == nullptr || bytes < kLineBytes) {
    prefetch_block(block);
    move_elements(in, out, block,
                  [bytes](std::byte* to, const std::byte* from) { move_run(to, from, bytes); });
    return;
  }
  // A block of runs has too many lines to request them all at once: one run's for each one moved.
  const std::ptrdiff_t ahead = block.next - in;
  move_elements(in, out, block, [bytes, ahead](std::byte* to, const std::byte* from) {
    prefetch_row(from + ahead, bytes);
    move_run(to, from, bytes);
  });
}

template <typename T>
void tile(const std::byte* in, std::byte* out, const Block& block) {
  using V = typename Vector<T>::Type;
  constexpr std::int64_t kLanes = Vector<T>::kLanes;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t in_main = block.in_extent / kLanes * kLanes;
  const std::int64_t out_main = block.out_extent / kLanes * kLanes;
  if (in_main == 0 || out_main == 0) return run<T>(in, out, block);
  // kLanes source rows are swept along the in mode, so that the hardware prefetcher sees few,
  // sequential streams; the scattered side is the output block, which stays in L1.
  for (std::int64_t j = 0; j < out_main; j += kLanes) {
    const std::byte* from = in + j * block.in_step_out;
    std::byte* to = out + j * kSize;
    if (block.next != nullptr) {
      for (std::int64_t k = 0; k < kLanes; ++k) {
        prefetch_row(block.next + (j + k) * block.in_step_out, block.in_extent * kSize);
      }
    }
    for (std::int64_t i = 0; i < in_main; i += kLanes) {
      V rows[kLanes];
      for (std::int64_t k = 0; k < kLanes; ++k) {
        rows[k] = load<V>(from + i * kSize + k * block.in_step_out);
      }
      transpose_lanes<T>(rows);
      for (std::int64_t k = 0; k < kLanes; ++k) store(to + (i + k) * block.out_step_in, rows[k]);
    }
  }
  Block edge = block;
  edge.next = nullptr;
  edge.in_extent = block.in_extent - in_main;
  edge.out_extent = out_main;
  run<T>(in + in_main * kSize, out + in_main * block.out_step_in, edge);
  edge.in_extent = block.in_extent;
  edge.out_extent = block.out_extent - out_main;
  run<T>(in + out_main * block.in_step_out, out + out_main * kSize, edge);
}

void copy(std::byte* out, const std::byte* in, std::int64_t bytes) {
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

#if defined(__SSE2__)
// Only whole lines bypass the caches: a partial line written around them would cost a read and a
// write of the full line in memory.
void stream(std::byte* out, const std::byte* in, std::int64_t bytes) {
  const auto misaligned =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
  std::int64_t head = (kLineBytes - misaligned) % kLineBytes;
  if (head > bytes) head = bytes;
  move_run(out, in, head);
  std::int64_t i = head;
  for (; i + kLineBytes <= bytes; i += kLineBytes) {
    const auto* from = reinterpret_cast<const __m128i*>(in + i);
    auto* to = reinterpret_cast<__m128i*>(out + i);
    const __m128i a = _mm_loadu_si128(from);
    const __m128i b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2);
    const __m128i d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  move_run(out + i, in + i, bytes - i);
}

void fence() { _mm_sfence(); }
#else
void stream(std::byte* out, const std::byte* in, std::int64_t bytes) { copy(out, in, bytes); }

void fence() {}
#endif

}  // namespace

const Kernels kPortableKernels{
    .name = "portable (16-byte vectors)",
    .tile = {tile<std::uint8_t>, tile<std::uint16_t>, tile<std::uint32_t>, tile<std::uint64_t>,
             run<Bytes16>},
    .run = {run<std::uint8_t>, run<std::uint16_t>, run<std::uint32_t>, run<std::uint64_t>,
            run<Bytes16>, run_any},
    .copy = copy,
    .stream = stream,
    .fence = fence,
};

const Kernels& kernels() { return kPortableKernels; }

}  // namespace ttlg::cpu
