#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/buffer.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse {
namespace {

// How many nonzeros ahead the line is asked for that one will be written to. A processor retires
// stores in order: without that, each one that misses the caches holds up those that follow.
constexpr std::size_t kAhead = 32;

// Calls function(width) with a width that the compiler knows, or with 0.
template <typename Function>
void with_width(std::int64_t bytes, const Function& function) {
  switch (bytes) {
    case 4:
      return function(std::integral_constant<std::size_t, 4>());
    case 8:
      return function(std::integral_constant<std::size_t, 8>());
    case 16:
      return function(std::integral_constant<std::size_t, 16>());
    default:
      return function(std::integral_constant<std::size_t, 0>());
  }
}

template <typename Counter>
class Scatter {
 public:
  explicit Scatter(const Task& task)
      : task_(task),
        buckets_(static_cast<std::size_t>(task.key.max >> task.sorted.low) + 1),
        next_(buckets_ * static_cast<std::size_t>(task.threads), task.pool) {}

  void run() const {
    if (is_matrix()) return with_type(task_.output.modes[1], [&](auto* to) { run_on_rows(to); });
    for_parts([&](std::span<Counter> next, std::int64_t begin, std::int64_t end) {
      std::ranges::fill(next, Counter{0});
      const int low = task_.sorted.low;
      for_blocks(begin, end, low, [=](std::int64_t, std::span<const std::uint64_t> keys) {
        for (const std::uint64_t key : keys) ++next[static_cast<std::size_t>(key >> low)];
      });
    });
    find_places();
    for_parts([&](std::span<Counter> next, std::int64_t begin, std::int64_t end) {
      for_blocks(begin, end, 0, [&](std::int64_t first, std::span<const std::uint64_t> keys) {
        move(first, keys, next);
      });
    });
  }

 private:
  // Calls work(counters, begin, end) for the part of each thread.
  template <typename Work>
  void for_parts(const Work& work) const {
    const std::int64_t parts = task_.threads;
    cpu::parallel_ranges(task_.threads, parts, 1, [&](std::int64_t part, std::int64_t last) {
      for (; part < last; ++part) {
        work(std::span(next_.data() + static_cast<std::size_t>(part) * buckets_, buckets_),
             task_.count * part / parts, task_.count * (part + 1) / parts);
      }
    });
  }

