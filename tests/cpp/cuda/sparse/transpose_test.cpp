// Sparse transposition, with its launches carried out on the host: the order of the nonzeros, the
// bytes of the values, and what is refused.
#include "cuda/sparse/transpose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cuda/execute.hpp"
#include "cuda/fake_cuda/fake_cuda.hpp"
#include "cuda/sparse/host_enqueue.hpp"
#include "cuda/sparse/kernels.hpp"
#include "messages.hpp"

namespace ttlg::cuda::sparse {
namespace {

using test::expect_contains;
using test::fake_cuda;
using test::host_steps;
using Bytes = std::vector<std::byte>;
using Order = std::vector<std::size_t>;

constexpr int kDevice = 1;
constexpr std::uintptr_t kStream = 7;

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory workspace_of(std::size_t bytes) {
  const std::size_t padded = (bytes / kWorkspaceAlignment + 1) * kWorkspaceAlignment;
  return Memory(static_cast<std::byte*>(std::aligned_alloc(kWorkspaceAlignment, padded)));
}

// A tensor in the host's memory, which stands for the device's.
template <typename Index>
struct Tensor {
  SparseProblem problem;
  std::vector<std::vector<Index>> coordinates{};  // of every mode
  Bytes values{};
  Bytes out_values{};
  std::vector<Index> out_coordinates{};
  std::size_t lead = 0;  // bytes before the values in their array
  std::size_t out_lead = 0;

  std::size_t nonzeros() const { return static_cast<std::size_t>(problem.nonzeros); }
  std::size_t value_bytes() const { return static_cast<std::size_t>(problem.value_bytes); }

  // The coordinates of a nonzero, in the order of these modes.
  std::vector<Index> at(std::size_t nonzero, const std::vector<int>& modes) const {
    std::vector<Index> result;
    for (const int mode : modes) {
      result.push_back(coordinates[static_cast<std::size_t>(mode)][nonzero]);
    }
    return result;
  }

  Order order_by(const std::vector<int>& modes) const {
    Order order(nonzeros());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t nonzero) { return at(nonzero, modes); });
    return order;
  }

  void sort() {
    std::vector<int> modes(coordinates.size());
    std::iota(modes.begin(), modes.end(), 0);
    const Order order = order_by(modes);
    for (std::vector<Index>& of_mode : coordinates) {
      std::vector<Index> sorted;
      for (const std::size_t nonzero : order) sorted.push_back(of_mode[nonzero]);
      of_mode = sorted;
    }
    problem.is_sorted = true;
  }

  SparsePointers pointers() {
    SparsePointers result{.values = values.data() + lead,
                          .out_coordinates = reinterpret_cast<std::byte*>(out_coordinates.data()),
                          .out_values = out_values.data() + out_lead};
    for (const std::vector<Index>& of_mode : coordinates) {
      result.coordinates.push_back(reinterpret_cast<const std::byte*>(of_mode.data()));
    }
    return result;
  }

  void transpose() {
    const std::size_t bytes = workspace_bytes(problem, kDevice);
    const Memory workspace = workspace_of(bytes);
    sparse::transpose(problem, pointers(), workspace.get(), bytes, kDevice, kStream);
  }

  void check() {
    transpose();
    const Order order = order_by(problem.perm);
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::vector<Index> found;
      for (std::size_t mode = 0; mode < coordinates.size(); ++mode) {
        found.push_back(out_coordinates[mode * nonzeros() + i]);
      }
      ASSERT_EQ(found, at(order[i], problem.perm)) << i;
      const auto value =
          values.begin() + static_cast<std::ptrdiff_t>(lead + order[i] * value_bytes());
      const auto out =
          out_values.begin() + static_cast<std::ptrdiff_t>(out_lead + i * value_bytes());
      ASSERT_TRUE(std::equal(value, value + problem.value_bytes, out)) << i;
    }
  }
};

template <typename Index>
Tensor<Index> tensor_of(const SparseProblem& problem, std::mt19937_64& random, std::size_t lead = 0,
                        std::size_t out_lead = 0) {
  Tensor<Index> result{.problem = problem, .lead = lead, .out_lead = out_lead};
  result.problem.index_bytes = sizeof(Index);
  for (const std::int64_t extent : problem.extents) {
    std::vector<Index>& of_mode = result.coordinates.emplace_back(result.nonzeros());
    for (Index& each : of_mode) {
      each = static_cast<Index>(random() % static_cast<std::uint64_t>(extent));
    }
  }
  result.values.resize(lead + result.nonzeros() * result.value_bytes());
  for (std::byte& each : result.values) each = static_cast<std::byte>(random());
  result.out_values.resize(out_lead + result.nonzeros() * result.value_bytes());
  result.out_coordinates.resize(result.coordinates.size() * result.nonzeros());
  return result;
}

