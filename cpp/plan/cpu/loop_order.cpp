#include "plan/cpu/loop_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/contiguous_run.hpp"
#include "tensor/inplace_vector.hpp"

namespace ttlg::cpu {

namespace {

using Weights = std::array<double, kMaxRank>;

// What stepping along each mode costs (COMET, transpose page; the numbers are those of its source):
// 2^p for its position p in the input and 1.01 * 2^p for that in the output, counted from the
// slowest mode.
Weights weigh_loops(std::span<const int> perm) {
  Weights weights{};
  for (std::size_t fastest = 0; fastest < perm.size(); ++fastest) {
    const int position = static_cast<int>(perm.size() - 1 - fastest);
    weights[fastest] += std::ldexp(1.0, position);
    weights[static_cast<std::size_t>(perm[fastest])] += std::ldexp(1.01, position);
  }
  return weights;
}

}  // namespace

// The innermost loop costs nothing, and each loop around it twice as much as the one inside it.
double loop_cost(std::span<const int> perm, std::span<const int> order) {
  const Weights weights = weigh_loops(perm);
  double cost = 0;
  double penalty = 10;
  for (std::size_t i = order.size(); i-- > 1; penalty *= 2) {
    cost += weights[static_cast<std::size_t>(order[i - 1])] * penalty;
  }
  return cost;
}

// COMET enumerates the orders. As penalties fall from loop to loop, the cheapest one has the modes
// by rising weight. Only orders with the fastest mode of a side innermost are valid for COMET, and
// the heaviest mode is always one of these.
std::vector<int> rank_loops(std::span<const int> perm) {
  const Weights weights = weigh_loops(perm);
  const std::span<const int> modes = identity_order(perm.size());
  std::vector<int> ranked(modes.begin(), modes.end());
  insertion_sort(ranked, [&](int i, int j) {
    return weights[static_cast<std::size_t>(i)] < weights[static_cast<std::size_t>(j)];
  });
  return ranked;
}

void choose_loop_order(const Problem& folded, std::span<const std::int64_t> block,
                       std::span<const int> ranked, std::vector<int>& order) {
  order.clear();
  for (const int mode : ranked) {
    const auto m = static_cast<std::size_t>(mode);
    if (block[m] < folded.modes[m].extent) order.push_back(mode);
  }
}

void continue_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::span<const int> side, std::int64_t Mode::* step, std::vector<int>& order) {
  ContiguousRun run(folded.element_bytes());
  for (const int index : side) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    if (!run.extend(mode.*step, block[m], mode.extent)) return;
    if (block[m] < mode.extent) {
      const auto found = std::ranges::find(order, index);
      std::rotate(found, found + 1, order.end());
      return;
    }
  }
}

}  // namespace ttlg::cpu
