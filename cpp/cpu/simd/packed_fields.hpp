// Packed arrays of structures of a few fields, split into arrays and joined from them: whole lines
// are shuffled in registers and leave them around the caches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "cpu/simd/carried_lines.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/vectors.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/shuffle_tables.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

#if defined(__AVX512BW__)

// What permutes the bytes of every 16-byte lane.
struct alignas(16) LaneTerm {
  std::array<std::uint8_t, 16> bytes;
};

// A tile of a packed array of structures: kFields elements that follow one another in each row, and
// rows that do so in the input. Shuffled in 16-byte lanes, each of which takes as many rows as fill
// it.
template <typename T, int kFields>
struct PackedTile {
  static constexpr int kInStep = kFields;
  static constexpr int kOutStep = 64 / int{sizeof(T)};
  static constexpr std::int64_t kRowBytes = kFields * sizeof(T);

  template <typename Row, typename Write>
  [[gnu::always_inline]] static inline void move(const Row& row, const Write& write) {
    const std::byte* const from = row(0);
    Bytes<64> vectors[kFields];
#pragma GCC unroll 5
    for (int k = 0; k < kFields; ++k) {
      vectors[k] = load_lanes<64>([&](int l) { return from + (l * kFields + k) * 16; });
    }
#pragma GCC unroll 5
    for (int field = 0; field < kFields; ++field) {
      Bytes<64> sum{};
#pragma GCC unroll 5
      for (int k = 0; k < kFields; ++k) {
        sum |= shuffle_bytes<64>(vectors[k], kTerms[field][k].bytes.data());
      }
      write(field, sum);
    }
  }

 private:
  // Where the bytes of a field lie in each of the vectors.
  static constexpr auto kTerms = [] {
    constexpr int kSize = sizeof(T);
    std::array<std::array<LaneTerm, kFields>, kFields> terms{};
    for (int field = 0; field < kFields; ++field) {
      for (int k = 0; k < kFields; ++k) {
        for (int i = 0; i < 16; ++i) {
          const int at = (i / kSize * kFields + field) * kSize + i % kSize;
          terms[field][k].bytes[i] = at / 16 == k ? static_cast<std::uint8_t>(at % 16) : kNoByte;
        }
      }
    }
    return terms;
  }();
};

// The other way round: takes a vector of each field and makes as many of structures. In each
// 16-byte lane, the structures of a lane's elements are put together, in kFields pieces; then the
// lanes of all pieces are brought into their order.
template <typename T, int kFields>
struct PackedRun {
  static constexpr int kStep = 64 / int{sizeof(T)};  // elements of each field

  [[gnu::always_inline]] static inline void pack(Bytes<64>* vectors) {
    Bytes<64> pieces[kFields];
#pragma GCC unroll 5
    for (int k = 0; k < kFields; ++k) {
      pieces[k] = Bytes<64>{};
#pragma GCC unroll 5
      for (int field = 0; field < kFields; ++field) {
        pieces[k] |= shuffle_bytes<64>(vectors[field], kTerms[k][field].bytes.data());
      }
    }
#pragma GCC unroll 5
    for (int j = 0; j < kFields; ++j) {
      auto vector = reinterpret_cast<__m512i>(pieces[0]);
#pragma GCC unroll 5
      for (int k = 1; k < kFields; ++k) {
        vector = _mm512_permutex2var_epi64(vector, _mm512_load_si512(&kLanes64[j][k]),
                                           reinterpret_cast<__m512i>(pieces[k]));
      }
      vectors[j] = reinterpret_cast<Bytes<64>>(vector);
    }
  }

 private:
  struct alignas(64) Lanes {
    std::array<std::uint64_t, 8> halves;
  };

  static constexpr auto kTerms = [] {
    constexpr int kSize = sizeof(T);
    std::array<std::array<LaneTerm, kFields>, kFields> terms{};
    for (int k = 0; k < kFields; ++k) {
      for (int i = 0; i < 16; ++i) {
        const int element = (16 * k + i) / kSize;
        for (int field = 0; field < kFields; ++field) {
          terms[k][field].bytes[i] =
              element % kFields == field
                  ? static_cast<std::uint8_t>(element / kFields * kSize + i % kSize)
                  : kNoByte;
        }
      }
    }
    return terms;
  }();

