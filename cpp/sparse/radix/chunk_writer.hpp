// Chunks in their order, to the output.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/simd_level.hpp"
#include "sparse/radix/chunk.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse::radix {

template <typename Stored, typename Payload>
class ChunkWriter {
 public:
  struct RowRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };

  // Around the caches where there are several chunks, because one takes half of a cache; then each
  // thread has to call finish() in the end.
  ChunkWriter(const Task& task, bool has_numbers, bool has_several)
      : task_(task), has_numbers_(has_numbers), around_caches_(has_several) {}

  void write(const Chunk& chunk, const Arrays<Stored, Payload>& sorted) const {
    const auto count = static_cast<std::size_t>(chunk.count());
    if (task_.order) {
      if constexpr (kMayBeNumber<Payload>)
        std::copy_n(sorted.payloads, count, task_.order + chunk.begin);
    } else {
      write_coordinates(task_.key, chunk.base, std::span<const Stored>(sorted.keys, count),
                        chunk.begin, task_.output, around_caches_);
      write_values(chunk.begin, {sorted.payloads, count});
    }
  }

  void finish() const { table_.fence(); }

  // Of the rows that begin within the chunk.
  RowRange write_row_pointers(const Chunk& chunk, const Stored* keys) const {
    return with_type(task_.output.row_pointers, [&](auto* pointers) {
      using Pointer = std::remove_reference_t<decltype(*pointers)>;
      const std::uint64_t base = chunk.base;
      const int shift = task_.row_shift();
      const auto row = [=](Stored key) {
        return static_cast<std::int64_t>(shift < 0 ? 0 : (base + key) >> shift);
      };
      const std::int64_t first = row(keys[0]);
      const std::int64_t last = row(keys[chunk.count() - 1]);
      std::fill(pointers + first + 1, pointers + last + 1, Pointer{0});
      // Where rows end that have nonzeros, without a branch that depends on where they do; then
      // where the others do.
      std::int64_t here = first;
      for (std::int64_t j = 0; here < last;) {
        pointers[here + 1] = static_cast<Pointer>(chunk.begin + ++j);
        here = row(keys[j]);
      }
      for (here = first + 1; here < last; ++here) {
        pointers[here + 1] = std::max(pointers[here + 1], pointers[here]);
      }
      return RowRange{first, last};
    });
  }

  void write_pointers_between(const std::vector<Chunk>& chunks,
                              const std::vector<RowRange>& rows) const {
    with_type(task_.output.row_pointers, [&](auto* pointers) {
      using Pointer = std::remove_reference_t<decltype(*pointers)>;
      std::int64_t last = -1;
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        while (last < rows[i].first) pointers[++last] = static_cast<Pointer>(chunks[i].begin);
        last = rows[i].last;
      }
      while (last < task_.rows) pointers[++last] = static_cast<Pointer>(task_.count);
    });
  }

 private:
  void write_values(std::int64_t begin, std::span<const Payload> payloads) const {
    const std::int64_t bytes = task_.value_bytes;
    std::byte* to = task_.output.values + begin * bytes;
    if (!has_numbers_ && around_caches_) {
      table_.stream(to, reinterpret_cast<const std::byte*>(payloads.data()),
                    static_cast<std::int64_t>(payloads.size_bytes()));
    } else if (!has_numbers_) {
      std::memcpy(to, payloads.data(), payloads.size_bytes());
    } else if constexpr (kMayBeNumber<Payload>) {
      for (const Payload number : payloads) {
        std::memcpy(to, task_.values + static_cast<std::int64_t>(number) * bytes,
                    static_cast<std::size_t>(bytes));
        to += bytes;
      }
    }
  }

  const Task& task_;
  const bool has_numbers_;
  const bool around_caches_;
  const cpu::Kernels& table_ = cpu::kernels();
};

}  // namespace ttlg::sparse::radix
