// Rows of the output that begin anywhere in their lines, around the caches and without a staging
// buffer: a vector of each row is joined with the one before it, so that whole lines leave the
// registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/stream.hpp"
#include "cpu/simd/tile.hpp"
#include "cpu/simd/vectors.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

#if defined(__AVX512BW__)

// Cuts a line out of two vectors that follow one another. Bytes, which AVX-512BW cannot permute
// across two vectors, are cut out of two such lines of 32-bit words, one word apart.
template <typename T>
class LineCut {
 public:
  // The line begins `bytes` before the second vector, 0 to 64 of them.
  void begin(std::int64_t bytes) {
    constexpr int kUnits = 64 / int{sizeof(Unit)};
    const std::int64_t first = 64 - bytes;
    VectorOf<Unit, 64> index;
    for (int i = 0; i < kUnits; ++i) {
      index[i] = static_cast<Unit>(first / int{sizeof(Unit)} + i);
    }
    index_ = reinterpret_cast<__m512i>(index);
    rest_ = static_cast<int>(8 * (first % int{sizeof(Unit)}));
  }

  [[gnu::always_inline]] Bytes<64> operator()(Bytes<64> before, Bytes<64> vector) const {
    const auto a = reinterpret_cast<__m512i>(before);
    const auto b = reinterpret_cast<__m512i>(vector);
    if constexpr (sizeof(Unit) == 2) {
      return reinterpret_cast<Bytes<64>>(_mm512_permutex2var_epi16(a, index_, b));
    } else if constexpr (sizeof(T) == 1) {
      const __m512i low = _mm512_permutex2var_epi32(a, index_, b);
      if (rest_ == 0) return reinterpret_cast<Bytes<64>>(low);
      const __m512i next = _mm512_add_epi32(index_, _mm512_set1_epi32(1));
      const __m512i high = _mm512_permutex2var_epi32(a, next, b);
      return reinterpret_cast<Bytes<64>>(
          _mm512_or_si512(_mm512_srl_epi32(low, _mm_cvtsi32_si128(rest_)),
                          _mm512_sll_epi32(high, _mm_cvtsi32_si128(32 - rest_))));
    } else if constexpr (sizeof(Unit) == 4) {
      return reinterpret_cast<Bytes<64>>(_mm512_permutex2var_epi32(a, index_, b));
    } else {
      return reinterpret_cast<Bytes<64>>(_mm512_permutex2var_epi64(a, index_, b));
    }
  }

 private:
  using Unit =
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>>;

  __m512i index_;  // of the units, the second vector's after the first one's
  int rest_;       // bits by which bytes begin behind them
};

// Bytes begin..end-1 of a line; `end` may lie behind it.
inline void store_part_of_line(std::byte* line, std::int64_t begin, std::int64_t end,
                               const Bytes<64>& value) {
  if (begin >= end || begin >= kLineBytes) return;
  if (begin == 0 && end >= kLineBytes) return store_past_caches<64>(line, value);
  _mm512_mask_storeu_epi8(line, first_bytes(end) & ~first_bytes(begin),
                          reinterpret_cast<__m512i>(value));
}

// Rows of the output that follow one another along the in axis: those of kTiles tiles. Vector t of
// a row lies t vectors behind its first element; line t ends within it or before it, and begins in
// the one before. Line 0 of a row that begins at a line is the one before that, and is not stored.
template <typename T, typename Tile, int kTiles>
class CarriedRows {
 public:
  static constexpr int kRows = kTiles * Tile::kInStep;

  // The first `skipped` rows have been stored already.
  CarriedRows(const std::byte* in, std::byte* out, const std::int64_t* out_by_in,
              std::int64_t skipped, const BlockArguments& block)
      : in_(in), block_(block), skipped_(skipped) {
    for (int k = 0; k < kRows; ++k) {
      std::byte* const row = out + out_by_in[k];
      offset_[k] = line_offset(row - 1) + 1;
      line_[k] = row - offset_[k];
      bytes_[k] = offset_[k] + stored_bytes(row, block);
      cut_[k].begin(offset_[k]);
      carried_[k] = Bytes<64>{};
      // Partial lines must be read before they are written.
      if (!block.continued) __builtin_prefetch(row, 1);
      if (block.following == 0) __builtin_prefetch(line_[k] + bytes_[k] - 1, 1);
      whole_ = bytes_[k] / kLineBytes < whole_ ? bytes_[k] / kLineBytes : whole_;
      lines_ = ceil_div(bytes_[k], kLineBytes) > lines_ ? ceil_div(bytes_[k], kLineBytes) : lines_;
    }
  }

