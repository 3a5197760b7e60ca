#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/keys.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse {
namespace {

using Numbers = Buffer<std::int64_t>;

// One mode, or some of the bits of its coordinates where it is too long to have a counter for each:
// counters take no more memory than the numbers of the nonzeros do.
struct Digit {
  const Indices& indices;
  int shift = 0;
  int bits = 0;

  std::size_t values() const { return std::size_t{1} << bits; }
  std::size_t of(std::int64_t number) const {
    return with_type(indices, [&](const auto* from) {
      return (static_cast<std::size_t>(from[number]) >> shift) & (values() - 1);
    });
  }
};

// Calls pass(digit) for the digits of a mode, the least significant first.
template <typename Pass>
void for_digits(const Problem& problem, const Input& input, int out_mode, const Pass& pass) {
  const auto mode = static_cast<std::size_t>(problem.perm[static_cast<std::size_t>(out_mode)]);
  const int bits = bits_of(problem.extents[mode]);
  const int limit =
      std::max(8, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(problem.nonzeros))));
  for (int shift = 0; shift < bits; shift += limit) {
    pass(Digit{input.modes[mode], shift, std::min(limit, bits - shift)});
  }
}

// A counting sort. Returns where the slices of equal digits end.
std::vector<std::int64_t> count_by(const Digit& digit, const Numbers& from, const Numbers& to,
                                   std::size_t count) {
  std::vector<std::int64_t> next(digit.values());
  for (std::size_t i = 0; i < count; ++i) ++next[digit.of(from[i])];
  std::int64_t sum = 0;
  for (std::int64_t& begin : next) sum += std::exchange(begin, sum);
  for (std::size_t i = 0; i < count; ++i) {
    to[static_cast<std::size_t>(next[digit.of(from[i])]++)] = from[i];
  }
  return next;
}

// A bucket sort: buckets are lists, linked through `links`, which are then read in their order.
void bucket_by(const Digit& digit, const Numbers& from, const Numbers& links, const Numbers& to,
               std::size_t count) {
  std::vector<std::int64_t> last(digit.values(), -1);  // a ring: it links to the first
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t& bucket = last[digit.of(from[i])];
    const auto here = static_cast<std::int64_t>(i);
    if (bucket < 0) {
      links[i] = here;
    } else {
      links[i] = std::exchange(links[static_cast<std::size_t>(bucket)], here);
    }
    bucket = here;
  }
  std::size_t place = 0;
  for (const std::int64_t end : last) {
    if (end < 0) continue;
    std::int64_t at = end;
    do {
      at = links[static_cast<std::size_t>(at)];
      to[place++] = from[static_cast<std::size_t>(at)];
    } while (at != end);
  }
}

// What quicksorts compare: as much of the key as fits, the modes after that, and the number, which
// makes them stable.
struct Entry {
  std::uint64_t key;
  std::int64_t number;
};

class Entries {
 public:
  Entries(const Problem& problem, const Input& input) : problem_(problem), input_(input) {
    int bits = 0;
    std::vector<int> modes;
    for (int mode = 0; mode < problem.rank(); ++mode) {
      bits += bits_of(
          problem.extents[static_cast<std::size_t>(problem.perm[static_cast<std::size_t>(mode)])]);
      if (bits > kMaxKeyBits) break;
      modes.push_back(mode);
    }
    rest_ = static_cast<int>(modes.size());
    key_ = key_of(problem, modes);
  }

  void read(const Numbers& numbers, std::size_t count, Entry* entries) const {
    const KeyReader reader(key_, input_, problem_.extents[0], numbers.data());
    std::uint64_t keys[kBlock];
    std::int64_t row = 0;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
      const std::size_t size = std::min<std::size_t>(kBlock, count - begin);
      reader.read(static_cast<std::int64_t>(begin), {keys, size}, 0, row);
      for (std::size_t j = 0; j < size; ++j) entries[begin + j] = {keys[j], numbers[begin + j]};
    }
  }

  bool operator()(const Entry& x, const Entry& y) const {
    if (x.key != y.key) return x.key < y.key;
    for (int mode = rest_; mode < problem_.rank(); ++mode) {
      const auto in_mode = static_cast<std::size_t>(problem_.perm[static_cast<std::size_t>(mode)]);
      const std::int64_t difference = with_type(input_.modes[in_mode], [&](const auto* indices) {
        return static_cast<std::int64_t>(indices[x.number]) - indices[y.number];
      });
      if (difference != 0) return difference < 0;
    }
    return x.number < y.number;
  }

 private:
  const Problem& problem_;
  const Input& input_;
  Key key_;
  int rest_ = 0;
};

