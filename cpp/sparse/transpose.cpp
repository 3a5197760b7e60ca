#include "sparse/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "cpu/threads/threads.hpp"
#include "plan/sparse/predict.hpp"
#include "sparse/buffer.hpp"
#include "sparse/keys.hpp"
#include "sparse/sorts.hpp"

namespace ttlg::sparse {
namespace {

using Numbers = Buffer<std::int64_t>;

// Calls work(begin, end) for parts of the nonzeros.
template <typename Work>
void for_nonzeros(const Plan& plan, const Work& work) {
  cpu::parallel_ranges(plan.threads, plan.problem.nonzeros, 16, work);
}

// Modes of one coordinate, which keys leave out.
void fill_with_zeros(const Problem& problem, const Output& output) {
  for (std::size_t mode = 0; mode < output.modes.size(); ++mode) {
    const NewIndices& indices = output.modes[mode];
    if (!indices || problem.extents[static_cast<std::size_t>(problem.perm[mode])] > 1) continue;
    std::memset(indices.data, 0,
                static_cast<std::size_t>(problem.nonzeros * (indices.is_wide ? 8 : 4)));
  }
}

Task make_task(const Plan& plan, const Key& key, SortedBits sorted, const KeyReader& reader,
               const Input& input, const Output& output, cpu::ResultPool& pool) {
  return {.key = key,
          .sorted = sorted,
          .reader = reader,
          .count = plan.problem.nonzeros,
          .rows = plan.problem.extents[static_cast<std::size_t>(plan.problem.perm[0])],
          .values = input.values,
          .value_bytes = plan.problem.value_bytes,
          .output = output,
          .threads = plan.threads,
          .cache_bytes = plan.cache_bytes,
          .pool = pool};
}

// Where 64 bits are too few: several times by as many modes as fit, the last modes first.
Numbers numbers_by_parts(const Plan& plan, const Input& input, const Output& output,
                         cpu::ResultPool& pool) {
  const auto count = static_cast<std::size_t>(plan.problem.nonzeros);
  Numbers numbers(count, pool);
  Numbers other(count, pool);
  std::iota(numbers.data(), numbers.data() + count, std::int64_t{0});
  for (int end = plan.problem.rank(); end > 0;) {
    std::vector<int> modes;
    int bits = 0;
    for (int mode = end - 1; mode >= 0; --mode) {
      bits += bits_of(plan.problem.extents[static_cast<std::size_t>(
          plan.problem.perm[static_cast<std::size_t>(mode)])]);
      if (bits > kMaxKeyBits) break;
      modes.insert(modes.begin(), mode);
    }
    end -= static_cast<int>(modes.size());
    const Key key = key_of(plan.problem, modes);
    const KeyReader reader(key, input, plan.problem.extents[0], numbers.data());
    Task task = make_task(plan, key, {0, key.bits}, reader, input, output, pool);
    task.order = other.data();
    radix_sort(task);
    std::swap(numbers, other);
  }
  return numbers;
}

void gather(const Plan& plan, const Input& input, const Numbers& numbers, const Output& output) {
  const Problem& problem = plan.problem;
  for (std::size_t mode = 0; mode < output.modes.size(); ++mode) {
    const Indices& from = input.modes[static_cast<std::size_t>(problem.perm[mode])];
    const NewIndices& to = output.modes[mode];
    if (!to) continue;
    with_type(from, [&](const auto* indices) {
      with_type(to, [&](auto* new_indices) {
        for_nonzeros(plan, [&](std::int64_t begin, std::int64_t end) {
          for (; begin < end; ++begin) {
            new_indices[begin] = static_cast<std::remove_reference_t<decltype(*new_indices)>>(
                indices[numbers[static_cast<std::size_t>(begin)]]);
          }
        });
      });
    });
  }
  for_nonzeros(plan, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t bytes = problem.value_bytes;
    for (; begin < end; ++begin) {
      std::memcpy(output.values + begin * bytes,
                  input.values + numbers[static_cast<std::size_t>(begin)] * bytes,
                  static_cast<std::size_t>(bytes));
    }
  });
}

void gather_row_pointers(const Problem& problem, const Input& input, const Numbers& numbers,
                         const Output& output) {
  const auto mode = static_cast<std::size_t>(problem.perm[0]);
  with_type(input.modes[mode], [&](const auto* indices) {
    with_type(output.row_pointers, [&](auto* pointers) {
      const std::int64_t rows = problem.extents[mode];
      std::fill_n(pointers, rows + 1, 0);
      for (std::int64_t i = 0; i < problem.nonzeros; ++i) {
        ++pointers[static_cast<std::int64_t>(indices[numbers[static_cast<std::size_t>(i)]]) + 1];
      }
      std::partial_sum(pointers, pointers + rows + 1, pointers);
    });
  });
}

// Coordinates instead of row pointers.
Buffer<std::int64_t> rows_of(const Problem& problem, const Indices& row_pointers,
                             cpu::ResultPool& pool) {
  Buffer<std::int64_t> rows(static_cast<std::size_t>(problem.nonzeros), pool);
  with_type(row_pointers, [&](const auto* pointers) {
    for (std::int64_t row = 0; row < problem.extents[0]; ++row) {
      std::fill(rows.data() + pointers[row], rows.data() + pointers[row + 1], row);
    }
  });
  return rows;
}

}  // namespace

void transpose(const Plan& plan, const Input& given, const Output& output, cpu::ResultPool& pool) {
  const bool has_none = plan.problem.nonzeros == 0;
  if (has_none || (plan.fits_key && plan.algorithm == Algorithm::automatic)) {
    const KeyReader reader(plan.key, given, plan.problem.extents[0]);
    const Task task = make_task(plan, plan.key, plan.sorted, reader, given, output, pool);
    if (may_scatter(plan) && prefers_scatter(plan, scattered_share(task, sampled_window(plan)))) {
      counting_scatter(task);
    } else {
      radix_sort(task);
    }
    fill_with_zeros(plan.problem, output);
    return;
  }
  Input input = given;
  Buffer<std::int64_t> rows;
  if (given.row_pointers) {
    rows = rows_of(plan.problem, given.row_pointers, pool);
    input.modes[0] = {rows.data(), true};
    input.row_pointers = {};
  }
  const Numbers numbers = plan.algorithm == Algorithm::automatic
                              ? numbers_by_parts(plan, input, output, pool)
                              : sorted_numbers(plan.problem, plan.algorithm, input,
                                               plan.sorted_modes, plan.threads, pool);
  gather(plan, input, numbers, output);
  if (output.row_pointers) gather_row_pointers(plan.problem, input, numbers, output);
}

}  // namespace ttlg::sparse