  void move() {
    constexpr std::int64_t kStep = Tile::kOutStep;
    const std::int64_t spare = kStep < block_.following ? kStep : block_.following;
    const std::int64_t count = block_.out_count + spare;
    const std::int64_t end = whole_ < count / kStep ? whole_ : count / kStep;
    // A continued row's first line belongs to the block before.
    if (block_.continued && end > 0) {
      transpose(block_.in_by_out, [&](int k, const Bytes<64>& vector) { carried_[k] = vector; });
    } else {
      store_parts(0, count - 1);
    }
    std::int64_t t = 1;
    if (t < end) {
      store_lines(t, end);
      t = end;
    }
    for (; t < lines_; ++t) store_parts(t, count - 1);
  }

 private:
  // Calls use(k, vector) with the vector of each row, of elements at these offsets in the input.
  template <typename Use>
  [[gnu::always_inline]] void transpose(const std::int64_t* offsets, const Use& use) {
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) {
      const std::byte* const from = in_ + t * Tile::kInStep * int{sizeof(T)};
      Tile::move([&](int k) { return from + offsets[k]; },
                 [&](int k, const Bytes<64>& vector) { use(t * Tile::kInStep + k, vector); });
    }
  }

  // Lines begin..end-1, which are whole in every row and not its first one.
  void store_lines(std::int64_t begin, std::int64_t end) {
    PrefetchQueue prefetches = block_.pipeline->prefetches;
    const std::int64_t* offsets = block_.in_by_out + begin * Tile::kOutStep;
    for (std::int64_t t = begin; t < end; ++t, offsets += Tile::kOutStep) {
      transpose(offsets, [&](int k, const Bytes<64>& vector) {
        if (k >= skipped_) {
          store_past_caches<64>(line_[k] + t * kLineBytes, cut_[k](carried_[k], vector));
        }
        carried_[k] = vector;
      });
      prefetch(prefetches, kRows);
    }
    block_.pipeline->prefetches = prefetches;
  }

  // What the block stores of line t of each row.
  void store_parts(std::int64_t t, std::int64_t last) {
    const std::int64_t first = t * Tile::kOutStep;
    const auto use = [&](int k, const Bytes<64>& vector) {
      const std::int64_t begin = t == 0 ? offset_[k] : 0;
      if (k >= skipped_ && !(begin > 0 && block_.continued)) {
        store_part_of_line(line_[k] + t * kLineBytes, begin, bytes_[k] - t * kLineBytes,
                           cut_[k](carried_[k], vector));
      }
      carried_[k] = vector;
    };
    if constexpr (requires { Tile::kRowBytes; }) {
      // All rows are read at once, also those that do not exist.
      std::byte rows[Tile::kOutStep * Tile::kRowBytes] = {};
      const std::int64_t left =
          last + 1 - first < Tile::kOutStep ? last + 1 - first : Tile::kOutStep;
      if (left > 0) move_run(rows, in_ + block_.in_by_out[first], left * Tile::kRowBytes);
      Tile::move([&](int) { return rows; }, use);
    } else {
      std::int64_t offsets[Tile::kOutStep];
      for (std::int64_t k = 0; k < Tile::kOutStep; ++k) {
        offsets[k] = block_.in_by_out[first + k < last ? first + k : last];
      }
      transpose(offsets, use);
    }
    advance_out_of_line(*block_.pipeline, kRows);
  }

  const std::byte* in_;
  const BlockArguments& block_;
  std::int64_t skipped_;
  std::int64_t whole_ = INT64_MAX;  // lines in every row
  std::int64_t lines_ = 0;          // in any row, partial ones included
  LineCut<T> cut_[kRows];
  Bytes<64> carried_[kRows];
  std::byte* line_[kRows];      // with which the row begins
  std::int64_t offset_[kRows];  // of the row in it
  std::int64_t bytes_[kRows];   // from that line on, to what the block stores last
};

template <typename T, typename Tile, int kTiles>
inline void carry_panels(const std::byte* in, std::byte* out, const BlockArguments& block) {
  constexpr std::int64_t kRows = CarriedRows<T, Tile, kTiles>::kRows;
  for (std::int64_t i = 0; i < block.in_count; i += kRows) {
    const std::int64_t at_in = i + kRows < block.in_count ? i : block.in_count - kRows;
    CarriedRows<T, Tile, kTiles>(in + at_in * int{sizeof(T)}, out, block.out_by_in + at_in,
                                 i - at_in, block)
        .move();
  }
}

// Narrow tiles need fewer shuffles; wide ones fewer loads, which are a quarter of the work for
// bytes.
template <typename T>
inline void carry_lines(const std::byte* in, std::byte* out, const BlockArguments& block) {
  using Wide = WideTile<T, kVectorBytes, kVectorBytes / 16>;
  using Narrow = NarrowTile<T, kVectorBytes>;
  if (block.in_count * int{sizeof(T)} < kLineBytes) {
    carry_panels<T, Narrow, 1>(in, out, block);
  } else if constexpr (sizeof(T) == 1 || sizeof(T) >= 8) {
    carry_panels<T, Wide, 1>(in, out, block);
  } else {
    carry_panels<T, Narrow, 4>(in, out, block);
  }
}

#endif

}  // namespace
}  // namespace ttlg::cpu
