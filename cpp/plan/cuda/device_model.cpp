#include "plan/cuda/device_model.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cuda/access_width.hpp"
#include "plan/cuda/slice_geometry.hpp"
#include "tensor/integer.hpp"

// The analytic model, for schemas that nobody fitted on a device, such as the FVI kernels, whose
// regressions the paper leaves out (TTLG, section V). A launch takes what is longest: moving the
// sectors, issuing the instructions, or waiting for the rounds that the resident blocks make one
// after the other; and a tail, while the last blocks run alone. Its constants are estimates that
// order slices; a fit replaces them.

namespace ttlg::cuda {
namespace {

// What the memory moves at once: two sectors of 32 bytes.
constexpr double kBurstBytes = 64;
// Share of a burst's over-fetched bytes that is wasted where the slices in flight leave room in the
// L2 cache for neighbours to meet there, and where they do not.
constexpr double kSharedBurst = 0.25;
constexpr double kLoneBurst = 1.0;
// Cycles of a multiprocessor for the instructions around one access of a warp, to global memory and
// to shared memory together, and bytes that pass both in a cycle.
constexpr double kAccessCycles = 3;
constexpr double kBytesPerCycle = 64;
// What Orthogonal-Arbitrary adds to look an element up in its tables.
constexpr double kLookupCycles = 3;
// From the loads of one round to the end of its stores, and from a block's start to its first load.
constexpr double kRoundSeconds = 1.2e-6;
constexpr double kBlockSeconds = 0.5e-6;
// Share of a block's time for which the device idles at the end.
constexpr double kTail = 0.25;
// Share of the shorter times that the longest does not hide.
constexpr double kExposed = 0.1;

// What a launch asks of the device.
struct Work {
  std::int64_t in_lane_bytes = 1;  // of a lane's access
  std::int64_t out_lane_bytes = 1;
  double in_accesses = 0;  // of warps
  double out_accesses = 0;
  double blocks = 1;
  double rounds = 1;  // of one block
  int threads = 1;
  double resident = 8;  // blocks of a multiprocessor whose registers suffice
  double shared_bytes = 0;
  double lookup_cycles = 0;
};

std::int64_t round_up(std::int64_t x, std::int64_t unit) { return ceil_div(x, unit) * unit; }

// Accesses of warps to rows of one side's axis, whose ends leave lanes of the last unit idle.
double row_accesses(const SideGeometry& side, std::int64_t unit, std::int64_t lane_elements) {
  const std::int64_t per_row = side.whole * round_up(side.length, unit) + round_up(side.rest, unit);
  return as_double(per_row) * as_double(side.rows) / as_double(kWarpSize * lane_elements);
}

Work work_of(const SlicedProblem& sliced, const SliceGeometry& shape) {
  const Schema schema = sliced.parameters.schema;
  const std::int64_t element = sliced.problem.element_bytes;
  const std::int64_t repeats = sliced.repeats();
  Work work{.blocks = as_double(shape.slices / repeats), .rounds = as_double(repeats)};
  if (schema == Schema::fvi_match_large || schema == Schema::fvi_match_small) {
    work.in_lane_bytes = work.out_lane_bytes = run_word_bytes(sliced, kMaxAccessBytes);
  } else {
    const VectorAccess runs = vector_runs(sliced);
    work.in_lane_bytes = runs.vector_in ? kMaxAccessBytes : element;
    work.out_lane_bytes = runs.vector_out ? kMaxAccessBytes : element;
  }
  const std::int64_t in_lane = work.in_lane_bytes / element;
  const std::int64_t out_lane = work.out_lane_bytes / element;
  switch (schema) {
    case Schema::orthogonal_distinct: {
      const OrthogonalDistinctPolicy policy(element);
      work.in_accesses = row_accesses(shape.in, policy.tile_columns, in_lane);
      work.out_accesses = row_accesses(shape.out, policy.tile_rows, out_lane);
      work.rounds *= as_double(ceil_div(shape.in.length, policy.tile_columns) *
                               ceil_div(shape.out.length, policy.tile_rows));
      work.shared_bytes = as_double(sliced.parameters.stages * policy.buffer_bytes);
      work.threads = OrthogonalDistinctPolicy::kThreads;
      work.resident = policy.min_blocks_per_sm;
      break;
    }
    case Schema::orthogonal_arbitrary: {
      using Policy = OrthogonalArbitraryPolicy;
      // The lanes of short slices idle, and those of slices cut short.
      const double slots = as_double(round_up(shape.volume, Policy::kThreads) * shape.slices);
      work.in_accesses = slots / as_double(kWarpSize * in_lane);
      work.out_accesses = slots / as_double(kWarpSize * out_lane);
      work.shared_bytes = as_double(shape.volume * element);
      work.lookup_cycles = kLookupCycles;
      work.threads = Policy::kThreads;
      work.resident = Policy::kMinBlocksPerSm;
      break;
    }
    case Schema::fvi_match_small:
      work.in_accesses = row_accesses(shape.in, kWarpSize * in_lane, in_lane);
      work.out_accesses = row_accesses(shape.out, kWarpSize * out_lane, out_lane);
      work.shared_bytes = as_double(shape.volume * element);
      work.threads = FviMatchSmallPolicy::kThreads;
      break;
    default: {
      using Policy = FviMatchLargePolicy;
      // Groups of lanes take a run each, as many as fit into a block; TTLG, Alg. 7, gives a run a
      // block of its own.
      const std::int64_t lanes = ceil_div(shape.in.length, in_lane);
      const std::int64_t group = run_lanes(lanes, work.in_lane_bytes);
      work.in_accesses = row_accesses(shape.in, group * in_lane, in_lane);
      work.out_accesses = work.in_accesses;
      work.rounds = std::ceil(work.rounds * as_double(ceil_div(lanes, group)) / Policy::kBatch);
      work.blocks = std::ceil(work.blocks * as_double(group) / Policy::kThreads);
      work.threads = Policy::kThreads;
    }
  }
  return work;
}

// Bytes moved on one side: what is asked for, and the wasted share of what the bursts at both ends
// of every run fetch beyond it.
double side_bytes(const Problem& problem, const SideGeometry& side, double wasted_share) {
  const double over_fetched =
      std::max(0.0, kBurstBytes - as_double(side.run_alignment)) * as_double(side.runs);
  return as_double(problem.bytes()) + wasted_share * over_fetched;
}

double issue_seconds(const DeviceModel& model, const Work& work) {
  const auto cycles = [](std::int64_t lane_bytes) {
    return kAccessCycles + as_double(kWarpSize * lane_bytes) / kBytesPerCycle;
  };
  const double total = work.in_accesses * cycles(work.in_lane_bytes) +
                       work.out_accesses * (cycles(work.out_lane_bytes) + work.lookup_cycles);
  return total / (std::min(work.blocks, as_double(model.multiprocessors)) * model.clock_hz);
}

double analytic_seconds(const DeviceModel& model, const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  if (sliced.parameters.schema == Schema::copy) {
    return model.launch_seconds + 2 * as_double(problem.bytes()) / model.memory_bytes_per_second;
  }
  const SliceGeometry shape = geometry_of(sliced);
  const Work work = work_of(sliced, shape);
  const double by_threads = model.threads_per_multiprocessor / work.threads;
  const double by_shared =
      as_double(model.shared_bytes_per_multiprocessor) / std::max(work.shared_bytes, 1.0);
  const double resident =
      model.multiprocessors *
      std::max(1.0, std::floor(std::min({by_threads, by_shared, work.resident})));
  const double in_flight = 2 * resident * as_double(shape.volume * problem.element_bytes);
  const double share = in_flight <= as_double(model.l2_cache_bytes) ? kSharedBurst : kLoneBurst;
  const double memory =
      (side_bytes(problem, shape.in, share) + side_bytes(problem, shape.out, share)) /
      model.memory_bytes_per_second;
  const double issue = issue_seconds(model, work);
  const double waves = std::max(1.0, work.blocks / resident);
  // With two buffers a round waits for its loads while the one before it is stored.
  const double rounds = waves * work.rounds;
  const double waits = 1 + (rounds - 1) / sliced.parameters.stages;
  const double waiting = waves * kBlockSeconds + waits * kRoundSeconds;
  const double longest = std::max({memory, issue, waiting});
  const double exposed = kExposed * (memory + issue + waiting - longest);
  return model.launch_seconds + (longest + exposed) * (1 + kTail / waves);
}

// The linear regression (TTLG, section V).
double fitted_seconds(const Coefficients& coefficients, const Features& features) {
  double seconds = 0;
  for (const auto& [name, value] : features) {
    const auto found = coefficients.find(name);
    if (found != coefficients.end()) seconds += found->second * value;
  }
  return seconds;
}

// Time of a copy whose bytes come from memory, or of a launch.
double least_seconds(const DeviceModel& model, const Problem& problem) {
  const bool in_cache = problem.bytes() <= model.l2_cache_bytes / 2;
  const double copy = 2 * as_double(problem.bytes()) / model.memory_bytes_per_second;
  return std::max(model.launch_seconds, in_cache ? 0 : copy);
}

}  // namespace

std::int64_t resident_distinct_blocks(const DeviceModel& model, const SlicedProblem& sliced) {
  const OrthogonalDistinctPolicy policy(sliced.problem.element_bytes);
  const std::int64_t by_shared =
      model.shared_bytes_per_multiprocessor / (sliced.parameters.stages * policy.buffer_bytes);
  return model.multiprocessors * std::clamp<std::int64_t>(by_shared, 1, policy.min_blocks_per_sm);
}

double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  if (problem.bytes() == 0) return model.launch_seconds;
  const auto fitted = model.coefficients.find(sliced.parameters.schema);
  if (fitted == model.coefficients.end()) return analytic_seconds(model, sliced);
  // A regression that promises more than a copy has left what it was fitted to: its negative
  // coefficients win.
  const double seconds = fitted_seconds(fitted->second, features_of(sliced));
  return seconds >= least_seconds(model, problem) ? seconds : analytic_seconds(model, sliced);
}

}  // namespace ttlg::cuda
