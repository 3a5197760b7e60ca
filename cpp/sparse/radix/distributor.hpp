// Chunks that do not fit a cache, to chunks that do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "sparse/buffer.hpp"
#include "sparse/radix/bucket_lines.hpp"
#include "sparse/radix/chunk.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse::radix {

// Buckets by the highest digit of the key, and of a bucket that would be too large, by the next
// digit: real tensors have slices with a thousand times the nonzeros of others. What is found is
// the number of an entry; entries that have been divided are no buckets any more.
class DigitTree {
 public:
  // No key is above `max_key`.
  DigitTree(int shift, std::uint64_t max_key)
      : nodes_{{shift, ~std::uint64_t{0}, 0, 0}},
        entries_(static_cast<std::size_t>(max_key >> shift) + 1) {}

  std::size_t size() const { return entries_.size(); }
  bool is_divided() const { return nodes_.size() > 1; }
  bool is_bucket(std::size_t entry) const { return entries_[entry].node == 0; }

  // The bits below are left to tell the keys of a bucket from each other.
  int shift(std::size_t entry) const { return nodes_[entries_[entry].in_node].shift; }

  // The first digit of a bucket's keys.
  std::uint64_t digit(std::size_t entry) const {
    const std::size_t in_root = nodes_.size() > 1 ? nodes_[1].first : entries_.size();
    while (entry >= in_root) entry = nodes_[entries_[entry].in_node].entry;
    return entry;
  }

  std::size_t find(std::uint64_t key) const {
    auto entry = static_cast<std::size_t>(key >> nodes_[0].shift);
    while (const std::uint32_t node = entries_[entry].node) {
      const Node& next = nodes_[node];
      entry = next.first + static_cast<std::size_t>((key >> next.shift) & next.mask);
    }
    return entry;
  }

