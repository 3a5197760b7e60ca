// cpu::Parameters that no planner would choose: blocks of any extents in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "plan/cpu/plan.hpp"
#include "plan/cpu/shuffle_tile.hpp"
#include "requests.hpp"

namespace ttlg::test {

// The modes that these blocks cut, in mode order.
inline std::vector<int> cut_modes(const Problem& folded, const std::vector<std::int64_t>& block) {
  std::vector<int> cut;
  for (std::size_t m = 0; m < block.size(); ++m) {
    if (block[m] < folded.modes[m].extent) cut.push_back(static_cast<int>(m));
  }
  return cut;
}

// Half of the modes whole, the others cut anywhere; a shuffle's blocks hold its tile.
inline std::vector<std::int64_t> random_block(Random& random, const Problem& folded,
                                              cpu::Kernel kernel) {
  if (kernel == cpu::Kernel::reference) return {};
  if (kernel == cpu::Kernel::copy) return {pick(random, 1, folded.bytes() + 1)};
  std::vector<std::int64_t> block(folded.modes.size(), 1);
  if (kernel == cpu::Kernel::shuffle) block = cpu::shuffle_tile(folded);
  for (std::size_t m = 0; m < block.size(); ++m) {
    const std::int64_t extent = folded.modes[m].extent;
    block[m] = pick(random, 0, 1) == 0 ? extent : pick(random, block[m], extent);
  }
  return block;
}

inline cpu::Parameters random_parameters(Random& random, const Problem& folded,
                                         cpu::Kernel kernel) {
  cpu::Parameters parameters{.kernel = kernel,
                             .block = random_block(random, folded, kernel),
                             .loop_order = {},
                             .staged = false,
                             .streaming = false,
                             .prefetch = static_cast<int>(pick(random, 0, 3)),
                             .threads = static_cast<int>(pick(random, 1, 4))};
  if (kernel == cpu::Kernel::copy || kernel == cpu::Kernel::reference) return parameters;
  parameters.loop_order = cut_modes(folded, parameters.block);
  std::ranges::shuffle(parameters.loop_order, random);
  return parameters;
}

// Calls check(request, plan) for such plans of random requests, by every kernel that cuts blocks.
template <typename Check>
void for_random_plans(Random& random, int requests, const Check& check) {
  for_random_requests(random, requests, [&](const Request& request, int) {
    const Problem folded = fold_run(make_problem(request));
    for (const cpu::Kernel kernel :
         {cpu::Kernel::tile, cpu::Kernel::shuffle, cpu::Kernel::strided_copy}) {
      if (!cpu::applies(kernel, folded)) continue;
      check(request, cpu::build_plan(request, random_parameters(random, folded, kernel)));
    }
  });
}

// The same, staged, streaming or both where the block allows it.
inline cpu::Plan random_plan(Random& random, const Request& request, const Problem& folded,
                             cpu::Kernel kernel) {
  const cpu::Parameters parameters = random_parameters(random, folded, kernel);
  cpu::Parameters with = parameters;
  with.staged = pick(random, 0, 1) == 0;
  with.streaming = pick(random, 0, 1) == 0;
  try {
    return cpu::build_plan(request, with);
  } catch (const std::invalid_argument&) {
    return cpu::build_plan(request, parameters);
  }
}

}  // namespace ttlg::test