// Merges neighbours in `runs`, each by several threads: where one of them is cut, so is the other.
void merge_runs(std::vector<std::int64_t>& runs, Entry* from, Entry* to, const Entries& less,
                int threads) {
  struct Piece {
    std::int64_t begin[2], end[2], place;
  };
  std::vector<Piece> pieces;
  std::vector<std::int64_t> merged{0};
  for (std::size_t run = 0; run + 1 < runs.size(); run += 2) {
    const std::int64_t begin = runs[run];
    const std::int64_t middle = runs[run + 1];
    const std::int64_t end = run + 2 < runs.size() ? runs[run + 2] : middle;
    std::int64_t cut[2] = {begin, middle};
    for (int piece = 1; piece <= threads; ++piece) {
      const std::int64_t x = begin + (middle - begin) * piece / threads;
      const std::int64_t y = piece < threads && x < middle
                                 ? std::lower_bound(from + middle, from + end, from[x], less) - from
                                 : end;
      pieces.push_back({{cut[0], cut[1]}, {x, y}, cut[0] + cut[1] - middle});
      cut[0] = x;
      cut[1] = y;
    }
    merged.push_back(end);
  }
  const auto count = static_cast<std::int64_t>(pieces.size());
  cpu::parallel_ranges(threads, count, count, [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) {
      const Piece& piece = pieces[static_cast<std::size_t>(first)];
      std::merge(from + piece.begin[0], from + piece.end[0], from + piece.begin[1],
                 from + piece.end[1], to + piece.place, less);
    }
  });
  runs = std::move(merged);
}

void quicksort(const Problem& problem, const Input& input, const Numbers& numbers, int threads,
               cpu::ResultPool& pool) {
  const auto count = static_cast<std::size_t>(problem.nonzeros);
  const Entries less(problem, input);
  Buffer<Entry> entries(count, pool);
  less.read(numbers, count, entries.data());
  const std::int64_t parts = std::min<std::int64_t>(threads, problem.nonzeros);
  std::vector<std::int64_t> runs;
  for (std::int64_t part = 0; part <= parts; ++part) {
    runs.push_back(problem.nonzeros * part / parts);
  }
  cpu::parallel_ranges(threads, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto part = static_cast<std::size_t>(begin); part < static_cast<std::size_t>(end);
         ++part) {
      std::sort(entries.data() + runs[part], entries.data() + runs[part + 1], less);
    }
  });
  Buffer<Entry> other(parts > 1 ? count : 0, pool);
  while (runs.size() > 2) {
    merge_runs(runs, entries.data(), other.data(), less, threads);
    std::swap(entries, other);
  }
  for (std::size_t i = 0; i < count; ++i) numbers[i] = entries[i].number;
}

void sort_slices(const Problem& problem, const Input& input, std::span<const std::int64_t> ends,
                 const Numbers& numbers, cpu::ResultPool& pool) {
  const auto count = static_cast<std::size_t>(problem.nonzeros);
  const Entries less(problem, input);
  Buffer<Entry> entries(count, pool);
  less.read(numbers, count, entries.data());
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    std::sort(entries.data() + begin, entries.data() + end, less);
    begin = end;
  }
  for (std::size_t i = 0; i < count; ++i) numbers[i] = entries[i].number;
}

// Sorts by the first `modes` modes of the output, the last of them first, with a pass over all
// nonzeros for each digit.
template <typename Pass>
void sort_by_modes(const Problem& problem, const Input& input, int modes, const Pass& pass) {
  while (modes-- > 0) for_digits(problem, input, modes, pass);
}

// How many modes a stable sort needs: those after that are in order as the input has them.
int modes_out_of_order(const Problem& problem, int sorted_modes) {
  int inner = sorted_modes;
  int modes = problem.rank();
  for (; modes > 0 && problem.perm[static_cast<std::size_t>(modes - 1)] < inner; --modes) {
    inner = problem.perm[static_cast<std::size_t>(modes - 1)];
  }
  return modes;
}

}  // namespace

Buffer<std::int64_t> sorted_numbers(const Problem& problem, Algorithm algorithm, const Input& input,
                                    int sorted_modes, int threads, cpu::ResultPool& pool) {
  const auto count = static_cast<std::size_t>(problem.nonzeros);
  Numbers numbers(count, pool);
  Numbers other(count, pool);
  std::iota(numbers.data(), numbers.data() + count, std::int64_t{0});
  const auto counting_pass = [&](const Digit& digit) {
    count_by(digit, numbers, other, count);
    std::swap(numbers, other);
  };
  switch (algorithm) {
    case Algorithm::no_sort:
      sort_by_modes(problem, input, modes_out_of_order(problem, sorted_modes), counting_pass);
      break;
    case Algorithm::seq_qsort:
      quicksort(problem, input, numbers, 1, pool);
      break;
    case Algorithm::par_qsort:
      quicksort(problem, input, numbers, threads, pool);
      break;
    case Algorithm::radix_bucket: {
      Numbers links(count, pool);
      sort_by_modes(problem, input, problem.rank(), [&](const Digit& digit) {
        bucket_by(digit, numbers, links, other, count);
        std::swap(numbers, other);
      });
      break;
    }
    case Algorithm::count_radix:
      sort_by_modes(problem, input, problem.rank(), counting_pass);
      break;
    case Algorithm::count_quick: {
      std::vector<std::int64_t> ends{problem.nonzeros};  // of the slices of the first mode
      for_digits(problem, input, 0, [&](const Digit& digit) {
        ends = count_by(digit, numbers, other, count);
        std::swap(numbers, other);
      });
      sort_slices(problem, input, ends, numbers, pool);
      break;
    }
    case Algorithm::automatic:
      throw std::logic_error("'auto' moves nonzeros, not their numbers");
  }
  return numbers;
}

}  // namespace ttlg::sparse
