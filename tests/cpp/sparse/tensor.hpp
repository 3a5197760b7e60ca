// Sparse tensors for tests, and what their transposition must be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "plan/sparse/plan.hpp"
#include "sparse/transpose.hpp"

namespace ttlg::sparse {

// Coordinates of each mode, and values of some bytes.
template <typename Index>
struct Tensor {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<Index>> modes;
  std::vector<std::byte> values;
  std::int64_t value_bytes = 8;

  std::size_t count() const { return modes[0].size(); }
};

// Nonzeros that `coordinate(mode)` places.
template <typename Index, typename Coordinate>
Tensor<Index> make_tensor(std::vector<std::int64_t> extents, std::size_t count,
                          std::int64_t value_bytes, const Coordinate& coordinate) {
  Tensor<Index> tensor{std::move(extents), {}, {}, value_bytes};
  for (std::size_t mode = 0; mode < tensor.extents.size(); ++mode) {
    tensor.modes.emplace_back(count);
    for (Index& index : tensor.modes[mode]) index = static_cast<Index>(coordinate(mode));
  }
  tensor.values.resize(count * static_cast<std::size_t>(value_bytes));
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = static_cast<std::byte>((i * 2654435761u) >> 7);
  }
  return tensor;
}

template <typename Index>
Tensor<Index> random_tensor(std::vector<std::int64_t> extents, std::size_t count,
                            std::int64_t value_bytes = 8, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const std::vector<std::int64_t> limits = extents;
  return make_tensor<Index>(std::move(extents), count, value_bytes, [&](std::size_t mode) {
    return random() % static_cast<std::uint64_t>(limits[mode]);
  });
}

// In this order.
template <typename Index>
Tensor<Index> take(const Tensor<Index>& tensor, const std::vector<std::size_t>& order) {
  Tensor<Index> taken = tensor;
  const auto bytes = static_cast<std::size_t>(tensor.value_bytes);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t mode = 0; mode < tensor.modes.size(); ++mode) {
      taken.modes[mode][i] = tensor.modes[mode][order[i]];
    }
    std::copy_n(tensor.values.begin() + static_cast<std::ptrdiff_t>(order[i] * bytes), bytes,
                taken.values.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  }
  return taken;
}

// The oracle: permuted, and sorted by a stable sort.
template <typename Index>
Tensor<Index> expected(const Tensor<Index>& tensor, const std::vector<int>& perm) {
  Tensor<Index> permuted = tensor;
  for (std::size_t mode = 0; mode < perm.size(); ++mode) {
    permuted.modes[mode] = tensor.modes[static_cast<std::size_t>(perm[mode])];
    permuted.extents[mode] = tensor.extents[static_cast<std::size_t>(perm[mode])];
  }
  std::vector<std::size_t> order(tensor.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t x, std::size_t y) {
    for (const auto& mode : permuted.modes) {
      if (mode[x] != mode[y]) return mode[x] < mode[y];
    }
    return false;
  });
  return take(permuted, order);
}

template <typename Index>
Tensor<Index> sorted(const Tensor<Index>& tensor) {
  std::vector<int> perm(tensor.extents.size());
  std::iota(perm.begin(), perm.end(), 0);
  return expected(tensor, perm);
}

// Where each row begins, and the end of the last, of coordinates in ascending order.
template <typename Index>
std::vector<Index> row_pointers(const std::vector<Index>& rows, std::int64_t extent) {
  std::vector<Index> pointers(static_cast<std::size_t>(extent) + 1);
  for (const Index row : rows) ++pointers[static_cast<std::size_t>(row) + 1];
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  return pointers;
}

struct Options {
  Algorithm algorithm = Algorithm::automatic;
  int threads = 1;
  bool in_rows = false;
  bool out_rows = false;
  std::int64_t cache_bytes = 1 << 16;  // small, so that small tensors are distributed
};

inline cpu::ResultPool& pool() {
  static cpu::ResultPool pool(std::size_t{1} << 30);
  return pool;
}

// Somewhere, also where there is nothing.
template <typename Bytes>
auto memory_of(Bytes& bytes) {
  static std::byte nothing;
  return bytes.empty() ? &nothing : bytes.data();
}

// By the engine, into memory of just the size; rows that it gives as pointers are made coordinates
// again. Fails where an element is not written.
template <typename Index>
Tensor<Index> transposed(const Tensor<Index>& tensor, const std::vector<int>& perm,
                         const Options& options) {
  constexpr bool kWide = sizeof(Index) == 8;
  const Problem problem{.extents = tensor.extents,
                        .perm = perm,
                        .nonzeros = static_cast<std::int64_t>(tensor.count()),
                        .value_bytes = tensor.value_bytes,
                        .in_index_bytes = sizeof(Index),
                        .out_index_bytes = sizeof(Index),
                        .in_rows = options.in_rows,
                        .out_rows = options.out_rows};
  Input input{.modes = {}, .row_pointers = {}, .values = memory_of(tensor.values)};
  for (const auto& mode : tensor.modes) input.modes.push_back({mode.data(), kWide});
  std::vector<Index> rows;
  if (options.in_rows) {
    rows = row_pointers(tensor.modes[0], tensor.extents[0]);
    input.modes[0] = {};
    input.row_pointers = {rows.data(), kWide};
  }
  Tensor<Index> result = tensor;
  std::ranges::fill(result.values, std::byte{0xA5});
  Output output{.modes = {}, .row_pointers = {}, .values = memory_of(result.values)};
  for (std::size_t mode = 0; mode < perm.size(); ++mode) {
    result.extents[mode] = tensor.extents[static_cast<std::size_t>(perm[mode])];
    std::ranges::fill(result.modes[mode], Index{-1});
    output.modes.push_back({result.modes[mode].data(), kWide});
  }
  std::vector<Index> new_rows(
      static_cast<std::size_t>(options.out_rows ? result.extents[0] + 1 : 0), Index{-1});
  if (options.out_rows) {
    output.modes[0] = {};
    output.row_pointers = {new_rows.data(), kWide};
  }
  int sorted_modes = modes_in_order(problem);
  if (depends_on_order(problem, options.algorithm) &&
      check(problem, input, true, options.threads).is_sorted) {
    sorted_modes = problem.rank();
  }
  Plan plan =
      make_plan(problem, options.algorithm, sorted_modes, options.threads, options.cache_bytes);
  plan.threads = options.threads;  // also where there is little to do
  transpose(plan, input, output, pool());
  for (std::size_t row = 0; row + 1 < new_rows.size(); ++row) {
    for (Index i = new_rows[row]; i < new_rows[row + 1]; ++i) {
      result.modes[0][static_cast<std::size_t>(i)] = static_cast<Index>(row);
    }
  }
  return result;
}

}  // namespace ttlg::sparse
