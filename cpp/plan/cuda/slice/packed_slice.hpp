// Slices of Orthogonal-Arbitrary whose elements are narrower than a bank of shared memory: threads
// move words of 4 bytes, in which runs of contiguous bytes may begin and end anywhere.
#pragma once

#include <cstdint>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// The runs that a slice has on one side.
struct PackedRuns {
  int modes = 0;  // of the slice, the first on this side, that a run has; of extents above 1
  std::int64_t bytes = 1;  // of a run
  std::int64_t words = 1;  // that a run may touch
  std::int64_t all_words = 1;
  bool is_aligned = false;  // whether all runs of the tensor begin and end at words
};

struct PackedSlice {
  PackedRuns in;
  PackedRuns out;

  VectorAccess access() const { return {in.is_aligned, out.is_aligned}; }
  // Lanes of a warp that store nothing, since they only fetch what their neighbours need.
  int idle_lanes() const { return out.is_aligned ? 0 : 1; }
};

inline bool is_packed(const SlicedProblem& sliced) {
  return sliced.parameters.schema == Schema::orthogonal_arbitrary &&
         OrthogonalArbitraryPolicy::is_packed(sliced.problem.element_bytes());
}

PackedSlice packed_slice(const SlicedProblem& sliced);

// How far apart neighbours along a mode are to be in shared memory, in elements, where `min_step`
// of them are in the way: as far as in the input, modulo a word, so that words are copied whole.
constexpr std::int64_t packed_step(std::int64_t min_step, std::int64_t element_bytes,
                                   std::int64_t in_byte_stride) {
  std::int64_t step = min_step;
  while ((step * element_bytes - in_byte_stride) % kBankBytes != 0) {
    ++step;
  }
  return step;
}

}  // namespace ttlg::cuda