  // Lane q of vector j is lane (4j + q) / kFields of piece (4j + q) % kFields. Where piece k joins
  // the ones before it, these have their place already, but for the first one.
  static constexpr auto kLanes64 = [] {
    std::array<std::array<Lanes, kFields>, kFields> lanes{};
    for (int j = 0; j < kFields; ++j) {
      for (int k = 1; k < kFields; ++k) {
        for (int i = 0; i < 8; ++i) {
          const int lane = 4 * j + i / 2;
          const int own = lane / kFields * 2 + i % 2;
          const int piece = lane % kFields;
          lanes[j][k].halves[i] =
              static_cast<std::uint64_t>(piece == k ? 8 + own : (k == 1 ? own : i));
        }
      }
    }
    return lanes;
  }();
};

template <typename T, int kFields>
inline void carry_run(const std::byte* in, std::byte* out, const BlockArguments& block) {
  using Run = PackedRun<T, kFields>;
  std::byte* const run = out + block.out_by_in[0];
  const std::int64_t offset = line_offset(run);
  std::byte* line = run - offset;
  std::int64_t left = offset + block.in_count * kFields * int{sizeof(T)};  // from the line on
  __builtin_prefetch(line + left - 1, 1);
  LineCut<T> cut;
  cut.begin(offset);
  const std::byte* fields[kFields];
  for (int field = 0; field < kFields; ++field) fields[field] = in + block.in_by_out[field];
  Bytes<64> carried{};
  Bytes<64> vectors[kFields];
  PrefetchQueue prefetches = block.pipeline->prefetches;
  std::int64_t begin = offset;  // of what is stored of the line
  std::int64_t at = 0;
  for (; at + Run::kStep <= block.in_count; at += Run::kStep) {
#pragma GCC unroll 5
    for (int field = 0; field < kFields; ++field) {
      vectors[field] = load<Bytes<64>>(fields[field] + at * int{sizeof(T)});
    }
    Run::pack(vectors);
#pragma GCC unroll 5
    for (int j = 0; j < kFields; ++j) {
      store_part_of_line(line, begin, kLineBytes, cut(carried, vectors[j]));
      carried = vectors[j];
      line += kLineBytes;
      begin = 0;
    }
    prefetch(prefetches, kFields);
  }
  block.pipeline->prefetches = prefetches;
  left -= at / Run::kStep * kFields * kLineBytes;
  const std::int64_t bytes = (block.in_count - at) * int{sizeof(T)};
  for (int field = 0; field < kFields; ++field) {
    vectors[field] = reinterpret_cast<Bytes<64>>(_mm512_maskz_loadu_epi8(
        (std::uint64_t{1} << bytes) - 1, fields[field] + at * int{sizeof(T)}));
  }
  Run::pack(vectors);
  for (int j = 0; j <= kFields; ++j) {
    const Bytes<64> vector = j < kFields ? vectors[j] : Bytes<64>{};
    store_part_of_line(line + j * kLineBytes, begin, left - j * kLineBytes, cut(carried, vector));
    carried = vector;
    begin = 0;
  }
}

// Whether the block is a packed array of structures with so few fields, on either side, and was
// carried.
template <typename T, int kFields = 2>
inline bool carry_packed(const std::byte* in, std::byte* out, const BlockArguments& block) {
  if constexpr (joins_rows(kVectorBytes, sizeof(T), kFields)) {
    constexpr std::int64_t kRowBytes = kFields * sizeof(T);
    if (!block.in_is_even || !block.out_is_even) return false;
    if constexpr (splits_rows(kVectorBytes, sizeof(T), kFields)) {
      if (block.in_count == kFields && block.out_count > 1 &&
          block.in_by_out[1] - block.in_by_out[0] == kRowBytes) {
        carry_panels<T, PackedTile<T, kFields>, 1>(in, out, block);
        return true;
      }
    }
    if (block.out_count == kFields && block.following == 0 && !block.continued &&
        block.in_count > 1 && block.out_by_in[1] - block.out_by_in[0] == kRowBytes) {
      carry_run<T, kFields>(in, out, block);
      return true;
    }
    return carry_packed<T, kFields + 1>(in, out, block);
  }
  return false;
}

#endif

}  // namespace
}  // namespace ttlg::cpu
