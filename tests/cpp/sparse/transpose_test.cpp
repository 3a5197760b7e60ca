#include "sparse/transpose.hpp"

#include <gtest/gtest.h>

#include <array>

#include "sparse/tensor.hpp"

namespace ttlg::sparse {
namespace {

template <typename Index>
void expect_transposed(const Tensor<Index>& tensor, const std::vector<int>& perm,
                       const Options& options) {
  SCOPED_TRACE(std::string(kAlgorithms.name(options.algorithm)) + " by " +
               std::to_string(options.threads) + " threads");
  const Tensor<Index> wanted = expected(tensor, perm);
  const Tensor<Index> result = transposed(tensor, perm, options);
  EXPECT_EQ(result.extents, wanted.extents);
  EXPECT_TRUE(result.modes == wanted.modes);
  EXPECT_TRUE(result.values == wanted.values);
}

#ifdef TTLG_SAMPLE_RUNS
constexpr std::array kThreads{3};
#else
constexpr std::array kThreads{1, 2, 5};
#endif

// By every algorithm and several numbers of threads.
template <typename Index>
void expect_transposed_by_all(const Tensor<Index>& tensor, const std::vector<int>& perm,
                              Options options = {}) {
  for (const Algorithm algorithm : kAlgorithms) {
    for (const int threads : kThreads) {
      options.algorithm = algorithm;
      options.threads = threads;
      expect_transposed(tensor, perm, options);
    }
  }
}

TEST(SparseTranspose, EveryPermutation) {
  std::vector<int> perm{0, 1, 2, 3};
  const auto tensor = random_tensor<std::int32_t>({7, 40, 3, 25}, 5000);
  const auto in_order = sorted(tensor);
  do {
    expect_transposed_by_all(tensor, perm);
    expect_transposed_by_all(in_order, perm);
  } while (std::ranges::next_permutation(perm).found);
}

TEST(SparseTranspose, WideIndicesAndKeys) {
  const std::int64_t large = std::int64_t{1} << 40;
  for (const auto& extents : std::vector<std::vector<std::int64_t>>{
           {large, 12, large}, {large, large, large}, {large, 3, large, 5, large}}) {
    const auto tensor = random_tensor<std::int64_t>(extents, 3000);
    std::vector<int> perm(extents.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
    expect_transposed_by_all(tensor, perm);
    expect_transposed_by_all(sorted(tensor), perm);
    std::swap(perm[0], perm[1]);
    expect_transposed_by_all(sorted(tensor), perm);
  }
}

TEST(SparseTranspose, ValuesOfAnyWidth) {
  for (const std::int64_t bytes : {0, 1, 2, 3, 4, 7, 8, 12, 16, 24, 100}) {
    expect_transposed_by_all(random_tensor<std::int32_t>({30, 500, 20}, 4000, bytes), {2, 0, 1});
  }
}

TEST(SparseTranspose, RowPointers) {
  for (const std::int64_t rows : {1, 3, 500, 100000}) {
    for (const std::int64_t columns : {1, 2, 900, 70000}) {
      const auto matrix = sorted(random_tensor<std::int32_t>({rows, columns}, 3000));
      for (const bool in_rows : {false, true}) {
        for (const bool out_rows : {false, true}) {
          for (const auto& perm : {std::vector{0, 1}, std::vector{1, 0}}) {
            Options options{.in_rows = in_rows, .out_rows = out_rows};
            expect_transposed_by_all(matrix, perm, options);
          }
        }
      }
    }
  }
}

TEST(SparseTranspose, UnsortedRows) {
  auto matrix = random_tensor<std::int64_t>({40, 60}, 2000);
  std::ranges::sort(matrix.modes[0]);
  for (const auto& perm : {std::vector{0, 1}, std::vector{1, 0}}) {
    expect_transposed_by_all(matrix, perm, {.in_rows = true, .out_rows = true});
  }
}

TEST(SparseTranspose, FewNonzeros) {
  for (const std::size_t count : {0, 1, 2, 23, 24, 25}) {
    const auto tensor = random_tensor<std::int32_t>({5, 1, 6}, count, 4);
    expect_transposed_by_all(tensor, {2, 1, 0});
    expect_transposed_by_all(sorted(tensor), {1, 0, 2}, {.in_rows = true, .out_rows = true});
  }
}

TEST(SparseTranspose, AllInOnePlace) {
  const auto tensor =
      make_tensor<std::int32_t>({1000, 1000, 1000}, 20000, 8, [](std::size_t) { return 7; });
  expect_transposed_by_all(tensor, {2, 1, 0});
}

// One slice has nearly all nonzeros, and of these one row, so that buckets are divided again and
// again.
TEST(SparseTranspose, Skewed) {
  std::mt19937_64 random(3);
  const std::vector<std::int64_t> extents{100000, 3000, 70000};
  const auto tensor =
      make_tensor<std::int32_t>(extents, 60000, 8, [&](std::size_t mode) -> std::uint64_t {
        const auto limit = static_cast<std::uint64_t>(extents[mode]);
        return random() % 10 != 0 && mode != 1 ? limit / 3 : random() % limit;
      });
  for (const auto& perm : {std::vector{2, 1, 0}, std::vector{0, 2, 1}, std::vector{2, 0, 1}}) {
    expect_transposed_by_all(tensor, perm);
    expect_transposed_by_all(sorted(tensor), perm);
  }
}

TEST(SparseTranspose, ManyNonzeros) {
  const auto tensor = random_tensor<std::int32_t>({200, 3000, 500}, 300000);
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t cache_bytes : {1 << 14, 1 << 20}) {
      const Options options{.threads = threads, .cache_bytes = cache_bytes};
      expect_transposed(tensor, {2, 1, 0}, options);
      expect_transposed(sorted(tensor), {2, 1, 0}, options);
      expect_transposed(sorted(tensor), {0, 2, 1}, options);
      expect_transposed(sorted(tensor), {1, 0, 2}, options);
    }
  }
}

TEST(SparseTranspose, NoBitsAreSortedThatAreInOrder) {
  const Problem problem{.extents = {10, 20, 30}, .perm = {1, 0, 2}};
  const Plan in_order = make_plan(problem, Algorithm::automatic, 3, 1, 1 << 20);
  EXPECT_EQ(in_order.sorted.low, 4 + 5);
  const Plan not_in_order = make_plan(problem, Algorithm::automatic, 0, 1, 1 << 20);
  EXPECT_EQ(not_in_order.sorted.low, 0);
}

}  // namespace
}  // namespace ttlg::sparse
