// Sorts what fits a cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sparse/buffer.hpp"
#include "sparse/radix/chunk.hpp"

namespace ttlg::sparse::radix {

// A stable sort of up to `capacity` records by their keys, for one thread.
template <typename Stored, typename Payload>
class ChunkSort {
 public:
  using ArraysHere = Arrays<Stored, Payload>;
  using RecordHere = Record<Stored, Payload>;

  ChunkSort(std::size_t capacity, cpu::ResultPool& pool)
      : keys_(2 * capacity, pool),
        payloads_(2 * capacity, pool),
        counts_((64 / kMaxDigitBits + 1) << kMaxDigitBits, pool),
        capacity_(capacity) {}

  // Where arrays may be that are to be sorted.
  ArraysHere space() const { return {keys_.data(), payloads_.data()}; }

  // Sorts by `bits` bits from `low` on; those above are the same. The result is in the sorter's own
  // arrays.
  ArraysHere sort(const RecordHere* records, std::size_t count, int low, int bits) const {
    const ArraysHere to = space();
    if (bits <= 0 || count <= kInsertionLimit) {
      for (std::size_t j = 0; j < count; ++j) {
        to.keys[j] = records[j].key;
        to.payloads[j] = records[j].payload;
      }
      return sort(to, count, low, bits);
    }
    const Digits digits(count, low, bits);
    count_digits(digits, count, [=](std::size_t j) {
      __builtin_prefetch(records + j + kReadAhead);
      return records[j].key;
    });
    distribute(
        digits, 0, count, [=](std::size_t j) { return records[j].key; },
        [=](std::size_t j) { return records[j].payload; }, to);
    return sort_from(digits, 1, count, to);
  }

  ArraysHere sort(ArraysHere arrays, std::size_t count, int low, int bits) const {
    if (bits <= 0) return arrays;
    if (count <= kInsertionLimit) return insert(arrays, count, low);
    const Digits digits(count, low, bits);
    count_digits(digits, count, [=](std::size_t j) { return arrays.keys[j]; });
    return sort_from(digits, 0, count, arrays);
  }

 private:
  static constexpr std::size_t kInsertionLimit = 24;
  static constexpr int kMinDigitBits = 4;
  static constexpr int kMaxDigitBits = 14;
  // How many records ahead the lines are asked for that one will be written to: there may be more
  // than L1 holds.
  static constexpr std::size_t kAhead = 16;
  // How many records ahead one is asked for that is read for the first time, from memory.
  static constexpr std::size_t kReadAhead = 2048 / sizeof(RecordHere);

  // Few records get short digits, whose counters take less time than they.
  struct Digits {
    Digits(std::size_t count, int low_bit, int key_bits) : low(low_bit) {
      const int limit =
          std::clamp(static_cast<int>(std::bit_width(count)) - 3, kMinDigitBits, kMaxDigitBits);
      passes = (key_bits + limit - 1) / limit;
      bits = (key_bits + passes - 1) / passes;
    }
    int shift(int pass) const { return low + pass * bits; }
    std::size_t values() const { return std::size_t{1} << bits; }

    int low;
    int passes;
    int bits;
  };

  ArraysHere other_space(ArraysHere arrays) const {
    return arrays.keys == keys_.data() ? space().from(capacity_) : space();
  }

  ArraysHere insert(ArraysHere arrays, std::size_t count, int low) const {
    for (std::size_t j = 1; j < count; ++j) {
      const Stored key = arrays.keys[j];
      const Payload payload = arrays.payloads[j];
      std::size_t i = j;
      for (; i > 0 && (arrays.keys[i - 1] >> low) > (key >> low); --i) {
        arrays.keys[i] = arrays.keys[i - 1];
        arrays.payloads[i] = arrays.payloads[i - 1];
      }
      arrays.keys[i] = key;
      arrays.payloads[i] = payload;
    }
    return arrays;
  }

  std::uint32_t* counts(const Digits& digits, int pass) const {
    return counts_.data() + static_cast<std::size_t>(pass) * digits.values();
  }

  // Of all passes at once.
  template <typename KeyAt>
  void count_digits(const Digits& digits, std::size_t count, const KeyAt key_at) const {
    const std::size_t mask = digits.values() - 1;
    std::fill(counts(digits, 0), counts(digits, digits.passes), 0u);
    for (int pass = 0; pass < digits.passes; ++pass) {
      std::uint32_t* const to = counts(digits, pass);
      const int shift = digits.shift(pass);
      for (std::size_t j = 0; j < count; ++j) ++to[(key_at(j) >> shift) & mask];
    }
  }

  template <typename KeyAt, typename PayloadAt>
  void distribute(const Digits& digits, int pass, std::size_t count, const KeyAt key_at,
                  const PayloadAt payload_at, const ArraysHere to) const {
    std::uint32_t* const next = counts(digits, pass);
    std::uint32_t sum = 0;
    for (std::size_t digit = 0; digit < digits.values(); ++digit) {
      sum += std::exchange(next[digit], sum);
    }
    const std::size_t mask = digits.values() - 1;
    const int shift = digits.shift(pass);
    const auto put = [=](std::size_t j) {
      const Stored key = key_at(j);
      const std::uint32_t place = next[(key >> shift) & mask]++;
      to.keys[place] = key;
      to.payloads[place] = payload_at(j);
    };
    std::size_t j = 0;
    for (; j + kAhead < count; ++j) {
      const std::uint32_t place = next[(key_at(j + kAhead) >> shift) & mask];
      __builtin_prefetch(to.keys + place, 1);
      __builtin_prefetch(to.payloads + place, 1);
      put(j);
    }
    for (; j < count; ++j) put(j);
  }

  ArraysHere sort_from(const Digits& digits, int pass, std::size_t count, ArraysHere arrays) const {
    for (; pass < digits.passes; ++pass) {
      const ArraysHere to = other_space(arrays);
      distribute(
          digits, pass, count, [=](std::size_t j) { return arrays.keys[j]; },
          [=](std::size_t j) { return arrays.payloads[j]; }, to);
      arrays = to;
    }
    return arrays;
  }

  Buffer<Stored> keys_;
  Buffer<Payload> payloads_;
  Buffer<std::uint32_t> counts_;
  std::size_t capacity_;
};

}  // namespace ttlg::sparse::radix