  // Divides a bucket by the bits from `shift` on.
  void divide(std::size_t entry, int shift) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::size_t digits = std::size_t{1} << (this->shift(entry) - shift);
    entries_[entry].node = node;
    nodes_.push_back({shift, digits - 1, entries_.size(), entry});
    entries_.resize(entries_.size() + digits, {0, node});
  }

  // Calls visit(entry) for all buckets in the order of their keys.
  template <typename Visit>
  void for_buckets(const Visit& visit) const {
    visit_from(0, nodes_.size() > 1 ? nodes_[1].first : entries_.size(), visit);
  }

 private:
  struct Node {
    int shift;
    std::uint64_t mask;
    std::size_t first;  // of its entries
    std::size_t entry;  // that it divides
  };
  struct Entry {
    std::uint32_t node = 0;  // that it has been divided by; none is divided by the root
    std::uint32_t in_node = 0;
  };

  template <typename Visit>
  void visit_from(std::size_t begin, std::size_t end, const Visit& visit) const {
    for (std::size_t entry = begin; entry < end; ++entry) {
      if (const std::uint32_t node = entries_[entry].node) {
        visit_from(nodes_[node].first, nodes_[node].first + nodes_[node].mask + 1, visit);
      } else {
        visit(entry);
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
};

template <typename Stored, typename Payload>
class Distributor {
 public:
  using RecordHere = Record<Stored, Payload>;

  // Of up to `capacity` nonzeros each.
  Distributor(const Task& task, const ChunkReader<Payload>& reader, std::int64_t capacity)
      : task_(task), reader_(reader), capacity_(capacity) {}

  // Those of chunks that have been distributed are at their places.
  const RecordHere* records() const { return records_.data(); }

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

  // From the input to the records, by digits that leave chunks that fit.
  void distribute(const Chunk& chunk, std::vector<Chunk>& chunks) {
    DigitTree tree = tree_for(chunk);
    std::vector<Part> parts = parts_of(chunk);
    for (std::size_t counted = 0; counted < tree.size();) {
      for_parts(parts, [&](Part& part) { count_buckets(chunk, tree, counted, part); });
      counted = tree.size();
      divide_large(tree, kMaxExcess * capacity_, [&](std::size_t bucket) {
        std::int64_t count = 0;
        for (const Part& part : parts) count += part.buckets[bucket];
        return count;
      });
    }

    const int shift = tree.shift(0);
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

  // Any part of what has no bits to sort will do.
  void cut(Chunk chunk, std::vector<Chunk>& chunks) const {
    const std::int64_t end = chunk.end;
    while (chunk.begin < end) {
      chunk.end = std::min(chunk.begin + capacity_, end);
      chunks.push_back(chunk);
      chunk.begin = chunk.end;
    }
  }

 private:
  static constexpr std::int64_t kMaxBuckets = 4096;
  // What is a few times too large sorts slower, but to divide it takes another look at all keys.
  static constexpr std::int64_t kMaxExcess = 4;

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

  // Divided as a sample of the keys suggests. Where it has missed a large bucket, counting all of
  // them finds it, but each time that takes as long as a pass of the sort.
  DigitTree tree_for(const Chunk& chunk) const {
    const std::uint64_t max_key =
        chunk.bits == task_.key.bits ? task_.key.max : low_bits(chunk.bits);
    DigitTree tree(digit_shift(chunk.count(), chunk.bits, max_key), max_key);
    const std::vector<std::uint64_t> sample = sample_of(chunk);
    const std::int64_t weight = chunk.count() / static_cast<std::int64_t>(sample.size());
    std::vector<std::int64_t> counts;
    while (counts.size() < tree.size()) {
      counts.assign(tree.size(), 0);
      for (const std::uint64_t key : sample) counts[tree.find(key)] += weight;
      divide_large(tree, kMaxExcess / 2 * capacity_,
                   [&](std::size_t bucket) { return counts[bucket]; });
    }
    return tree;
  }

  std::vector<std::uint64_t> sample_of(const Chunk& chunk) const {
    constexpr std::int64_t kBlocks = 1 << 10;
    constexpr std::int64_t kEach = 1 << 6;
    std::vector<std::uint64_t> sample;
    const std::int64_t step = std::max(chunk.count() / kBlocks, kEach);
    for (std::int64_t begin = chunk.begin; begin < chunk.end; begin += step) {
      reader_.for_blocks(chunk, begin, std::min(begin + kEach, chunk.end), 0,
                         [&](std::int64_t, std::span<const std::uint64_t> keys) {
                           sample.insert(sample.end(), keys.begin(), keys.end());
                         });
    }
    return sample;
  }

  template <typename CountOf>
  void divide_large(DigitTree& tree, std::int64_t limit, const CountOf& count_of) const {
    const std::size_t size = tree.size();
    for (std::size_t bucket = 0; bucket < size; ++bucket) {
      const int shift = tree.shift(bucket);
      if (!tree.is_bucket(bucket) || shift <= task_.sorted.low) continue;
      const std::int64_t count = count_of(bucket);
      if (count > limit) tree.divide(bucket, digit_shift(count, shift, low_bits(shift)));
    }
  }

  template <typename Work>
  void for_parts(std::vector<Part>& parts, const Work& work) const {
    const auto count = static_cast<std::int64_t>(parts.size());
    cpu::parallel_ranges(task_.threads, count, count, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) work(parts[static_cast<std::size_t>(begin)]);
    });
  }

  // Of the buckets from `first` on; those before have been counted.
  void count_buckets(const Chunk& chunk, const DigitTree& tree, std::size_t first,
                     Part& part) const {
    part.buckets.resize(tree.size());
    if (tree.is_divided()) {
      reader_.for_blocks(chunk, part.begin, part.end, 0,
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
    reader_.for_blocks(chunk, part.begin, part.end, shift,
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
    reader_.for_blocks(
        chunk, part.begin, part.end, 0,
        [&](std::int64_t first, std::span<const std::uint64_t> keys) {
          if (tree.is_divided()) {
            lines.add(
                keys, mask, [&tree](std::uint64_t key) { return tree.find(key); },
                reader_.payloads_from(first));
          } else {
            lines.add(
                keys, mask,
                [shift](std::uint64_t key) { return static_cast<std::size_t>(key >> shift); },
                reader_.payloads_from(first));
          }
        });
    lines.finish();
  }

  const Task& task_;
  const ChunkReader<Payload>& reader_;
  const std::int64_t capacity_;
  Buffer<RecordHere> records_;
};

}  // namespace ttlg::sparse::radix
