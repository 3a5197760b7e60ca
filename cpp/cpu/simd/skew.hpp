// The skew kernel: moves column j of a band up by j rows, in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cpu/kernels.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Lane j of `x` where bit kBit of j is set, else of `y`. Lanes are kSize bytes wide.
template <int kSize, int kBytes, int kBit, int... kI>
[[gnu::always_inline]] inline Bytes<kBytes> blend(Bytes<kBytes> x, Bytes<kBytes> y,
                                                  std::integer_sequence<int, kI...>) {
  constexpr int kWord = kBytes / static_cast<int>(sizeof...(kI));
  using W = std::conditional_t<
      kWord == 1, std::uint8_t,
      std::conditional_t<kWord == 2, std::uint16_t,
                         std::conditional_t<kWord == 4, std::uint32_t, std::uint64_t>>>;
  using V = VectorOf<W, kBytes>;
  constexpr int kAll = sizeof...(kI);
  return reinterpret_cast<Bytes<kBytes>>(
      __builtin_shufflevector(reinterpret_cast<V>(x), reinterpret_cast<V>(y),
                              ((kI * kWord / kSize >> kBit) % 2 != 0 ? kI : kAll + kI)...));
}

// Rows come in one after another, and lane j of what goes out is that of the row that came in
// kColumns - 1 - j rows before. As in a barrel shifter, stage s delays the lanes whose number lacks
// bit s by 2^s rows.
template <int kSize, int kBytes>
class Delays {
 public:
  static constexpr int kColumns = kBytes / kSize;

  // `row` modulo kColumns, known to the compiler where loops are unrolled.
  [[gnu::always_inline]] inline Bytes<kBytes> next(Bytes<kBytes> value, int row) {
    return delay<0>(value, row);
  }

 private:
  template <int kBit>
  [[gnu::always_inline]] inline Bytes<kBytes> delay(Bytes<kBytes> value, int row) {
    constexpr int kRows = 1 << kBit;
    if constexpr (kRows == kColumns) {
      return value;
    } else {
      constexpr auto kWords = std::make_integer_sequence<int, kBytes / (kSize < 8 ? kSize : 8)>{};
      Bytes<kBytes>& waiting = waiting_[kRows + row % kRows];
      const Bytes<kBytes> both = blend<kSize, kBytes, kBit>(value, waiting, kWords);
      waiting = value;
      return delay<kBit + 1>(both, row);
    }
  }

  Bytes<kBytes> waiting_[kColumns];
};

// As many rows as columns at a time.
template <int kSize, int kBytes>
inline void skew_vectors(const std::byte* in, std::byte* out, const SkewArguments& band,
                         std::int64_t first, std::int64_t rows) {
  constexpr int kColumns = kBytes / kSize;
  constexpr std::int64_t kLines = ceil_div(kColumns * kBytes, kLineBytes);
  using V = Bytes<kBytes>;
  Delays<kSize, kBytes> delays;
  PrefetchQueue prefetches = *band.prefetches;
#pragma GCC unroll 16
  for (int k = 0; k < kColumns - 1; ++k) delays.next(load<V>(in + band.in_rows[first + k]), k);
  for (std::int64_t row = first; row < first + rows; row += kColumns) {
    const std::int64_t* const from = band.in_rows + row + kColumns - 1;
    std::byte* const to = out + row * band.out_step;
#pragma GCC unroll 16
    for (int k = 0; k < kColumns; ++k) {
      store(to + k * band.out_step, delays.next(load<V>(in + from[k]), kColumns - 1 + k));
    }
    prefetch(prefetches, kLines);
  }
  *band.prefetches = prefetches;
}

// Vectors of so few columns that the rows between stages stay in registers.
template <int kSize>
constexpr int kSkewBytes = [] {
  const int bytes = (kVectorBytes == 64 ? 16 : 8) * kSize;
  return bytes < 16 ? 16 : bytes < kVectorBytes ? bytes : kVectorBytes;
}();

void skew_any(const std::byte* in, std::byte* out, const SkewArguments& band) {
  with_move_of(band.element_bytes, [&](const auto& move) {
    for (std::int64_t row = 0; row < band.rows; ++row) {
      for (std::int64_t j = 0; j < band.columns; ++j) {
        move(out + row * band.out_step + j * band.element_bytes,
             in + band.in_rows[row + j] + j * band.element_bytes);
      }
      prefetch(*band.prefetches, 1 + band.columns * band.element_bytes / kLineBytes);
    }
  });
}

// The last rows are moved once more with those before them where they are fewer than columns.
template <int kSize>
void skew(const std::byte* in, std::byte* out, const SkewArguments& band) {
  constexpr int kBytes = kSkewBytes<kSize>;
  constexpr int kColumns = kBytes / kSize;
  if (band.rows < kColumns || band.columns != kColumns) return skew_any(in, out, band);
  const std::int64_t even = band.rows / kColumns * kColumns;
  skew_vectors<kSize, kBytes>(in, out, band, 0, even);
  if (even < band.rows) {
    skew_vectors<kSize, kBytes>(in, out, band, band.rows - kColumns, kColumns);
  }
}

}  // namespace
}  // namespace ttlg::cpu
