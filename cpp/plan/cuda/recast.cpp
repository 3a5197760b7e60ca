#include "plan/cuda/recast.hpp"

#include <algorithm>
#include <utility>

#include "plan/cuda/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

std::int64_t first_element_alignment(const Problem& problem, std::int64_t pointer_alignment) {
  return common_power(pointer_alignment | problem.in_byte_offset | problem.out_byte_offset,
                      kMaxAccessBytes);
}

Problem recast_problem(const Problem& problem, std::int64_t pointer_alignment) {
  Problem recast = problem;
  if (!problem.moves_bits() || problem.bytes() == 0) return recast;
  const bool has_run = !recast.modes.empty() &&
                       recast.modes.front().in_byte_stride == recast.element_bytes() &&
                       recast.modes.front().out_byte_stride == recast.element_bytes();
  const std::int64_t element = recast.element_bytes();
  if (has_run) recast = fold_run(std::move(recast));
  const std::int64_t run = recast.element_bytes();
  // Longer runs keep their elements, which the taxonomy counts, except the narrowest.
  const std::int64_t widest =
      run > 1 && is_width(run) ? run
                               : std::max<std::int64_t>(common_power(element, kMaxAccessBytes), 4);
  std::int64_t bits = run | first_element_alignment(problem, pointer_alignment);
  for (const Mode& mode : recast.modes) bits |= mode.in_byte_stride | mode.out_byte_stride;
  recast.in_bytes = recast.out_bytes = common_power(bits, widest);
  if (recast.element_bytes() < run) {
    recast.modes.insert(recast.modes.begin(), {run / recast.element_bytes(), recast.element_bytes(),
                                               recast.element_bytes()});
    for (int& m : recast.perm) ++m;
    recast.perm.insert(recast.perm.begin(), 0);
  }
  return recast;
}

}  // namespace ttlg::cuda
