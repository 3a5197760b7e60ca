// Records on their way to many places at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "cpu/simd_level.hpp"
#include "sparse/buffer.hpp"

namespace ttlg::sparse::radix {

// Collects the records of each bucket until they fill lines, which are written around the caches.
// To write each record to its place at once takes three times as long: there are more buckets than
// a processor has lines, and pages, that it can write to at a time.
template <typename Record>
class BucketLines {
 public:
  // Bucket b has places from next[b] on. `to` begins at a line.
  BucketLines(std::span<std::int64_t> next, Record* to, cpu::ResultPool& pool)
      : next_(next), first_(next.begin(), next.end()), to_(to), lines_(next.size(), pool) {}

  // Puts keys[j], of which the bits in `mask` are stored, with payload_at(j) into the bucket
  // bucket_of(keys[j]). Functions come by value and members are copied, because what is written
  // could be any of them as far as the compiler knows.
  template <typename BucketOf, typename PayloadAt>
  void add(std::span<const std::uint64_t> keys, std::uint64_t mask, const BucketOf bucket_of,
           const PayloadAt payload_at) {
    std::int64_t* const next = next_.data();
    Lines* const lines = lines_.data();
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const std::uint64_t key = keys[j];
      const std::size_t bucket = bucket_of(key);
      const std::int64_t place = next[bucket]++;
      const std::size_t slot = static_cast<std::size_t>(place) % kCount;
      Record& record = lines[bucket].records[slot];
      record.key = static_cast<decltype(record.key)>(key & mask);
      record.payload = payload_at(j);
      if (slot == kCount - 1) write(bucket, place + 1);
    }
  }

  // Writes what is left.
  void finish() {
    for (std::size_t bucket = 0; bucket < next_.size(); ++bucket) {
      if (static_cast<std::size_t>(next_[bucket]) % kCount != 0) copy(bucket, next_[bucket]);
    }
    table_.fence();
  }

 private:
  // As many as fill one line or a few.
  static constexpr std::size_t kCount =
      std::max(std::size_t{8}, 64 / std::gcd(std::size_t{64}, sizeof(Record)));
  struct alignas(64) Lines {
    Record records[kCount];
  };

  // What is before the bucket's first place belongs to another bucket, or to another thread.
  void write(std::size_t bucket, std::int64_t end) {
    const std::int64_t begin = end - static_cast<std::int64_t>(kCount);
    if (begin < first_[bucket]) return copy(bucket, end);
    table_.stream(reinterpret_cast<std::byte*>(to_ + begin),
                  reinterpret_cast<const std::byte*>(lines_[bucket].records),
                  sizeof lines_[bucket].records);
  }

  void copy(std::size_t bucket, std::int64_t end) const {
    const std::int64_t lines_begin = (end - 1) - (end - 1) % static_cast<std::int64_t>(kCount);
    const std::int64_t begin = std::max(first_[bucket], lines_begin);
    std::copy_n(lines_[bucket].records + (begin - lines_begin), end - begin, to_ + begin);
  }

  const std::span<std::int64_t> next_;
  const std::vector<std::int64_t> first_;
  Record* const to_;
  Buffer<Lines> lines_;
  const cpu::Kernels& table_ = cpu::kernels();
};

}  // namespace ttlg::sparse::radix
