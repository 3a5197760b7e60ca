
#include <gtest/gtest.h>

#include "plan/sparse/predict.hpp"
#include "sparse/sorts.hpp"
#include "sparse/tensor.hpp"

namespace ttlg::sparse {
namespace {

// What both ways write to, and the task of filling it.
template <typename Index>
struct Case {
  Case(const Tensor<Index>& from, const std::vector<int>& perm, bool in_rows, bool out_rows,
       int sorted_modes, int threads)
      : tensor(from), result(from) {
    constexpr bool kWide = sizeof(Index) == 8;
    const Problem problem{.extents = from.extents,
                          .perm = perm,
                          .nonzeros = static_cast<std::int64_t>(from.count()),
                          .value_bytes = from.value_bytes,
                          .in_index_bytes = sizeof(Index),
                          .out_index_bytes = sizeof(Index),
                          .in_rows = in_rows,
                          .out_rows = out_rows};
    plan = make_plan(problem, Algorithm::automatic, sorted_modes, threads, 1 << 14);
    plan.threads = threads;
    rows = row_pointers(in_rows ? tensor.modes[0] : std::vector<Index>(), from.extents[0]);
    const auto out_extent = from.extents[static_cast<std::size_t>(perm[0])];
    new_rows.resize(static_cast<std::size_t>(out_extent) + 1);
    for (const auto& mode : tensor.modes) input.modes.push_back({mode.data(), kWide});
    for (auto& mode : result.modes) output.modes.push_back({mode.data(), kWide});
    input.values = memory_of(tensor.values);
    output.values = memory_of(result.values);
    if (in_rows) {
      input.modes[0] = {};
      input.row_pointers = {rows.data(), kWide};
    }
    if (out_rows) {
      output.modes[0] = {};
      output.row_pointers = {new_rows.data(), kWide};
    }
  }

  // Returns what `way` does with the task.
  template <typename Way>
  auto run(const Way& way) {
    for (auto& mode : result.modes) std::ranges::fill(mode, Index{-1});
    std::ranges::fill(new_rows, Index{-1});
    std::ranges::fill(result.values, std::byte{0xA5});
    const KeyReader reader(plan.key, input, tensor.extents[0]);
    return way(Task{.key = plan.key,
                    .sorted = plan.sorted,
                    .reader = reader,
                    .count = plan.problem.nonzeros,
                    .rows = static_cast<std::int64_t>(new_rows.size()) - 1,
                    .values = input.values,
                    .value_bytes = tensor.value_bytes,
                    .output = output,
                    .threads = plan.threads,
                    .cache_bytes = plan.cache_bytes,
                    .pool = pool()});
  }

