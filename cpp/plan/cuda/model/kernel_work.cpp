#include "plan/cuda/model/kernel_work.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/packed_slice.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

std::int64_t round_up(std::int64_t x, std::int64_t unit) { return ceil_div(x, unit) * unit; }

// Accesses of warps to rows of one side's axis, whose ends leave lanes of the last unit idle.
double row_accesses(const SideGeometry& side, std::int64_t unit, std::int64_t lane_elements) {
  const std::int64_t per_row = side.whole * round_up(side.length, unit) + round_up(side.rest, unit);
  return as_double(per_row) * as_double(side.rows) / as_double(kWarpSize * lane_elements);
}

void set_distinct(KernelWork& work, const SlicedProblem& sliced, const SliceGeometry& shape) {
  const std::int64_t element = sliced.problem.element_bytes();
  const OrthogonalDistinctPolicy policy(element);
  work.in_lane_bytes = std::max(work.in_lane_bytes, policy.narrow_in_bytes(element));
  work.out_lane_bytes = std::max(work.out_lane_bytes, policy.narrow_out_bytes(element));
  work.in_accesses = row_accesses(shape.in, policy.tile_columns, work.in_lane_bytes / element);
  work.out_accesses = row_accesses(shape.out, policy.tile_rows, work.out_lane_bytes / element);
  work.is_persistent = true;
  work.tiles = as_double(ceil_div(shape.in.length, policy.tile_columns) *
                         ceil_div(shape.out.length, policy.tile_rows));
  // Asynchronous copies of a whole tile are in flight together.
  work.batch = OrthogonalDistinctPolicy::kThreads;
  work.shared_bytes = as_double(work.stages * policy.buffer_bytes);
}

void set_arbitrary(KernelWork& work, const SlicedProblem& sliced, const SliceGeometry& shape) {
  using Policy = OrthogonalArbitraryPolicy;
  const std::int64_t bytes = shape.volume * sliced.problem.element_bytes();
  // The lanes of short slices idle, and those of slices cut short.
  const auto accesses = [&](std::int64_t of_slice) {
    return as_double(round_up(of_slice, Policy::kThreads) / kWarpSize) * as_double(shape.slices);
  };
  if (is_packed(sliced)) {
    const PackedSlice slice = packed_slice(sliced);
    work.kernel = &figures_of(sliced.parameters.schema,
                              static_cast<int>(sliced.problem.element_bytes()), slice.access());
    work.in_lane_bytes = work.out_lane_bytes = kBankBytes;
    work.in_accesses = accesses(slice.in.all_words);
    work.out_accesses = accesses(slice.out.all_words);
  } else {
    work.in_accesses = accesses(ceil_div(bytes, work.in_lane_bytes));
    work.out_accesses = accesses(ceil_div(bytes, work.out_lane_bytes));
  }
  work.is_persistent = true;
  // Asynchronous copies of a whole slice are in flight together.
  work.batch = Policy::kThreads;
  work.shared_bytes = as_double(work.stages * bytes);
}

void set_match_small(KernelWork& work, const SlicedProblem& sliced, const SliceGeometry& shape) {
  const std::int64_t element = sliced.problem.element_bytes();
  const std::int64_t lane = work.in_lane_bytes / element;
  work.in_accesses = row_accesses(shape.in, kWarpSize * lane, lane);
  work.out_accesses = row_accesses(shape.out, kWarpSize * lane, lane);
  work.batch = FviMatchSmallPolicy::batch(static_cast<int>(work.in_lane_bytes));
  work.shared_bytes = as_double(shape.volume * element);
}

// Groups of lanes take a run each, as many as fit into a block; TTLG, Alg. 7, gives a run a block
// of its own.
void set_match_large(KernelWork& work, const SlicedProblem& sliced, const SliceGeometry& shape) {
  using Policy = FviMatchLargePolicy;
  const std::int64_t lane = work.in_lane_bytes / sliced.problem.element_bytes();
  const bool is_shifted = work.kernel == &kMatchLargeShifted;
  const int fewest = is_shifted ? FviMatchLargeShiftedPolicy::kEnds : 1;
  const std::int64_t group = std::max(run_lanes(ceil_div(shape.in.length, lane), work.in_lane_bytes,
                                                shape.slices / sliced.repeats()),
                                      fewest);
  work.in_accesses = row_accesses(shape.in, group * lane, lane);
  work.out_accesses = work.in_accesses;
  work.units = std::ceil(work.units * as_double(group) / Policy::kThreads);
  work.batch = is_shifted ? FviMatchLargeShiftedPolicy::kBatch
                          : Policy::batch(static_cast<int>(work.in_lane_bytes));
}

}  // namespace

KernelWork copy_work(const Problem& problem) {
  KernelWork work{.kernel = &figures_of(Schema::copy, kMaxAccessBytes, {}),
                  .in_lane_bytes = kMaxAccessBytes,
                  .out_lane_bytes = kMaxAccessBytes,
                  .batch = CopyPolicy::kBatch};
  work.in_accesses = std::ceil(as_double(problem.bytes()) / (kWarpSize * kMaxAccessBytes));
  work.out_accesses = work.in_accesses;
  work.units =
      std::ceil(work.in_accesses * kWarpSize / (CopyPolicy::kThreads * CopyPolicy::kBatch));
  return work;
}

KernelWork work_of(const SlicedProblem& sliced, const SliceGeometry& shape) {
  const Schema schema = sliced.parameters.schema;
  const std::int64_t element = sliced.problem.element_bytes();
  const std::int64_t repeats = sliced.repeats();
  KernelWork work{.units = as_double(shape.slices / repeats), .repeats = as_double(repeats)};
  work.conflicts = sliced.layout_cost.conflicts * as_double(sliced.problem.elements()) / kWarpSize;
  if (schema == Schema::fvi_match_large || schema == Schema::fvi_match_small) {
    work.in_lane_bytes = work.out_lane_bytes = run_word_bytes(sliced, sliced.alignment);
    work.kernel = &figures_of(schema, static_cast<int>(work.in_lane_bytes), {});
    if (work.in_lane_bytes < FviMatchLargeShiftedPolicy::kWidth && may_shift(sliced)) {
      work.in_lane_bytes = work.out_lane_bytes = FviMatchLargeShiftedPolicy::kWidth;
      work.kernel = &kMatchLargeShifted;
    }
  } else if (!is_packed(sliced)) {
    VectorAccess access = planned_access(sliced);
    work.in_lane_bytes = access.vector_in ? kMaxAccessBytes : element;
    work.out_lane_bytes = access.vector_out ? kMaxAccessBytes : element;
    access.vector_in &= !sliced.layout_cost.splits_vectors;
    work.kernel = &figures_of(schema, static_cast<int>(element), access);
  }
  work.stages = sliced.parameters.stages;
  switch (schema) {
    case Schema::orthogonal_distinct:
      set_distinct(work, sliced, shape);
      break;
    case Schema::orthogonal_arbitrary:
      set_arbitrary(work, sliced, shape);
      break;
    case Schema::fvi_match_small:
      set_match_small(work, sliced, shape);
      break;
    case Schema::fvi_match_large:
      set_match_large(work, sliced, shape);
      break;
    case Schema::copy:  // has copy_work()
      break;
  }
  return work;
}

}  // namespace ttlg::cuda
