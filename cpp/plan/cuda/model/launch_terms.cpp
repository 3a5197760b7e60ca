#include "plan/cuda/model/launch_terms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/packed_slice.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
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

using Number = TermNumber;

// A line of the L1 cache.
constexpr double kLineBytes = 128;

// How many thread blocks are on the device at once, and what follows from it.
struct Waves {
  double resident = 1;
  double rounds = 1;   // units that a block takes one after the other, or blocks after one another
  double busiest = 1;  // share of the units that the busiest multiprocessor has
};

Waves waves_of(const DeviceModel& model, const KernelWork& work) {
  Waves waves;
  waves.resident =
      as_double(resident_blocks(model, *work.kernel, static_cast<std::int64_t>(work.shared_bytes)));
  waves.rounds = std::ceil(work.units / waves.resident);
  const double full = waves.rounds - 1;
  const double last = work.units - full * waves.resident;
  const double most =
      full * waves.resident / model.multiprocessors + std::ceil(last / model.multiprocessors);
  waves.busiest = most / work.units;
  return waves;
}

// The share of the sectors at the ends of runs that the next slice still finds in the L2 cache:
// what fits of all that is moved between the visits of two slices that share a sector. Neighbours
// in one round meet while all resident blocks move their slices; others, after as many as lie
// between them in the grid's order.
double share_in_l2(const DeviceModel& model, const SlicedProblem& sliced, const SideGeometry& side,
                   const KernelWork& work, const Waves& waves) {
  if (side.run_mode < 0) return 0;
  const double apart = as_double(block_distance(sliced, side.run_mode)) * work.repeats;
  const double slice_bytes = 2 * as_double(sliced.problem.bytes()) / (work.units * work.repeats);
  const double in_flight = std::min(waves.resident, work.units);
  const double distance = std::max(apart, in_flight) * slice_bytes;
  return std::min(1.0, as_double(model.l2_cache_bytes) / distance);
}

// What one side moves beyond its bytes, and its bytes again where runs are short.
void add_side(LaunchTerms& result, std::size_t first, double byte_seconds, double bytes,
              std::int64_t run_bytes, const SideGeometry& side, double in_l2) {
  // A run of L bytes that begins anywhere at multiples of a touches (L + 32 - a) / 32 sectors in
  // the mean.
  const double shared =
      std::max(0.0, as_double(kSectorBytes - side.run_alignment)) * as_double(side.runs);
  result.add(first + Number::kMovedAgain, shared * (1 - in_l2) * byte_seconds);
  result.add(first + Number::kMet, shared * in_l2 * byte_seconds);
  for (std::size_t i = 0; i < kRunLimits.size(); ++i) {
    if (run_bytes < kRunLimits[i]) result.add(first + Number::kRunBelow + i, bytes * byte_seconds);
  }
}

// Passes of 128 bytes through L1 and shared memory. Runs that lie apart take a pass each.
double wavefronts(const KernelWork& work, double in_runs, double out_runs) {
  const auto passes = [](double accesses, std::int64_t lane_bytes) {
    return accesses * std::max(1.0, as_double(kWarpSize * lane_bytes) / kLineBytes);
  };
  const double in = passes(work.in_accesses, work.in_lane_bytes);
  const double out = passes(work.out_accesses, work.out_lane_bytes);
  const double shared = work.shared_bytes > 0 ? in + out : 0;
  return std::max(in, in_runs) + std::max(out, out_runs) + shared + work.conflicts;
}

// `runs` of either side.
void add_issue(LaunchTerms& result, const DeviceModel& model, const KernelWork& work,
               const Waves& waves, double in_runs, double out_runs) {
  const KernelFigures& kernel = *work.kernel;
  const double cycle = 1 / model.clock_hz;
  const double warps = threads_of(kernel.schema) / kWarpSize;
  result.add(Number::kWavefronts, wavefronts(work, in_runs, out_runs) * waves.busiest * cycle);
  const std::size_t own =
      Number::kKernelIssue + static_cast<std::size_t>(kernel.schema) * Number::kKernelTerms;
  // Lines that the lanes could move, those of idle lanes too.
  const double lines = (work.in_accesses * as_double(work.in_lane_bytes) +
                        work.out_accesses * as_double(work.out_lane_bytes)) *
                       kWarpSize / (2 * kLineBytes);
  result.add(own + Number::kLines + width_index(kernel.width),
             lines * kernel.instructions_per_further_line * waves.busiest * cycle);
  // Blocks that the busiest multiprocessor starts.
  const double started =
      work.is_persistent ? std::ceil(std::min(work.units, waves.resident) / model.multiprocessors)
                         : work.units * waves.busiest;
  const double set_up = (kernel.instructions_per_line - kernel.instructions_per_further_line) *
                        as_double(largest_slice_bytes(kernel.schema, kernel.width)) / kLineBytes;
  result.add(own + Number::kSetUp, set_up * started * cycle);
  // Every warp decodes the slices that come after a block's first.
  const double slices = work.units * work.repeats * waves.busiest;
  result.add(own + Number::kSlices, (slices - started) * warps * cycle);
}

void add_latency(LaunchTerms& result, const KernelWork& work, const Waves& waves) {
  const Schema schema = work.kernel->schema;
  const double slices = work.units * work.repeats;
  const double warps = threads_of(schema) / kWarpSize;
  const double loads = std::ceil(work.in_accesses / (slices * work.tiles * warps) / work.batch);
  const double rounds = waves.rounds * work.repeats * work.tiles * std::max(loads, 1.0);
  // With two buffers only the first loads are waited for without anything else to do.
  const double staged = work.stages > 1 ? rounds - 1 : 0;
  result.add(Number::kRounds + static_cast<std::size_t>(schema), rounds - staged);
  result.add(Number::kStagedRounds, staged);
  result.add(Number::kWaves, work.is_persistent ? 1 : waves.rounds);
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

LaunchTerms count_terms(const DeviceModel& model, const SlicedProblem& sliced) {
  LaunchTerms result;
  const Problem& problem = sliced.problem;
  const double bytes = as_double(problem.bytes());
  const double byte_seconds = 1 / model.memory_bytes_per_second;
  const bool is_copy = sliced.parameters.schema == Schema::copy;
  const SliceGeometry shape = is_copy ? SliceGeometry{} : geometry_of(sliced);
  const KernelWork work = is_copy ? copy_work(problem) : work_of(sliced, shape);
  const Waves waves = waves_of(model, work);
  result.add(Number::kBytes, 2 * bytes * byte_seconds);
  result.add(Number::kRoundBytes,
             2 * bytes * byte_seconds * waves.rounds * waves.resident / work.units);
  if (!is_copy) {
    for (const auto& [first, side] :
         {std::pair(Number::kRead, &shape.in), std::pair(Number::kWritten, &shape.out)}) {
      add_side(result, first, byte_seconds, bytes, side->run * problem.element_bytes(), *side,
               share_in_l2(model, sliced, *side, work, waves));
    }
  }
  add_issue(result, model, work, waves, as_double(shape.in.runs), as_double(shape.out.runs));
  add_latency(result, work, waves);
  return result;
}

}  // namespace ttlg::cuda
