#include "sparse/radix_sort.hpp"

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
#include "sparse/bucket_lines.hpp"
#include "sparse/buffer.hpp"
#include "sparse/chunk_sort.hpp"
#include "sparse/digit_tree.hpp"

namespace ttlg::sparse {
namespace {

struct Bytes16 {
  std::uint64_t words[2];
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

std::uint64_t low_bits(int bits) {
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

// `Payload`: the value of a nonzero, or its number.
template <typename Stored, typename Payload>
class Sorter {
 public:
  Sorter(const Task& task, bool has_numbers)
      : task_(task),
        has_numbers_(has_numbers),
        capacity_(std::min(task.count, std::max<std::int64_t>(
                                           1024, task.cache_bytes / static_cast<std::int64_t>(
                                                                        4 * sizeof(RecordHere))))) {
  }

  // Whether the keys fit `Stored`.
  bool fits() const {
    constexpr int kBits = 8 * sizeof(Stored);
    if (task_.key.bits <= kBits) return true;
    // All of them are distributed, and the first digit need not be stored.
    return has_bits_to_sort() && task_.sorted.high == task_.key.bits && task_.count > capacity_ &&
           digit_shift(task_.count, task_.key.bits, task_.key.max) <= kBits;
  }

  void run() {
    std::vector<Chunk> chunks;
    for (const Chunk& chunk : chunks_in_order()) {
      if (!has_bits_to_sort()) {
        cut(chunk, chunks);
      } else if (chunk.count() <= capacity_) {
        chunks.push_back(chunk);
      } else {
        distribute(chunk, chunks);
      }
    }
    finish(chunks);
  }

 private:
  using RecordHere = Record<Stored, Payload>;
  static constexpr std::int64_t kMaxBuckets = 4096;
  // What is a few times too large sorts slower, but to divide it takes another look at all keys.
  static constexpr std::int64_t kMaxExcess = 4;
  static constexpr bool kMayBeNumber = std::is_integral_v<Payload> && sizeof(Payload) >= 4;

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

  // Any part of what has no bits to sort will do.
  void cut(Chunk chunk, std::vector<Chunk>& chunks) const {
    const std::int64_t end = chunk.end;
    while (chunk.begin < end) {
      chunk.end = std::min(chunk.begin + capacity_, end);
      chunks.push_back(chunk);
      chunk.begin = chunk.end;
    }
  }

  // The lowest bit of the digit by which nonzeros are distributed to chunks that mostly fit.
  int digit_shift(std::int64_t count, int bits, std::uint64_t max_key) const {
    const int low = task_.sorted.low;
    if ((max_key >> low) < kMaxBuckets) return low;
    const auto wanted = static_cast<std::uint64_t>(
        std::clamp(4 * count / (3 * capacity_), std::int64_t{2}, kMaxBuckets / 2));
    int shift = bits - 1;
    while (shift > low && (max_key >> shift) + 1 < wanted) --shift;
    return shift;
  }

  // A part of a chunk, with what it has of each bucket: counts, and then places.
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::vector<std::int64_t> buckets;
  };

  std::vector<Part> parts_of(const Chunk& chunk) const {
    const std::int64_t count = task_.threads == 1 ? 1 : 4 * task_.threads;
    std::vector<Part> parts(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      Part& part = parts[static_cast<std::size_t>(i)];
      part.begin = i == 0 ? chunk.begin : parts[static_cast<std::size_t>(i - 1)].end;
      part.end =
          chunk.begin + chunk.count() / count * (i + 1) + std::min(i + 1, chunk.count() % count);
    }
    return parts;
  }

  // From the input to `records_`, by digits that leave chunks that fit.
  void distribute(const Chunk& chunk, std::vector<Chunk>& chunks) {
    const std::uint64_t max_key =
        chunk.bits == task_.key.bits ? task_.key.max : low_bits(chunk.bits);
    const int shift = digit_shift(chunk.count(), chunk.bits, max_key);
    DigitTree tree(shift, max_key);
    std::vector<Part> parts = parts_of(chunk);
    std::size_t first = 0;
    do {
      for_parts(parts, [&](Part& part) { count_buckets(chunk, tree, first, part); });
      first = tree.size();
      divide_large(parts, tree);
    } while (tree.size() > first);

    std::int64_t place = chunk.begin;
    tree.for_buckets([&](std::size_t bucket) {
      const std::int64_t begin = place;
      for (Part& part : parts) place += std::exchange(part.buckets[bucket], place);
      if (begin < place) {
        const std::uint64_t base = chunk.base + (tree.digit(bucket) << shift);
        const Chunk made{begin, place, base, tree.shift(bucket), true};
        if (made.bits <= task_.sorted.low) {
          cut(made, chunks);
        } else {
          chunks.push_back(made);
        }
      }
    });
    if (!records_.data()) {
      records_ = Buffer<RecordHere>(static_cast<std::size_t>(task_.count), task_.pool);
    }
    for_parts(parts, [&](Part& part) { move_to_buckets(chunk, tree, low_bits(shift), part); });
  }

  void divide_large(const std::vector<Part>& parts, DigitTree& tree) const {
    const std::size_t size = tree.size();
    for (std::size_t bucket = 0; bucket < size; ++bucket) {
      const int shift = tree.shift(bucket);
      if (!tree.is_bucket(bucket) || shift <= task_.sorted.low) continue;
      std::int64_t count = 0;
      for (const Part& part : parts) count += part.buckets[bucket];
      if (count > kMaxExcess * capacity_)
        tree.divide(bucket, digit_shift(count, shift, low_bits(shift)));
    }
  }

  template <typename Work>
  void for_parts(std::vector<Part>& parts, const Work& work) const {
    const auto count = static_cast<std::int64_t>(parts.size());
    cpu::parallel_ranges(task_.threads, count, count, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) work(parts[static_cast<std::size_t>(begin)]);
    });
  }

