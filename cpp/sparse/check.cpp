#include "sparse/check.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/key.hpp"
#include "sparse/keys.hpp"

namespace ttlg::sparse {
namespace {

constexpr std::int64_t kShare = 1 << 15;

// Whether some(begin, end) is true for any of the shares of 0..count-1.
template <typename Some>
bool any_share(std::int64_t count, int threads, const Some& some) {
  std::atomic<bool> found = false;
  const std::int64_t shares = (count + kShare - 1) / kShare;
  cpu::parallel_ranges(threads, shares, 16, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end && !found.load(std::memory_order_relaxed); ++begin) {
      if (some(begin * kShare, std::min((begin + 1) * kShare, count))) found = true;
    }
  });
  return found;
}

template <typename Index>
bool is_outside(Index index, std::int64_t extent) {
  return index < 0 || index >= extent;
}

// Without a branch for each index.
template <typename Index>
bool any_outside(const Index* indices, std::int64_t count, std::int64_t extent) {
  using Unsigned = std::make_unsigned_t<Index>;
  const auto last =
      static_cast<Unsigned>(std::min<std::int64_t>(extent - 1, std::numeric_limits<Index>::max()));
  unsigned outside = 0;
  for (std::int64_t i = 0; i < count; ++i) outside |= static_cast<Unsigned>(indices[i]) > last;
  return outside != 0;
}

template <typename Index>
std::string fault_in_mode(const Index* indices, std::int64_t count, std::int64_t extent, int mode,
                          int threads) {
  const bool any = extent == 0 || any_share(count, threads, [&](std::int64_t begin, auto end) {
                     return any_outside(indices + begin, end - begin, extent);
                   });
  if (!any) return {};
  const std::int64_t at = std::find_if(indices, indices + count,
                                       [&](Index index) { return is_outside(index, extent); }) -
                          indices;
  return "the coordinate of nonzero " + std::to_string(at) + " in mode " + std::to_string(mode) +
         " is " + std::to_string(indices[at]) + ", and the extent there is " +
         std::to_string(extent);
}

template <typename Pointer>
std::string fault_in_rows(const Pointer* pointers, std::int64_t rows, std::int64_t nonzeros) {
  if (pointers[0] != 0) {
    return "row pointers begin with " + std::to_string(pointers[0]) + ", not with 0";
  }
  if (static_cast<std::int64_t>(pointers[rows]) != nonzeros) {
    return "row pointers end with " + std::to_string(pointers[rows]) + ", and there are " +
           std::to_string(nonzeros) + " nonzeros";
  }
  unsigned decreases = 0;
  for (std::int64_t row = 0; row < rows; ++row) decreases |= pointers[row + 1] < pointers[row];
  if (decreases == 0) return {};
  const auto* const at = std::is_sorted_until(pointers, pointers + rows + 1);
  return "row pointer " + std::to_string(at - pointers) + " is " + std::to_string(*at) +
         ", less than the one before, " + std::to_string(at[-1]);
}

// Compares neighbours mode by mode, where no key holds all of them.
bool is_out_of_order(const Input& input, std::int64_t position) {
  for (const Indices& mode : input.modes) {
    const auto difference = with_type(mode, [&](const auto* indices) {
      return indices[position] < indices[position - 1]   ? -1
             : indices[position] > indices[position - 1] ? 1
                                                         : 0;
    });
    if (difference != 0) return difference < 0;
  }
  return false;
}

}  // namespace

std::string find_fault(const Problem& problem, const Input& input, int threads) {
  if (input.row_pointers) {
    std::string fault = with_type(input.row_pointers, [&](const auto* pointers) {
      return fault_in_rows(pointers, problem.extents[0], problem.nonzeros);
    });
    if (!fault.empty()) return fault;
  }
  for (int mode = 0; problem.nonzeros > 0 && mode < problem.rank(); ++mode) {
    const auto number = static_cast<std::size_t>(mode);
    if (!input.modes[number]) continue;
    std::string fault = with_type(input.modes[number], [&](const auto* indices) {
      return fault_in_mode(indices, problem.nonzeros, problem.extents[number], mode, threads);
    });
    if (!fault.empty()) return fault;
  }
  return {};
}

bool is_sorted(const Problem& problem, const Input& input, int threads) {
  std::vector<int> modes(problem.extents.size());
  std::iota(modes.begin(), modes.end(), 0);
  Problem unchanged = problem;
  unchanged.perm = modes;
  int bits = 0;
  for (const std::int64_t extent : problem.extents) bits += bits_of(extent);
  if (bits > kMaxKeyBits) {  // row pointers do not come so far
    return !any_share(problem.nonzeros, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i) {
        if (is_out_of_order(input, i)) return true;
      }
      return false;
    });
  }
  const Key key = key_of(unchanged, modes);
  const KeyReader reader(key, input, problem.extents[0]);
  return !any_share(problem.nonzeros, threads, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t keys[kBlock];
    std::int64_t row = 0;
    std::uint64_t before = begin > 0 ? reader.at(begin - 1) : 0;
    for (; begin < end; begin += kBlock) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, end - begin));
      reader.read(begin, {keys, count}, 0, row);
      bool out_of_order = before > keys[0];
      for (std::size_t j = 1; j < count; ++j) out_of_order |= keys[j - 1] > keys[j];
      if (out_of_order) return true;
      before = keys[count - 1];
    }
    return false;
  });
}

}  // namespace ttlg::sparse
