// What the kernels of sparse transposition do: coordinates to keys, sorted keys to coordinates, and
// values to where the sort has put them. nvcc and, for tests on the host, any C++ compiler compile
// these. A thread takes every `step`-th item from `first` on; `step` is the number of all threads.
//
// A kernel reads no address that depends on a coordinate, so one outside of its mode only puts its
// nonzero in a wrong place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/kernels/context.hpp"
#include "tensor/axes.hpp"

namespace ttlg::cuda::sparse {

inline constexpr int kThreads = 256;  // of a block
inline constexpr int kMaxLanes = 32;  // that share one value

// `Index` is the type of a coordinate; `Position` that of the number of a nonzero.
template <typename Index, typename Position>
struct PackArguments {
  std::int64_t nonzeros;
  int modes;                      // of the key, at most kMaxRank
  bool is_first_round;            // the positions are those of the input, and still to be written
  std::uint8_t bits[kMaxRank]{};  // of a coordinate, at most 63; the outermost mode first
  const Index* coordinates[kMaxRank]{};
  Position* positions;
  std::uint64_t* keys;
};

template <typename Index, typename Position>
struct UnpackArguments {
  std::int64_t nonzeros;
  int modes;          // of the output, at most kMaxRank
  int modes_in_keys;  // the outermost ones
  std::uint8_t bits[kMaxRank]{};
  const Index* coordinates[kMaxRank]{};  // in the input, for every mode of the output
  const Position* positions;
  const std::uint64_t* keys;
  Index* out;  // (modes, nonzeros)
};

template <typename Position>
struct GatherArguments {
  std::int64_t nonzeros;
  std::int64_t words;  // of a value
  int word_bytes;      // 1, 2, 4, 8 or 16: both pointers are multiples of it
  int lanes_log2;      // of how many consecutive threads share a value
  const Position* positions;
  const std::byte* values;
  std::byte* out;
};

// Loads what nobody writes while the kernel runs.
template <typename T>
TTLG_DEVICE T load_constant(const T* from) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 16) {
    const uint4 word = __ldg(reinterpret_cast<const uint4*>(from));
    return {{word.x, word.y, word.z, word.w}};
  } else {
    return __ldg(from);
  }
#else
  return *from;
#endif
}

TTLG_DEVICE constexpr std::uint64_t low_bits(int bits) { return (std::uint64_t{1} << bits) - 1; }

// Bits of a coordinate beyond those of its mode are cut off: they would change other modes.
template <typename Index, typename Position>
TTLG_DEVICE void pack(const PackArguments<Index, Position>& p, std::int64_t first,
                      std::int64_t step) {
  for (std::int64_t i = first; i < p.nonzeros; i += step) {
    std::int64_t from = i;
    if (p.is_first_round) {
      p.positions[i] = static_cast<Position>(i);
    } else {
      from = static_cast<std::int64_t>(load_constant(p.positions + i));
    }
    std::uint64_t key = 0;
    TTLG_UNROLL_BY(4)
    for (int mode = 0; mode < p.modes; ++mode) {
      const int bits = p.bits[mode];
      const auto coordinate = static_cast<std::uint64_t>(load_constant(p.coordinates[mode] + from));
      key = (key << bits) | (coordinate & low_bits(bits));
    }
    p.keys[i] = key;
  }
}

template <typename Index, typename Position>
TTLG_DEVICE void unpack(const UnpackArguments<Index, Position>& p, std::int64_t first,
                        std::int64_t step) {
  for (std::int64_t i = first; i < p.nonzeros; i += step) {
    std::uint64_t key = load_constant(p.keys + i);
    for (int mode = p.modes_in_keys - 1; mode >= 0; --mode) {
      const int bits = p.bits[mode];
      p.out[mode * p.nonzeros + i] = static_cast<Index>(key & low_bits(bits));
      key >>= bits;
    }
    if (p.modes_in_keys == p.modes) continue;
    const auto from = static_cast<std::int64_t>(load_constant(p.positions + i));
    for (int mode = p.modes_in_keys; mode < p.modes; ++mode) {
      p.out[mode * p.nonzeros + i] = load_constant(p.coordinates[mode] + from);
    }
  }
}

template <int kWidth, typename Position>
TTLG_DEVICE void gather(const GatherArguments<Position>& p, std::int64_t first, std::int64_t step) {
  const auto* const values = reinterpret_cast<const Word<kWidth>*>(p.values);
  auto* const out = reinterpret_cast<Word<kWidth>*>(p.out);
  const std::int64_t lanes = std::int64_t{1} << p.lanes_log2;
  const std::int64_t lane = first & (lanes - 1);
  for (std::int64_t i = first >> p.lanes_log2; i < p.nonzeros; i += step >> p.lanes_log2) {
    const auto from = static_cast<std::int64_t>(load_constant(p.positions + i));
    for (std::int64_t word = lane; word < p.words; word += lanes) {
      out[i * p.words + word] = load_constant(values + from * p.words + word);
    }
  }
}

}  // namespace ttlg::cuda::sparse
