#include "plan/cuda/model/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
double min_seconds(const DeviceModel& model, const Problem& problem) {
  const bool in_cache = problem.bytes() <= model.l2_cache_bytes / 2;
  const double copy = 2 * as_double(problem.bytes()) / model.memory_bytes_per_second;
  return std::max(model.launch_seconds, in_cache ? 0 : copy);
}

}  // namespace

double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  if (problem.bytes() == 0) return model.launch_seconds;
  const auto fitted = model.coefficients.find(sliced.parameters.schema);
  if (fitted == model.coefficients.end()) return physical_seconds(model, sliced);
  // A regression that promises more than a copy has left what it was fitted to: its negative
  // coefficients win.
  const double seconds = fitted_seconds(fitted->second, features_of(sliced));
  return seconds >= min_seconds(model, problem) ? seconds : physical_seconds(model, sliced);
}

}  // namespace ttlg::cuda
