#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/plan.hpp"
#include "sparse/keys.hpp"
#include "sparse/transpose.hpp"

namespace ttlg::sparse {
namespace {

constexpr std::int64_t kShare = 1 << 15;

template <typename Index>
bool is_outside(Index index, std::int64_t extent) {
  return index < 0 || index >= extent;
}

// Without a branch for each index.
template <typename Index>
bool any_outside(const Index* indices, std::int64_t count, std::int64_t extent) {
  if (extent == 0) return count > 0;
  using Unsigned = std::make_unsigned_t<Index>;
  const auto last =
      static_cast<Unsigned>(std::min<std::int64_t>(extent - 1, std::numeric_limits<Index>::max()));
  unsigned outside = 0;
  for (std::int64_t i = 0; i < count; ++i) outside |= static_cast<Unsigned>(indices[i]) > last;
  return outside != 0;
}

template <typename Index>
std::string fault_in_mode(const Index* indices, std::int64_t count, std::int64_t extent, int mode) {
  const std::int64_t at = std::find_if(indices, indices + count,
                                       [&](Index index) { return is_outside(index, extent); }) -
                          indices;
  if (at == count) return {};
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

// The order of the nonzeros as they come.
class Order {
 public:
  Order(const Problem& problem, const Input& input)
      : input_(input), reader_(plan_.key, input, problem.extents[0]) {
    Problem unchanged = problem;
    unchanged.perm.resize(problem.extents.size());
    std::iota(unchanged.perm.begin(), unchanged.perm.end(), 0);
    plan_ = make_plan(unchanged, Algorithm::automatic, 0, 1, 0);
  }

  // Whether a nonzero from `begin` up to `end` comes before the one in front of it; they are fewer
  // than kBlock. `row` as for KeyReader::read.
  bool is_broken(std::int64_t begin, std::int64_t end, std::int64_t& row) const {
    if (begin > 0) --begin;
    if (!plan_.fits_key) {  // row pointers do not come so far
      for (std::int64_t i = begin + 1; i < end; ++i) {
        if (is_less(i, i - 1)) return true;
      }
      return false;
    }
    std::uint64_t keys[kBlock];
    const auto count = static_cast<std::size_t>(end - begin);
    reader_.read(begin, {keys, count}, 0, row);
    bool broken = false;
    for (std::size_t j = 1; j < count; ++j) broken |= keys[j - 1] > keys[j];
    return broken;
  }

 private:
  // Mode by mode, where no key holds all of them.
  bool is_less(std::int64_t i, std::int64_t j) const {
    for (const Indices& mode : input_.modes) {
      const auto difference = with_type(mode, [&](const auto* indices) {
        return indices[i] < indices[j] ? -1 : indices[i] > indices[j] ? 1 : 0;
      });
      if (difference != 0) return difference < 0;
    }
    return false;
  }

  const Input& input_;
  Plan plan_;  // for its key
  KeyReader reader_;
};

// Whether any coordinate from `begin` up to `end` is outside the shape.
bool any_outside(const Problem& problem, const Input& input, std::int64_t begin, std::int64_t end) {
  for (std::size_t mode = 0; mode < input.modes.size(); ++mode) {
    const bool any = input.modes[mode] && with_type(input.modes[mode], [&](const auto* indices) {
                       return any_outside(indices + begin, end - begin, problem.extents[mode]);
                     });
    if (any) return true;
  }
  return false;
}

}  // namespace

// Block by block, so that coordinates come from memory once.
Findings check(const Problem& problem, const Input& input, bool with_order, int threads) {
  std::string fault;
  if (input.row_pointers) {
    fault = with_type(input.row_pointers, [&](const auto* pointers) {
      return fault_in_rows(pointers, problem.extents[0], problem.nonzeros);
    });
    if (!fault.empty()) return {fault};
  }
  const Order order(problem, input);
  std::atomic<bool> is_outside = false;
  std::atomic<bool> is_sorted = true;
  const std::int64_t shares = (problem.nonzeros + kShare - 1) / kShare;
  cpu::parallel_ranges(threads, shares, 16, [&](std::int64_t share, std::int64_t last) {
    const std::int64_t end = std::min(last * kShare, problem.nonzeros);
    std::int64_t row = 0;
    std::int64_t block_end = 0;
    for (std::int64_t begin = share * kShare; begin < end; begin = block_end) {
      block_end = std::min<std::int64_t>(begin + kBlock - 1, end);
      if (any_outside(problem, input, begin, block_end)) is_outside = true;
      if (is_outside.load(std::memory_order_relaxed)) return;
      if (with_order && is_sorted.load(std::memory_order_relaxed) &&
          order.is_broken(begin, block_end, row)) {
        is_sorted = false;
      }
    }
  });
  for (std::size_t mode = 0; is_outside && fault.empty(); ++mode) {
    if (!input.modes[mode]) continue;
    fault = with_type(input.modes[mode], [&](const auto* indices) {
      return fault_in_mode(indices, problem.nonzeros, problem.extents[mode],
                           static_cast<int>(mode));
    });
  }
  return {fault, is_sorted};
}

}  // namespace ttlg::sparse