  Tensor<Index> tensor;
  Tensor<Index> result;
  std::vector<Index> rows;
  std::vector<Index> new_rows;
  Input input;
  Output output;
  Plan plan;
};

template <typename Index>
void expect_same(const Tensor<Index>& tensor, const std::vector<int>& perm, bool in_rows,
                 bool out_rows, int sorted_modes) {
  const Tensor<Index> wanted = expected(tensor, perm);
  for (const int threads : {1, 2, 3}) {
    Case<Index> both(tensor, perm, in_rows, out_rows, sorted_modes, threads);
    for (const auto way : {&counting_scatter, &radix_sort}) {
      both.run(way);
      EXPECT_TRUE(both.result.values == wanted.values);
      for (std::size_t mode = out_rows ? 1 : 0; mode < perm.size(); ++mode) {
        if (wanted.extents[mode] == 1) continue;  // left to the executor
        EXPECT_TRUE(both.result.modes[mode] == wanted.modes[mode]);
      }
      if (out_rows) {
        EXPECT_EQ(both.new_rows, row_pointers(wanted.modes[0], wanted.extents[0]));
      }
    }
  }
}

TEST(CountingScatter, MatricesOfRows) {
  for (const std::int64_t bytes : {0, 1, 3, 4, 8, 16, 24}) {
    expect_same(sorted(random_tensor<std::int32_t>({300, 200}, 4000, bytes)), {1, 0}, true, true,
                1);
    expect_same(sorted(random_tensor<std::int64_t>({9, 5000}, 4000, bytes)), {1, 0}, true, true, 1);
  }
}

TEST(CountingScatter, OneRowOrColumn) {
  for (const auto& extents : {std::vector<std::int64_t>{1, 700}, {700, 1}, {1, 1}}) {
    const auto matrix = sorted(random_tensor<std::int32_t>(extents, 500));
    expect_same(matrix, {1, 0}, false, true, 2);
    if (extents[1] > 1) expect_same(matrix, {1, 0}, true, true, 1);
  }
}

TEST(CountingScatter, RowsToCoordinatesAndBack) {
  const auto matrix = sorted(random_tensor<std::int32_t>({300, 200}, 4000));
  expect_same(matrix, {1, 0}, true, false, 1);
  expect_same(matrix, {1, 0}, false, true, 2);
  expect_same(random_tensor<std::int32_t>({300, 200}, 4000), {1, 0}, false, true, 0);
}

TEST(CountingScatter, Tensors) {
  const auto tensor = random_tensor<std::int32_t>({30, 1, 20, 10}, 4000);
  for (const auto& perm : {std::vector{3, 0, 1, 2}, {2, 3, 0, 1}, {3, 2, 0, 1}}) {
    expect_same(sorted(tensor), perm, false, false, 4);
    expect_same(tensor, perm, false, false, 0);
  }
}

// Neighbours of a band come back to the columns of the rows before them.
Tensor<std::int32_t> band(std::int64_t rows, std::int64_t width) {
  std::mt19937_64 random(7);
  auto matrix = make_tensor<std::int32_t>({rows, rows}, static_cast<std::size_t>(10 * rows), 8,
                                          [](std::size_t) { return 0; });
  for (std::size_t i = 0; i < matrix.count(); ++i) {
    const auto row = static_cast<std::int64_t>(i / 10);
    const auto offset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width));
    matrix.modes[0][i] = static_cast<std::int32_t>(row);
    matrix.modes[1][i] = static_cast<std::int32_t>((row + offset) % rows);
  }
  return matrix;
}

TEST(CountingScatter, IsForNeighboursWithTheSameKey) {
  const auto share = [](const Tensor<std::int32_t>& matrix) {
    Case<std::int32_t> each(matrix, {1, 0}, true, true, 1, 1);
    each.plan.cache_bytes = 1 << 16;
    EXPECT_TRUE(may_scatter(each.plan));
    const double found = each.run(
        [&](const Task& task) { return scattered_share(task, sampled_window(each.plan)); });
    // Whichever is chosen, the result is the same.
    EXPECT_TRUE(transposed(matrix, {1, 0}, {.in_rows = true, .out_rows = true}).values ==
                expected(matrix, {1, 0}).values);
    return std::pair(found, prefers_scatter(each.plan, found));
  };
  const auto narrow = share(band(20000, 20));
  const auto wide = share(band(20000, 20000));
  EXPECT_LT(narrow.first, 0.2);
  EXPECT_GT(wide.first, 0.7);
  EXPECT_TRUE(narrow.second);
  EXPECT_FALSE(wide.second);
}

TEST(CountingScatter, NeedsACounterForEachKey) {
  const auto matrix = sorted(random_tensor<std::int32_t>({10, 100000}, 5000));
  EXPECT_FALSE(may_scatter(Case<std::int32_t>(matrix, {1, 0}, true, true, 1, 1).plan));
  const auto tensor = sorted(random_tensor<std::int32_t>({10, 20, 30}, 5000));
  EXPECT_FALSE(may_scatter(Case<std::int32_t>(tensor, {0, 2, 1}, false, false, 3, 1).plan));
  EXPECT_FALSE(may_scatter(Case<std::int32_t>(tensor, {0, 1, 2}, false, false, 3, 1).plan));
}

}  // namespace
}  // namespace ttlg::sparse
