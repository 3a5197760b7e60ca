// The keys of a chunk that is still in the input's order, and what is moved with them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sparse/chunk.hpp"
#include "sparse/task.hpp"

namespace ttlg::sparse {

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

}  // namespace ttlg::sparse
