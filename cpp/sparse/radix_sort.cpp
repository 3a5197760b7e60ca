#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/radix/chunk.hpp"
#include "sparse/radix/chunk_sort.hpp"
#include "sparse/radix/chunk_writer.hpp"
#include "sparse/radix/distributor.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse {
namespace radix {
namespace {

void fill_row_pointers(const NewIndices& row_pointers, std::int64_t rows) {
  with_type(row_pointers, [&](auto* pointers) { std::fill_n(pointers, rows + 1, 0); });
}

struct Bytes16 {
  std::uint64_t words[2];
};

// `Payload`: the value of a nonzero, or its number.
template <typename Stored, typename Payload>
class Sorter {
 public:
  Sorter(const Task& task, bool has_numbers)
      : task_(task),
        capacity_(capacity(task)),
        reader_(task, has_numbers),
        writer_(task, has_numbers, capacity_ < task.count),
        distributor_(task, reader_, capacity_) {}

  // Whether the keys fit `Stored`.
  bool fits() const {
    constexpr int kBits = 8 * sizeof(Stored);
    if (task_.key.bits <= kBits) return true;
    // All of them are distributed, and the first digit need not be stored.
    return has_bits_to_sort() && task_.sorted.high == task_.key.bits && task_.count > capacity_ &&
           distributor_.digit_shift(task_.count, task_.key.bits, task_.key.max) <= kBits;
  }

  void run() {
    std::vector<Chunk> chunks;
    for (const Chunk& chunk : chunks_in_order()) {
      if (!has_bits_to_sort()) {
        distributor_.cut(chunk, chunks);
      } else if (chunk.count() <= capacity_) {
        chunks.push_back(chunk);
      } else {
        distributor_.distribute(chunk, chunks);
      }
    }
    finish(chunks);
  }

 private:
  using RecordHere = Record<Stored, Payload>;
  static std::int64_t capacity(const Task& task) {
    return std::min(task.count, chunk_capacity(task.cache_bytes, sizeof(RecordHere)));
  }

  bool has_bits_to_sort() const { return task_.sorted.low < task_.sorted.high; }

  // Chunks of the input that the order of its outermost modes gives: slices of them, and where
  // these are short, several together.
  std::vector<Chunk> chunks_in_order() const {
    const int high = task_.sorted.high;
    if (high == task_.key.bits || !has_bits_to_sort()) {
      return {{0, task_.count, 0, task_.key.bits, false}};
    }
    std::vector<Chunk> chunks;
    for (std::int64_t begin = 0; begin < task_.count;) {
      const std::uint64_t base = task_.reader.at(begin) & ~low_bits(high);
      std::int64_t end =
          begin + capacity_ < task_.count ? slice_begin(begin, begin + capacity_) : task_.count;
      const bool fits = end > begin;
      if (!fits) end = slice_end(begin + capacity_);
      chunks.push_back({begin, end, base, fits ? task_.key.bits : high, false});
      begin = end;
    }
    return chunks;
  }

  std::uint64_t slice_of(std::int64_t position) const {
    return task_.reader.at(position) >> task_.sorted.high;
  }

  // Where the slice of the nonzero at `position` begins, but not before `first`.
  std::int64_t slice_begin(std::int64_t first, std::int64_t position) const {
    const auto range = std::views::iota(first, position);
    return *std::ranges::lower_bound(range, slice_of(position), {},
                                     [&](std::int64_t i) { return slice_of(i); });
  }

  std::int64_t slice_end(std::int64_t position) const {
    const auto range = std::views::iota(position, task_.count);
    return *std::ranges::upper_bound(range, slice_of(position), {},
                                     [&](std::int64_t i) { return slice_of(i); });
  }

  // Sorts each chunk and writes it to the output.
  void finish(const std::vector<Chunk>& chunks) {
    std::vector<std::optional<ChunkSort<Stored, Payload>>> sorters(
        static_cast<std::size_t>(task_.threads));
    std::int64_t largest = 0;
    for (const Chunk& chunk : chunks) largest = std::max(largest, chunk.count());
    for (auto& sorter : sorters) sorter.emplace(static_cast<std::size_t>(largest), task_.pool);
    std::vector<typename ChunkWriter<Stored, Payload>::RowRange> rows(
        task_.output.row_pointers ? chunks.size() : 0);
    cpu::parallel_ranges(
        task_.threads, static_cast<std::int64_t>(chunks.size()), 16,
        [&](std::int64_t begin, std::int64_t end) {
          const auto& sorter = *sorters[static_cast<std::size_t>(cpu::thread_number())];
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const Arrays<Stored, Payload> sorted = sort_chunk(chunks[i], sorter);
            writer_.write(chunks[i], sorted);
            if (!rows.empty()) rows[i] = writer_.write_row_pointers(chunks[i], sorted.keys);
          }
          writer_.finish();
        });
    if (task_.output.row_pointers) writer_.write_pointers_between(chunks, rows);
  }

  Arrays<Stored, Payload> sort_chunk(const Chunk& chunk,
                                     const ChunkSort<Stored, Payload>& sorter) const {
    const int low = task_.sorted.low;
    const bool has_order = !has_bits_to_sort() || chunk.bits <= low;
    const auto count = static_cast<std::size_t>(chunk.count());
    if (chunk.is_distributed) {
      return sorter.sort(distributor_.records() + chunk.begin, count, low,
                         has_order ? 0 : chunk.bits - low);
    }
    std::uint64_t bits = 0;
    reader_.for_blocks(chunk, chunk.begin, chunk.end, 0,
                       [&](std::int64_t first, std::span<const std::uint64_t> keys) {
                         const auto to =
                             sorter.space().from(static_cast<std::size_t>(first - chunk.begin));
                         const auto payload_at = reader_.payloads_from(first);
                         std::uint64_t some = 0;
                         for (std::size_t j = 0; j < keys.size(); ++j) {
                           to.keys[j] = static_cast<Stored>(keys[j]);
                           to.payloads[j] = payload_at(j);
                           some |= keys[j];
                         }
                         bits |= some;
                       });
    return sorter.sort(sorter.space(), count, low,
                       has_order ? 0 : static_cast<int>(std::bit_width(bits)) - low);
  }

  const Task& task_;
  const std::int64_t capacity_;
  const ChunkReader<Payload> reader_;
  const ChunkWriter<Stored, Payload> writer_;
  Distributor<Stored, Payload> distributor_;
};

template <typename Payload>
void sort_with(const Task& task, bool has_numbers) {
  Sorter<std::uint32_t, Payload> narrow(task, has_numbers);
  if (narrow.fits()) return narrow.run();
  Sorter<std::uint64_t, Payload>(task, has_numbers).run();
}

}  // namespace
}  // namespace radix

void radix_sort(const Task& task) {
  using namespace radix;
  if (task.count == 0) {
    if (task.output.row_pointers && !task.order) {
      fill_row_pointers(task.output.row_pointers, task.rows);
    }
    return;
  }
  if (!task.order) {
    switch (task.value_bytes) {
      case 1:
        return sort_with<std::uint8_t>(task, false);
      case 2:
        return sort_with<std::uint16_t>(task, false);
      case 4:
        return sort_with<std::uint32_t>(task, false);
      case 8:
        return sort_with<std::uint64_t>(task, false);
      case 16:
        return sort_with<Bytes16>(task, false);
      default:
        break;
    }
  }
  if (task.count <= std::numeric_limits<std::uint32_t>::max()) {
    return sort_with<std::uint32_t>(task, true);
  }
  sort_with<std::uint64_t>(task, true);
}

}  // namespace ttlg::sparse
