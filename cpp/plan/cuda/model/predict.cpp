#include "plan/cuda/model/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "plan/cuda/model/launch_terms.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// A transaction of 32 floats.
constexpr std::int64_t kTransactionBytes = 128;

// C1, C2, C3 and C3' of TTLG, Table I, the last slice of a cut mode counted as it is. Each slice
// is taken to begin on a transaction.
std::int64_t side_transactions(const SideGeometry& side, std::int64_t element_bytes) {
  const auto of_slice = [&](std::int64_t elements) {
    return ceil_div(elements * element_bytes, kTransactionBytes);
  };
  return (side.whole * of_slice(side.length) + of_slice(side.rest)) * side.rows;
}

// Warp instructions that copy a slice of in_length x out_length through tiles of 32 x 32 (TTLG,
// section V): one for every row of a tile on its way in, and one for every column on its way out.
// The paper pairs the remainders the other way round, which counts neither.
std::int64_t slice_cycles(std::int64_t in_length, std::int64_t out_length) {
  return out_length * ceil_div(in_length, kWarpSize) + in_length * ceil_div(out_length, kWarpSize);
}

double distinct_cycles(const SliceGeometry& shape) {
  const SideGeometry& in = shape.in;
  const SideGeometry& out = shape.out;
  const std::int64_t once = in.whole * out.whole * slice_cycles(in.length, out.length) +
                            out.whole * slice_cycles(in.rest, out.length) +
                            in.whole * slice_cycles(in.length, out.rest) +
                            slice_cycles(in.rest, out.rest);
  const std::int64_t repeats = shape.slices / (in.slices() * out.slices());
  return static_cast<double>(once * repeats);
}

// Integer divisions and remainders for boundary checks (TTLG, section V): where a side is cut
// short, every element of the slice takes one of each to find its coordinate there.
double special_instructions(const SliceGeometry& shape) {
  const std::int64_t in_slices = shape.in.slices();
  const std::int64_t out_slices = shape.is_cut_once ? 1 : shape.out.slices();
  const std::int64_t repeats = shape.slices / (in_slices * out_slices);
  std::int64_t partial = 0;
  if (shape.in.rest > 0) partial += out_slices;
  if (shape.out.rest > 0 && !shape.is_cut_once) partial += in_slices;
  return 2.0 * static_cast<double>(partial * repeats * shape.volume);
}

double cycles_of_runs(const SliceGeometry& shape, std::int64_t element_bytes) {
  return static_cast<double>(side_transactions(shape.in, element_bytes) +
                             side_transactions(shape.out, element_bytes));
}

// The norm of this degree, a power of two, by squares and square roots.
double norm(std::array<double, 3> values, int degree) {
  const double longest = std::ranges::max(values);
  if (!(longest > 0)) return longest;
  double sum = 0;
  for (double value : values) {
    value /= longest;
    for (int d = degree; d > 1; d /= 2) value *= value;
    sum += value;
  }
  for (int d = degree; d > 1; d /= 2) sum = std::sqrt(sum);
  return longest * sum;
}

double physical_seconds(const DeviceModel& model, const SlicedProblem& sliced) {
  std::array<double, 3> groups{};
  const LaunchTerms counted = count_terms(model, sliced);
  for (const Term& term : counted.terms()) {
    groups[static_cast<std::size_t>(group_of(term.number))] +=
        model.costs[term.number] * term.seconds;
  }
  return model.launch_seconds + norm(groups, model.overlap);
}

// How much of the smallest tensor of the regressions' data set a problem has, at most 1.
double share_of_fitted(const DeviceModel& model, const Problem& problem) {
  return std::min(1.0, as_double(problem.bytes()) /
                           as_double(std::max<std::int64_t>(model.regression_bytes, 1)));
}

// The linear regression (TTLG, section V). Lengths of slices do not grow with the volume and make
// up an intercept, which holds from the smallest fitted tensor on. Below, it shrinks with the
// volume: as it is, it would be up to a millisecond of a K40c for any tensor.
double fitted_seconds(const Coefficients& coefficients, const Features& features, double share) {
  double seconds = 0;
  for (const auto& [name, value] : features) {
    const auto found = coefficients.find(name);
    if (found == coefficients.end()) continue;
    seconds += found->second * value * (is_of_slice(name) ? share : 1);
  }
  return seconds;
}

// Time of a copy whose bytes come from memory, or of a launch.
double min_seconds(const DeviceModel& model, const Problem& problem) {
  const bool in_cache = problem.bytes() <= model.l2_cache_bytes / 2;
  return std::max(model.launch_seconds, in_cache ? 0 : copy_seconds(model, problem));
}

}  // namespace

