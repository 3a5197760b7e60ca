#include "plan/cuda/slice/access_width.hpp"

#include <algorithm>
#include <bit>

#include "plan/cuda/slice/packed_slice.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Whether the modes of `axis` lie in one run on a side, and every chunk of that run in which slices
// take it begins and ends at a multiple of `wide` bytes.
bool has_vector_runs(const SlicedProblem& sliced, std::span<const int> axis,
                     std::int64_t Mode::* stride, std::int64_t wide) {
  const Problem& problem = sliced.problem;
  std::uint64_t seen = 0;
  ContiguousRun run(problem.element_bytes());
  for (const int m : axis) {
    const Mode& mode = sliced.mode(m);
    const std::int64_t chunk_bytes = run.bytes() * sliced.extent(m);
    if (!run.extend(mode.*stride, mode.extent)) return false;
    if (sliced.extent(m) < mode.extent && chunk_bytes % wide != 0) return false;
    seen |= std::uint64_t{1} << m;
  }
  if (run.bytes() % wide != 0) return false;
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    if ((seen >> m & 1) == 0 && problem.modes[m].*stride % wide != 0) return false;
  }
  return true;
}

bool is_contiguous(const Mode& run, std::int64_t element_bytes) {
  return run.in_byte_stride == element_bytes && run.out_byte_stride == element_bytes;
}

}  // namespace

VectorAccess vector_runs(const SlicedProblem& sliced) {
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  if (element_bytes == kMaxAccessBytes) return {true, true};
  const Schema schema = sliced.parameters.schema;
  const std::int64_t wide = wide_bytes(schema, element_bytes);
  return used_access({has_vector_runs(sliced, sliced.in_axis(), &Mode::in_byte_stride, wide),
                      has_vector_runs(sliced, sliced.out_axis(), &Mode::out_byte_stride, wide)},
                     schema, element_bytes);
}

VectorAccess planned_access(const SlicedProblem& sliced) {
  if (is_packed(sliced)) return packed_slice(sliced).access();
  return aligned_access(vector_runs(sliced), sliced.parameters.schema,
                        sliced.problem.element_bytes(), sliced.alignment, sliced.alignment);
}

std::int64_t run_word_bytes(const SlicedProblem& sliced, std::int64_t alignment) {
  const Problem& problem = sliced.problem;
  const Mode& run = problem.modes.front();
  if (!is_contiguous(run, problem.element_bytes())) return problem.element_bytes();
  std::int64_t bits = (sliced.extent(0) | run.extent) * problem.element_bytes() | alignment;
  for (const Mode& mode : std::span(problem.modes).subspan(1)) {
    bits |= mode.in_byte_stride | mode.out_byte_stride;
  }
  return common_power(bits, kMaxAccessBytes);
}

bool may_shift(const SlicedProblem& sliced) {
  return sliced.parameters.schema == Schema::fvi_match_large &&
         is_contiguous(sliced.mode(0), sliced.problem.element_bytes());
}

int run_lanes(std::int64_t chunk_words, std::int64_t word_bytes, std::int64_t chunks) {
  using Policy = FviMatchLargePolicy;
  std::int64_t best = std::min<std::int64_t>(Policy::kThreads, Policy::kGroupBytes / word_bytes);
  if (chunk_words <= best) {
    return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(chunk_words)));
  }
  const std::int64_t block_words = chunks * chunk_words / Policy::kMinBlocks;
  const std::int64_t lane_words = std::clamp<std::int64_t>(
      block_words / Policy::kThreads, Policy::kBatch,
      std::max<std::int64_t>(Policy::kLaneBytes / word_bytes, Policy::kBatch));
  for (std::int64_t lanes = 2 * best; lanes <= Policy::kThreads; lanes *= 2) {
    const auto slots = [&](std::int64_t n) { return ceil_div(chunk_words, n) * n; };
    if (ceil_div(chunk_words, best) > lane_words || slots(lanes) < slots(best)) best = lanes;
  }
  return static_cast<int>(best);
}

}  // namespace ttlg::cuda
