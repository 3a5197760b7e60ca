#include "plan/cuda/slice/packed_slice.hpp"

#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

PackedRuns runs_along(const SlicedProblem& sliced, std::span<const int> axis,
                      std::int64_t Mode::* stride) {
  const Problem& problem = sliced.problem;
  PackedRuns result;
  ContiguousRun run(problem.element_bytes());
  std::uint64_t seen = 0;
  std::int64_t bits = sliced.alignment;  // and of the lengths of runs and their distances
  std::int64_t uncut = problem.element_bytes();
  for (const int m : axis) {
    const Mode& mode = sliced.mode(m);
    if (!run.extend(mode.*stride, sliced.extent(m), mode.extent)) break;
    seen |= std::uint64_t{1} << m;
    result.modes += sliced.extent(m) > 1;
    uncut *= mode.extent;
  }
  bits |= run.bytes() | uncut;
  std::int64_t volume = problem.element_bytes();
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    volume *= sliced.extents()[m];
    if ((seen >> m & 1) == 0) bits |= problem.modes[m].*stride;
  }
  result.is_aligned = bits % kBankBytes == 0;
  // A run that begins anywhere touches one word more than its bytes fill, but for one of them.
  const std::int64_t before = result.is_aligned ? 0 : kBankBytes - problem.element_bytes();
  result.bytes = run.bytes();
  result.words = ceil_div(result.bytes + before, kBankBytes);
  result.all_words = volume / result.bytes * result.words;
  return result;
}

}  // namespace

PackedSlice packed_slice(const SlicedProblem& sliced) {
  return {runs_along(sliced, sliced.in_axis(), &Mode::in_byte_stride),
          runs_along(sliced, sliced.problem.perm, &Mode::out_byte_stride)};
}

}  // namespace ttlg::cuda
