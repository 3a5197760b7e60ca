#include "plan/cpu/loop_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/contiguous_run.hpp"
#include "tensor/insertion_sort.hpp"

namespace ttlg::cpu {

// Loop permutation by weights (COMET, transpose page; the weights are those of its source): an
// index weighs 2^p for its position in the input and 1.01 * 2^p for its position in the output,
// where p is largest for the fastest one, and the heaviest goes innermost. COMET enumerates the
// orders and adds up what each costs by these weights; this one is the cheapest of them.
std::vector<int> rank_loops(const Problem& folded) {
  std::array<double, kMaxRank> weight{};
  for (std::size_t position = 0; position < folded.perm.size(); ++position) {
    const int falling = -static_cast<int>(position);
    weight[position] += std::ldexp(1.0, falling);
    weight[static_cast<std::size_t>(folded.perm[position])] += std::ldexp(1.01, falling);
  }
  const std::span<const int> modes = identity_order(folded.modes.size());
  std::vector<int> ranked(modes.begin(), modes.end());
  insertion_sort(ranked, [&](int i, int j) {
    return weight[static_cast<std::size_t>(i)] < weight[static_cast<std::size_t>(j)];
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
  ContiguousRun run(folded.element_bytes);
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
