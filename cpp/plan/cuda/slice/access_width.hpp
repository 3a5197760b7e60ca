// How wide the accesses of threads may be.
#pragma once

#include <cstdint>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// For the Orthogonal kernels: bytes of their wide accesses.
constexpr std::int64_t wide_bytes(Schema schema, std::int64_t element_bytes) {
  return schema == Schema::orthogonal_arbitrary
             ? OrthogonalArbitraryPolicy::wide_bytes(element_bytes)
             : kMaxAccessBytes;
}

// Of the sides on which a kernel could use wide accesses, those on which it does.
constexpr VectorAccess used_access(VectorAccess possible, Schema schema,
                                   std::int64_t element_bytes) {
  if (schema == Schema::orthogonal_distinct) {
    possible.vector_in = OrthogonalDistinctPolicy::reads_vectors(element_bytes, possible);
  }
  return possible;
}

// On which sides every chunk in which slices take their axis begins and ends at a multiple of a
// wide access where element (0, ..., 0) lies at one. Packed slices have runs of their own, which
// must begin and end at words (PackedRuns).
VectorAccess vector_runs(const SlicedProblem& sliced);

// Of these, those of the sides where it does.
constexpr VectorAccess aligned_access(VectorAccess runs, Schema schema, std::int64_t element_bytes,
                                      std::int64_t in_alignment, std::int64_t out_alignment) {
  const std::int64_t wide = wide_bytes(schema, element_bytes);
  return used_access(
      {runs.vector_in && in_alignment % wide == 0, runs.vector_out && out_alignment % wide == 0},
      schema, element_bytes);
}

// What both are for the alignment that the slices are planned for.
VectorAccess planned_access(const SlicedProblem& sliced);

// For the FVI kernels: the widest word, in bytes, in which they can move chunks of mode 0. It
// divides the chunks, all strides and `alignment`, a power of two that divides both pointers.
std::int64_t run_word_bytes(const SlicedProblem& sliced, std::int64_t alignment);

// Whether FVI-Match-Large may move a launch's runs in wide words that it shifts, where they have
// but narrow ones in common: runs that are contiguous on both sides.
bool may_shift(const SlicedProblem& sliced);

// How many lanes of a thread block take one of `chunks` chunks of FVI-Match-Large together, a power
// of two: they move at least 128 bytes side by side, and have as few steps idle and as many loads
// in flight as that allows. Where there are chunks enough for a large device, fewer lanes take more
// words each, which share the set-up.
int run_lanes(std::int64_t chunk_words, std::int64_t word_bytes, std::int64_t chunks);

}  // namespace ttlg::cuda