  template <typename Work>
  void for_blocks(std::int64_t begin, std::int64_t end, int low, const Work& work) const {
    std::uint64_t keys[kBlock];
    std::int64_t row = 0;
    for (; begin < end; begin += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - begin));
      task_.reader.read(begin, {keys, count}, low, row);
      work(begin, std::span<const std::uint64_t>(keys, count));
    }
  }

  // Rows to rows, with indices of one type: the most frequent case, and one that a loop of its own
  // does in two thirds of the time.
  bool is_matrix() const {
    const Input& input = task_.reader.input();
    return input.row_pointers && task_.output.row_pointers && input.modes.size() == 2 &&
           task_.key.fields.size() == 2 && task_.key.fields[0].in_mode == 1 &&
           input.modes[1].is_wide == task_.output.modes[1].is_wide;
  }

  template <typename Index>
  void run_on_rows(Index* new_columns) const {
    const auto* const columns = static_cast<const Index*>(task_.reader.input().modes[1].data);
    for_parts([=](std::span<Counter> counts, std::int64_t begin, std::int64_t end) {
      std::ranges::fill(counts, Counter{0});
      Counter* const next = counts.data();
      for (std::int64_t i = begin; i < end; ++i) ++next[columns[i]];
    });
    find_places();
    const auto move = [&](auto width) {
      for_parts([=, this](std::span<Counter> counts, std::int64_t begin, std::int64_t end) {
        Counter* const next = counts.data();
        const std::size_t bytes = width > 0 ? width : static_cast<std::size_t>(task_.value_bytes);
        const std::byte* const values = task_.values + begin * static_cast<std::int64_t>(bytes);
        std::byte* const to = task_.output.values;
        const Index* const here = columns + begin;
        const auto last = static_cast<std::size_t>(end - begin) - 1;
        task_.reader.for_rows(begin, last + 1,
                              [=](std::int64_t row, std::size_t i, std::size_t row_end) {
                                for (; i < row_end; ++i) {
                                  const std::size_t ahead = next[here[std::min(i + kAhead, last)]];
                                  __builtin_prefetch(new_columns + ahead, 1);
                                  __builtin_prefetch(to + ahead * bytes, 1);
                                  const std::size_t place = next[here[i]]++;
                                  new_columns[place] = static_cast<Index>(row);
                                  std::memcpy(to + place * bytes, values + i * bytes, bytes);
                                }
                              });
      });
    };
    with_width(task_.value_bytes, move);
  }

  // Counts become the places of the first nonzeros; where keys begin, so do rows.
  void find_places() const {
    if (!task_.output.row_pointers) return find_places([](std::uint64_t, Counter) {});
    with_type(task_.output.row_pointers, [this](auto* pointers) {
      using Pointer = std::remove_reference_t<decltype(*pointers)>;
      const int row_shift = task_.row_shift();
      const int low = task_.sorted.low;
      std::int64_t row = -1;
      find_places([=, &row](std::uint64_t bucket, Counter place) {
        const std::int64_t next_row =
            row_shift < 0 ? 0 : static_cast<std::int64_t>((bucket << low) >> row_shift);
        while (row < next_row) pointers[++row] = static_cast<Pointer>(place);
      });
      while (row < task_.rows) pointers[++row] = static_cast<Pointer>(task_.count);
    });
  }

  // Calls begin(bucket, place) for each.
  template <typename Begin>
  void find_places(const Begin& begin) const {
    Counter place = 0;
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      begin(bucket, place);
      for (std::size_t part = 0; part < static_cast<std::size_t>(task_.threads); ++part) {
        Counter& next = next_[part * buckets_ + bucket];
        place = static_cast<Counter>(place + std::exchange(next, place));
      }
    }
  }

  void move(std::int64_t first, std::span<const std::uint64_t> keys,
            std::span<Counter> next) const {
    std::int64_t places[kBlock + kAhead];
    const int low = task_.sorted.low;
    const std::size_t count = keys.size();
    for (std::size_t j = 0; j < count; ++j) {
      places[j] = static_cast<std::int64_t>(next[static_cast<std::size_t>(keys[j] >> low)]++);
    }
    std::fill_n(places + count, kAhead, places[count - 1]);
    for (const Field& field : task_.key.fields) {
      const NewIndices& mode = task_.output.modes[static_cast<std::size_t>(field.out_mode)];
      if (!mode) continue;  // row pointers instead
      with_type(mode, [&](auto* to) { move_coordinates(field.in_mode, first, count, places, to); });
    }
    with_width(task_.value_bytes, [&](auto width) {
      const std::size_t bytes = width > 0 ? width : static_cast<std::size_t>(task_.value_bytes);
      const std::byte* from = task_.values + first * task_.value_bytes;
      std::byte* const to = task_.output.values;
      for (std::size_t j = 0; j < count; ++j) {
        __builtin_prefetch(to + static_cast<std::size_t>(places[j + kAhead]) * bytes, 1);
        std::memcpy(to + static_cast<std::size_t>(places[j]) * bytes, from + j * bytes, bytes);
      }
    });
  }

  template <typename Index>
  void move_coordinates(int in_mode, std::int64_t first, std::size_t count,
                        const std::int64_t* places, Index* to) const {
    const auto put = [=](std::size_t j, auto index) {
      __builtin_prefetch(to + places[j + kAhead], 1);
      to[places[j]] = static_cast<Index>(index);
    };
    const Indices& mode = task_.reader.input().modes[static_cast<std::size_t>(in_mode)];
    if (!mode) {
      task_.reader.for_rows(first, count, [=](std::int64_t row, auto begin, auto end) {
        for (; begin < end; ++begin) put(begin, row);
      });
      return;
    }
    with_type(mode, [&](const auto* indices) {
      const auto* const from = indices + first;
      for (std::size_t j = 0; j < count; ++j) put(j, from[j]);
    });
  }

  const Task& task_;
  const std::size_t buckets_;
  const Buffer<Counter> next_;
};

}  // namespace

void counting_scatter(const Task& task) {
  if (task.count <= std::numeric_limits<std::uint32_t>::max()) {
    Scatter<std::uint32_t>(task).run();
  } else {
    Scatter<std::uint64_t>(task).run();
  }
}

double scattered_share(const Task& task, std::int64_t window) {
  if (window == 0) return 1;
  const int low = task.sorted.low;
  std::vector<std::uint64_t> seen((static_cast<std::size_t>(task.key.max >> low) >> 6) + 1);
  std::int64_t scattered = 0;
  std::uint64_t keys[kBlock];
  std::int64_t row = 0;
  for (std::int64_t number = 0; number < kSampledWindows; ++number) {
    std::ranges::fill(seen, 0);
    const std::int64_t begin = (task.count - window) / (kSampledWindows - 1) * number;
    for (std::int64_t i = 0; i < window; i += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, window - i));
      task.reader.read(begin + i, {keys, count}, low, row);
      for (const std::uint64_t key : std::span(keys, count)) {
        std::uint64_t& word = seen[static_cast<std::size_t>(key >> low >> 6)];
        const std::uint64_t bit = std::uint64_t{1} << (key >> low & 63);
        scattered += (word & bit) == 0;
        word |= bit;
      }
    }
  }
  return static_cast<double>(scattered) / static_cast<double>(window * kSampledWindows);
}

}  // namespace ttlg::sparse
