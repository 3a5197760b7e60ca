#include "plan/cuda/model/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "plan/cuda/model/features.hpp"
#include "plan/cuda/model/launch_terms.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

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
