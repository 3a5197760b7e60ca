#include "plan/cpu/loop_order.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/contiguous_run.hpp"

namespace ttlg::cpu {

// Loop permutation by weights (COMET, transpose page; the weights are those of its source): an
// index weighs 2^p for its place in the input and 1.01 * 2^p for its place in the output, where p
// is largest for the fastest one, and the heaviest goes innermost. COMET enumerates the orders and
// adds up what each costs by these weights; this one is the cheapest of them.
std::vector<int> choose_loop_order(const Problem& folded, std::span<const std::int64_t> block) {
  std::vector<double> weight(folded.modes.size(), 0.0);
  for (std::size_t place = 0; place < folded.perm.size(); ++place) {
    const int falling = -static_cast<int>(place);
    weight[place] += std::ldexp(1.0, falling);
    weight[static_cast<std::size_t>(folded.perm[place])] += std::ldexp(1.01, falling);
  }
  std::vector<int> order;
  for (std::size_t m = 0; m < block.size(); ++m) {
    if (block[m] < folded.modes[m].extent) order.push_back(static_cast<int>(m));
  }
  std::ranges::stable_sort(order, {}, [&](int m) { return weight[static_cast<std::size_t>(m)]; });
  return order;
}

void continue_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::vector<int>& order) {
  ContiguousRun run(folded.element_bytes);
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    if (!run.extend(mode.out_byte_stride, block[m], mode.extent)) return;
    if (block[m] < mode.extent) {
      const auto found = std::ranges::find(order, index);
      std::rotate(found, found + 1, order.end());
      return;
    }
  }
}

}  // namespace ttlg::cpu
