// Slices of Orthogonal-Arbitrary whose elements are narrower than a bank of shared memory: threads
// move words of 4 bytes, in which runs of contiguous bytes may begin and end anywhere.
#pragma once

#include <cstdint>

#include "plan/cuda/sliced_problem.hpp"

namespace ttlg::cuda {

// The runs that a slice has on one side.
struct PackedRuns {
  int modes = 0;  // of the slice, the first on this side, that a run has; of extents above 1
  std::int64_t bytes = 1;  // of a run
  std::int64_t words = 1;  // that a run may touch
  std::int64_t all_words = 1;
  // Whether all runs of the tensor begin and end at words if element (0, ..., 0) does.
  bool may_be_aligned = false;
};

struct PackedSlice {
  PackedRuns in;
  PackedRuns out;
};

// For slices whose runs are whole words on the sides where `access` says so.
PackedSlice packed_slice(const SlicedProblem& sliced, VectorAccess access = {});

// Lanes of a warp that store nothing, since they only fetch what their neighbours need.
constexpr int packed_idle_lanes(VectorAccess access) { return access.vector_out ? 0 : 1; }

// How far apart neighbours along a mode are to be in shared memory, in elements, where `least` of
// them are in the way: as far as in the input, modulo a word, so that words are copied whole.
constexpr std::int64_t packed_step(std::int64_t least, std::int64_t element_bytes,
                                   std::int64_t in_byte_stride) {
  std::int64_t step = least;
  while ((step * element_bytes - in_byte_stride) % kBankBytes != 0) {
    ++step;
  }
  return step;
}

}  // namespace ttlg::cuda