class SparseTranspose : public testing::Test {
 protected:
  void SetUp() override {
    test::reset_fake_cuda();
    host_steps() = {};
  }

  template <typename Index>
  void check_random(int repeats) {
    for (int repeat = 0; repeat < repeats; ++repeat) {
      SparseProblem problem{.nonzeros = static_cast<std::int64_t>(random_() % 300)};
      const std::size_t rank = 1 + random_() % 6;
      // Few bits, for nonzeros that agree in some modes or in all, or several rounds.
      const int most_bits = random_() % 2 == 0 ? 4 : 8 * static_cast<int>(sizeof(Index)) - 1;
      for (std::size_t mode = 0; mode < rank; ++mode) {
        const auto most = (std::uint64_t{1} << (random_() % static_cast<unsigned>(most_bits))) + 1;
        problem.extents.push_back(1 + static_cast<std::int64_t>(random_() % most));
        problem.perm.push_back(static_cast<int>(mode));
      }
      std::ranges::shuffle(problem.perm, random_);
      constexpr std::int64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 100, 1000};
      problem.value_bytes = kSizes[random_() % std::size(kSizes)];
      const auto lead = [&] { return random_() % 2 == 0 ? 0 : random_() % 17; };
      Tensor<Index> tensor = tensor_of<Index>(problem, random_, lead(), lead());
      if (random_() % 2 == 0) tensor.sort();
      host_steps().sorts_stay = random_() % 2 == 0;
      ASSERT_NO_FATAL_FAILURE(tensor.check()) << repeat;
    }
  }

  std::mt19937_64 random_{1};
};

TEST_F(SparseTranspose, SortsRandomTensorsOf32BitIndices) { check_random<std::int32_t>(400); }

TEST_F(SparseTranspose, SortsRandomTensorsOf64BitIndices) { check_random<std::int64_t>(400); }

TEST_F(SparseTranspose, SortsByNoMoreBitsThanItMust) {
  SparseProblem problem{
      .nonzeros = 500, .extents = {8, 16, 32}, .perm = {2, 0, 1}, .value_bytes = 8};
  Tensor<std::int32_t> tensor = tensor_of<std::int32_t>(problem, random_);
  tensor.check();
  EXPECT_EQ(host_steps().sorted_bits, 12);
  tensor.sort();
  tensor.check();
  EXPECT_EQ(host_steps().sorted_bits, 12 + 5);
  EXPECT_EQ(host_steps().sorts, 2);
}

TEST_F(SparseTranspose, CopiesWhereTheOrderStays) {
  SparseProblem problem{
      .nonzeros = 100, .extents = {8, 1, 32}, .perm = {1, 0, 2}, .value_bytes = 6};
  Tensor<std::int64_t> tensor = tensor_of<std::int64_t>(problem, random_);
  tensor.sort();
  EXPECT_EQ(workspace_bytes(tensor.problem, kDevice), 0U);
  tensor.check();
  EXPECT_EQ(host_steps().sorts, 0);
  EXPECT_EQ(host_steps().copies, 4);
}

TEST_F(SparseTranspose, TakesTensorsOfNoModesAndOfNoOrOneNonzero) {
  tensor_of<std::int64_t>({.nonzeros = 5, .value_bytes = 8}, random_).check();
  SparseProblem problem{.nonzeros = 1, .extents = {8, 16}, .perm = {1, 0}, .value_bytes = 8};
  tensor_of<std::int64_t>(problem, random_).check();
  problem.nonzeros = 0;
  EXPECT_EQ(workspace_bytes(problem, kDevice), 0U);
  sparse::transpose(problem, {.coordinates = {nullptr, nullptr}}, nullptr, 0, kDevice, kStream);
  EXPECT_EQ(host_steps().sorts, 0);
}