Transactions transactions(const SlicedProblem& sliced) {
  if (sliced.parameters.schema == Schema::copy) {
    const std::int64_t count = ceil_div(sliced.problem.bytes(), kTransactionBytes);
    return {.in_dram = count, .out_dram = count};
  }
  const SliceGeometry shape = geometry_of(sliced);
  const std::int64_t in = side_transactions(shape.in, sliced.problem.element_bytes());
  const std::int64_t out = side_transactions(shape.out, sliced.problem.element_bytes());
  switch (sliced.parameters.schema) {
    case Schema::fvi_match_small:
      return {.in_dram = in, .in_shared = in, .out_dram = out, .out_shared = out};
    case Schema::orthogonal_distinct:
      return {in, in, in, out, out, out};
    case Schema::orthogonal_arbitrary:
      return {in, in, in, out, out, 2 * out};
    case Schema::fvi_match_large:
      return {.in_dram = in, .out_dram = out};
    case Schema::copy:
      break;
  }
  return {};
}

Features features_of(const SlicedProblem& sliced) {
  const auto bytes = static_cast<double>(sliced.problem.bytes());
  if (sliced.parameters.schema == Schema::copy) return {{"Volume", bytes}};
  const SliceGeometry shape = geometry_of(sliced);
  const auto blocks = static_cast<double>(shape.slices / sliced.repeats());
  const auto of = [](std::int64_t elements) { return static_cast<double>(elements); };
  switch (sliced.parameters.schema) {
    case Schema::orthogonal_distinct:
      return {{"Volume", bytes},
              {"NumBlocks", blocks},
              {"Input slice", of(shape.in.length)},
              {"Output slice", of(shape.out.length)},
              {"Cycles", distinct_cycles(shape)}};
    case Schema::orthogonal_arbitrary:
      // Cycles by TTLG, section V: C3 + C3' summed over whole and partial slices. The volume is in
      // elements and the total slice counts repetitions: only so does Table II give times that a
      // K40c can have (docs/papers/ttlg.md).
      return {{"Volume", of(sliced.problem.elements())},
              {"NumThreads", blocks * OrthogonalArbitraryPolicy::kThreads},
              {"Total Slice", of(shape.volume * sliced.repeats())},
              {"Input Stride", of(shape.in.run)},
              {"Output Stride", of(shape.out.run)},
              {"Special Instr", special_instructions(shape)},
              {"Cycles", cycles_of_runs(shape, sliced.problem.element_bytes())}};
    case Schema::fvi_match_large:
    case Schema::fvi_match_small:
      // The paper leaves the models of the FVI kernels out (section V); these are ours.
      return {{"Volume", bytes},
              {"NumBlocks", blocks},
              {"FVI", of(sliced.problem.modes.front().extent)},
              {"Input slice", of(shape.in.length)},
              {"Output slice", of(shape.out.length)},
              {"Cycles", cycles_of_runs(shape, sliced.problem.element_bytes())}};
    case Schema::copy:
      break;
  }
  return {};
}

bool is_of_slice(std::string_view feature) {
  constexpr std::array<std::string_view, 6> kLengths{"Input slice",  "Output slice",  "Total Slice",
                                                     "Input Stride", "Output Stride", "FVI"};
  return std::ranges::find(kLengths, feature) != kLengths.end();
}

double copy_seconds(const DeviceModel& model, const Problem& problem) {
  return 2 * as_double(problem.bytes()) / model.memory_bytes_per_second;
}

// A regression that promises less than a copy has left what it was fitted to: its negative
// coefficients win. For tensors below the smallest fitted one, where launches and latencies count,
// the terms answer as long as they are between the regression's time and that of the smallest.
PredictedTime predict_time(const DeviceModel& model, const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  if (problem.bytes() == 0) return {.seconds = model.launch_seconds};
  const auto found = model.coefficients.find(sliced.parameters.schema);
  if (found == model.coefficients.end()) return {.seconds = physical_seconds(model, sliced)};
  const double share = share_of_fitted(model, problem);
  const double fitted = fitted_seconds(found->second, features_of(sliced), share);
  const bool is_possible = fitted >= min_seconds(model, problem);
  if (is_possible && share == 1) return {.seconds = fitted, .source = TimeSource::regression};
  const double physical = physical_seconds(model, sliced);
  const double most = fitted / share;
  if (!is_possible || (fitted < physical && physical < most)) return {.seconds = physical};
  return {.seconds = std::clamp(physical, fitted, most), .source = TimeSource::regression};
}

double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced) {
  return predict_time(model, sliced).seconds;
}

std::string_view describe(const DeviceModel& model, TimeSource source) {
  if (source == TimeSource::regression) return "regression";
  return model.has_fitted_costs() ? "physical terms" : "physical terms, uncalibrated";
}

}  // namespace ttlg::cuda
