// Nonzeros that are sorted together: how they are read and kept.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sparse/sorts.hpp"

namespace ttlg::sparse::radix {

// The key of a nonzero and its value, or its number. Packed, because what is moved to many places
// should touch one line at each.
template <typename Stored, typename Payload>
struct [[gnu::packed]] Record {
  Stored key;
  Payload payload;
};

// Keys of nonzeros, and their values or numbers, as two arrays.
template <typename Stored, typename Payload>
struct Arrays {
  Stored* keys = nullptr;
  Payload* payloads = nullptr;

  Arrays from(std::size_t begin) const { return {keys + begin, payloads + begin}; }
};

// Nonzeros from `begin` up to `end`, in the input's order or distributed, which will have these
// places in the output.
struct Chunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t base = 0;  // is taken away from all keys
  int bits = 0;            // above these, keys without the base are equal
  bool is_distributed = false;

  std::int64_t count() const { return end - begin; }
};

inline std::uint64_t low_bits(int bits) {
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

// Whether what is moved can be the number of a nonzero instead of its value.
template <typename Payload>
inline constexpr bool kMayBeNumber = std::integral<Payload> && sizeof(Payload) >= 4;

template <typename Payload>
class ChunkReader {
 public:
  ChunkReader(const Task& task, bool has_numbers) : task_(task), has_numbers_(has_numbers) {}

  // Calls work(begin, keys) for blocks of a chunk's keys without the base, of which the bits below
  // `low` may be wrong.
  template <typename Work>
  void for_blocks(const Chunk& chunk, std::int64_t begin, std::int64_t end, int low,
                  const Work& work) const {
    std::uint64_t keys[kBlock];
    std::int64_t row = 0;
    for (; begin < end; begin += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - begin));
      const std::span block(keys, count);
      task_.reader.read(begin, block, low, row);
      if (chunk.base != 0) {
        for (std::uint64_t& key : block) key -= chunk.base;
      }
      work(begin, block);
    }
  }

  // Those of the nonzeros that are read from `first` on.
  auto payloads_from(std::int64_t first) const {
    return [=, numbers = has_numbers_, order = task_.reader.order(),
            values = task_.values +
                     (has_numbers_ ? 0 : first * std::int64_t{sizeof(Payload)})](std::size_t j) {
      if constexpr (kMayBeNumber<Payload>) {
        const std::int64_t i = first + static_cast<std::int64_t>(j);
        if (numbers) return static_cast<Payload>(order ? order[i] : i);
      }
      Payload payload;
      std::memcpy(&payload, values + j * sizeof payload, sizeof payload);
      return payload;
    };
  }

 private:
  const Task& task_;
  const bool has_numbers_;
};

}  // namespace ttlg::sparse::radix