  // Calls work(begin, keys) for blocks of a chunk's keys without the base, of which the bits below
  // `low` may be wrong.
  template <typename Work>
  void for_blocks(const Chunk& chunk, std::int64_t begin, std::int64_t end, int low,
                  const Work& work) const {
    std::uint64_t keys[kBlock];
    for (; begin < end; begin += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - begin));
      const std::span block(keys, count);
      task_.reader.read(begin, block, low);
      if (chunk.base != 0) {
        for (std::uint64_t& key : block) key -= chunk.base;
      }
      work(begin, block);
    }
  }

  // Of the buckets from `first` on; those before have been counted.
  void count_buckets(const Chunk& chunk, const DigitTree& tree, std::size_t first,
                     Part& part) const {
    part.buckets.resize(tree.size());
    if (first > 0) {
      for_blocks(chunk, part.begin, part.end, 0,
                 [&](std::int64_t, std::span<const std::uint64_t> keys) {
                   for (const std::uint64_t key : keys) {
                     const std::size_t bucket = tree.find(key);
                     if (bucket >= first) ++part.buckets[bucket];
                   }
                 });
      return;
    }
    // Tables take turns: neighbours often have the same digit, and would wait for each other.
    std::vector<std::int64_t> tables(4 * tree.size());
    const int shift = tree.shift(0);
    for_blocks(chunk, part.begin, part.end, shift,
               [&](std::int64_t, std::span<const std::uint64_t> keys) {
                 std::int64_t* const table = tables.data();
                 for (std::size_t j = 0; j < keys.size(); ++j) {
                   ++table[4 * (keys[j] >> shift) + (j & 3)];
                 }
               });
    for (std::size_t i = 0; i < tables.size(); ++i) part.buckets[i / 4] += tables[i];
  }

  void move_to_buckets(const Chunk& chunk, const DigitTree& tree, std::uint64_t mask,
                       Part& part) const {
    BucketLines<RecordHere> lines(part.buckets, records_.data(), task_.pool);
    const int shift = tree.shift(0);
    for_blocks(
        chunk, part.begin, part.end, 0,
        [&](std::int64_t first, std::span<const std::uint64_t> keys) {
          if (tree.is_divided()) {
            lines.add(
                keys, mask, [&tree](std::uint64_t key) { return tree.find(key); },
                payloads_from(first));
          } else {
            lines.add(
                keys, mask,
                [shift](std::uint64_t key) { return static_cast<std::size_t>(key >> shift); },
                payloads_from(first));
          }
        });
    lines.finish();
  }

  // Those of the nonzeros that are read from `first` on.
  auto payloads_from(std::int64_t first) const {
    return [=, numbers = has_numbers_, order = task_.reader.order(),
            values = task_.values +
                     (has_numbers_ ? 0 : first * std::int64_t{sizeof(Payload)})](std::size_t j) {
      if constexpr (kMayBeNumber) {
        const std::int64_t i = first + static_cast<std::int64_t>(j);
        if (numbers) return static_cast<Payload>(order ? order[i] : i);
      }
      Payload payload;
      std::memcpy(&payload, values + j * sizeof payload, sizeof payload);
      return payload;
    };
  }

  // Sorts each chunk and writes it to the output.
  void finish(const std::vector<Chunk>& chunks) {
    std::vector<std::optional<ChunkSort<Stored, Payload>>> sorters(
        static_cast<std::size_t>(task_.threads));
    std::int64_t largest = 0;
    for (const Chunk& chunk : chunks) largest = std::max(largest, chunk.count());
    for (auto& sorter : sorters) sorter.emplace(static_cast<std::size_t>(largest), task_.pool);
    std::vector<RowRange> rows(task_.output.row_pointers ? chunks.size() : 0);
    cpu::parallel_ranges(
        task_.threads, static_cast<std::int64_t>(chunks.size()), 16,
        [&](std::int64_t begin, std::int64_t end) {
          const auto& sorter = *sorters[static_cast<std::size_t>(cpu::thread_number())];
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const Arrays<Stored, Payload> sorted = sort_chunk(chunks[i], sorter);
            write(chunks[i], sorted);
            if (!rows.empty()) rows[i] = write_row_pointers(chunks[i], sorted.keys);
          }
        });
    if (task_.output.row_pointers) write_pointers_between(chunks, rows);
  }

  Arrays<Stored, Payload> sort_chunk(const Chunk& chunk,
                                     const ChunkSort<Stored, Payload>& sorter) const {
    const int low = task_.sorted.low;
    const bool has_order = !has_bits_to_sort() || chunk.bits <= low;
    const auto count = static_cast<std::size_t>(chunk.count());
    if (chunk.is_distributed) {
      return sorter.sort(records_.data() + chunk.begin, count, low,
                         has_order ? 0 : chunk.bits - low);
    }
    std::uint64_t bits = 0;
    for_blocks(chunk, chunk.begin, chunk.end, 0,
               [&](std::int64_t first, std::span<const std::uint64_t> keys) {
                 const auto to = sorter.space().from(static_cast<std::size_t>(first - chunk.begin));
                 const auto payload_at = payloads_from(first);
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

  void write(const Chunk& chunk, const Arrays<Stored, Payload>& sorted) const {
    const auto count = static_cast<std::size_t>(chunk.count());
    if (task_.order) {
      if constexpr (kMayBeNumber) std::copy_n(sorted.payloads, count, task_.order + chunk.begin);
    } else {
      write_coordinates(task_.key, chunk.base, std::span<const Stored>(sorted.keys, count),
                        chunk.begin, task_.output);
      write_values(chunk.begin, {sorted.payloads, count});
    }
  }

  void write_values(std::int64_t begin, std::span<const Payload> payloads) const {
    const std::int64_t bytes = task_.value_bytes;
    std::byte* to = task_.output.values + begin * bytes;
    if (!has_numbers_) {
      std::memcpy(to, payloads.data(), payloads.size_bytes());
    } else if constexpr (kMayBeNumber) {
      for (const Payload number : payloads) {
        std::memcpy(to, task_.values + static_cast<std::int64_t>(number) * bytes,
                    static_cast<std::size_t>(bytes));
        to += bytes;
      }
    }
  }

  struct RowRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };

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

  const Task& task_;
  const bool has_numbers_;
  const std::int64_t capacity_;
  Buffer<RecordHere> records_;
};

template <typename Payload>
void sort_with(const Task& task, bool has_numbers) {
  Sorter<std::uint32_t, Payload> narrow(task, has_numbers);
  if (narrow.fits()) return narrow.run();
  Sorter<std::uint64_t, Payload>(task, has_numbers).run();
}

void fill_row_pointers(const NewIndices& row_pointers, std::int64_t rows) {
  with_type(row_pointers, [&](auto* pointers) { std::fill_n(pointers, rows + 1, 0); });
}

}  // namespace

void radix_sort(const Task& task) {
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