TEST_F(SparseTranspose, TakesAllModesThatThereMayBe) {
  SparseProblem problem{.nonzeros = 200, .extents = std::vector<std::int64_t>(kMaxRank, 3)};
  problem.value_bytes = 4;
  for (int mode = kMaxRank - 1; mode >= 0; --mode) problem.perm.push_back(mode);
  Tensor<std::int32_t> tensor = tensor_of<std::int32_t>(problem, random_);
  tensor.check();
  tensor.sort();
  tensor.check();
}

// Sanitizers would see an access outside of the arrays.
TEST_F(SparseTranspose, StaysInsideTheArraysWhateverTheCoordinates) {
  SparseProblem problem{
      .nonzeros = 300, .extents = {8, 1 << 30, 1 << 30, 5}, .perm = {2, 3, 1, 0}, .value_bytes = 8};
  Tensor<std::int64_t> tensor = tensor_of<std::int64_t>(problem, random_);
  for (std::vector<std::int64_t>& of_mode : tensor.coordinates) {
    for (std::int64_t& each : of_mode) each = static_cast<std::int64_t>(random_());
  }
  for (const bool is_sorted : {false, true}) {
    tensor.problem.is_sorted = is_sorted;
    tensor.transpose();
  }
}

TEST_F(SparseTranspose, NumbersMoreThan32BitsOfNonzeros) {
  const std::vector<std::int64_t> coordinates{5, 6, 7};
  std::vector<std::uint64_t> positions(3), keys(3);
  PackArguments<std::int64_t, std::uint64_t> packed{.nonzeros = 3,
                                                    .modes = 1,
                                                    .is_first_round = true,
                                                    .bits = {3},
                                                    .coordinates = {coordinates.data()},
                                                    .positions = positions.data(),
                                                    .keys = keys.data()};
  pack(packed, 0, 1);
  EXPECT_EQ(positions, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{5, 6, 7}));
  SparseProblem problem{.nonzeros = UINT32_MAX, .extents = {8}, .perm = {0}, .value_bytes = 8};
  const std::size_t narrow = workspace_bytes(problem, kDevice);
  ++problem.nonzeros;
  EXPECT_GT(workspace_bytes(problem, kDevice), narrow + 7 * problem.nonzeros);
}

TEST_F(SparseTranspose, LeavesTheContextAndTheCaptureModeAsTheyWere) {
  SparseProblem problem{.nonzeros = 10, .extents = {8, 16}, .perm = {1, 0}, .value_bytes = 8};
  tensor_of<std::int64_t>(problem, random_).check();
  EXPECT_TRUE(fake_cuda().stack.empty());
  EXPECT_FALSE(fake_cuda().is_active[0]);
  EXPECT_EQ(fake_cuda().mode, cudaStreamCaptureModeGlobal);
}

TEST_F(SparseTranspose, RefusesWorkspacesThatDoNotFit) {
  SparseProblem problem{.nonzeros = 10, .extents = {8, 16}, .perm = {1, 0}, .value_bytes = 8};
  Tensor<std::int64_t> tensor = tensor_of<std::int64_t>(problem, random_);
  const std::size_t bytes = workspace_bytes(problem, kDevice);
  const Memory memory = workspace_of(bytes);
  const auto message = [&](std::size_t lead, std::size_t size) {
    return test::message_of([&] {
      sparse::transpose(problem, tensor.pointers(), memory.get() + lead, size, kDevice, kStream);
    });
  };
  EXPECT_EQ(message(0, bytes - 1), "the workspace has " + std::to_string(bytes - 1) +
                                       " bytes, and " + std::to_string(bytes) + " are needed");
  expect_contains(message(8, bytes), "no multiple of 256");
}

TEST_F(SparseTranspose, RefusesMemoryOfTheHostAndOfOtherDevices) {
  SparseProblem problem{.nonzeros = 10, .extents = {8, 16}, .perm = {1, 0}, .value_bytes = 8};
  Tensor<std::int64_t> tensor = tensor_of<std::int64_t>(problem, random_);
  const auto message = [&] { return test::message_of<Error>([&] { tensor.transpose(); }); };
  fake_cuda().host_pointer = tensor.coordinates[1].data();
  expect_contains(message(), "coordinate array 1 points to host memory");
  fake_cuda().host_pointer = tensor.values.data();
  expect_contains(message(), "the array of values points to host memory");
  fake_cuda().memory_of = 0;
  expect_contains(message(), "points to memory of cuda:0, not of cuda:1");
  EXPECT_EQ(host_steps().sorts, 0);
}

}  // namespace
}  // namespace ttlg::cuda::sparse
