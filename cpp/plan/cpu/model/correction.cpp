#include "plan/cpu/model/correction.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace ttlg::cpu {
namespace {

// Standard deviations, as logarithms: of what a problem's plans take by what is predicted, all of
// them and each of its own.
constexpr double kProblemSpread = 0.3;
constexpr double kPlanSpread = 0.3;
// Plans whose times are further off, as logarithms, count as this far off.
constexpr double kMaxError = 1;
// What the factors may have changed from one trial to the next, as a variance: the machine may
// become busy, or idle again.
constexpr double kDrift = 1e-4;

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

Cost cost_of(std::string_view name) {
  if (name == "fresh_pages") return Cost::new_pages;
  if (name == "call" || name.starts_with("team")) return Cost::threads;
  const bool is_read = name.starts_with("read_");
  const bool is_written = name.starts_with("written_");
  constexpr auto kOfShortRuns = std::to_array<std::string_view>(
      {"split", "continued", "run_below_", "rows_above_", "aliasing", "conflicts"});
  if ((is_read || is_written) &&
      std::ranges::any_of(kOfShortRuns, [&](std::string_view part) { return has(name, part); })) {
    return Cost::short_runs;
  }
  if (is_read || name.starts_with("copied_")) {
    return has(name, "memory") ? Cost::memory_lines : Cost::cached_lines;
  }
  if (name.starts_with("stream_copied_") || name == "written_direct_lines" ||
      name == "all_streamed") {
    return Cost::streamed_lines;
  }
  return is_written ? Cost::written_lines : Cost::instructions;
}

const std::array<Cost, kTerms>& costs_of_terms() {
  static const std::array<Cost, kTerms> costs = [] {
    std::array<Cost, kTerms> result;
    std::ranges::transform(term_names(), result.begin(), cost_of);
    return result;
  }();
  return costs;
}

}  // namespace

Costs costs_of(const Terms& terms, const TimeModel& model) {
  Costs costs{};
  const TermValues values = values_of(terms);
  for (std::size_t i = 0; i < kTerms; ++i) {
    costs[index_of(costs_of_terms()[i])] += values[i] * model.seconds[i];
  }
  return costs;
}

Correction::Correction(const Costs& factors) {
  for (const Cost cost : kCosts) {
    const double factor = factors[index_of(cost)];
    if (!(factor >= 1 / kMaxFactor && factor <= kMaxFactor)) {
      throw std::invalid_argument("the factor of '" + std::string(kCosts.name(cost)) +
                                  "' must be between 1/3 and 3, not " + std::to_string(factor));
    }
    logarithms_[index_of(cost)] = std::log(factor);
  }
  trust(0);
}

void Correction::trust(double scale_spread) {
  for (std::size_t i = 0; i < kCosts.size(); ++i) {
    for (std::size_t k = 0; k < kCosts.size(); ++k) {
      covariance_[i][k] = scale_spread * scale_spread + (i == k ? kSpread * kSpread : 0);
    }
  }
}

void Correction::learn(std::span<const Timing> trial) {
  const Costs before = logarithms_;
  begin_trial();
  for (const Timing& timing : trial) observe(timing);
  for (std::size_t i = 0; i < logarithms_.size(); ++i) {
    const double step = std::log(kMaxStep);
    const double end = std::log(kMaxFactor);
    const double near = std::clamp(logarithms_[i], before[i] - step, before[i] + step);
    logarithms_[i] = std::clamp(near, -end, end);
  }
  ++trials_;
}

void Correction::begin_trial() {
  problem_ = 0;
  for (std::size_t i = 0; i < kStates; ++i) covariance_[i].back() = covariance_.back()[i] = 0;
  covariance_.back().back() = kProblemSpread * kProblemSpread;
  for (std::size_t i = 0; i < kCosts.size(); ++i) covariance_[i][i] += kDrift;
}

// One measurement of the logarithm of a sum: its gradient by the logarithms of the factors are the
// shares of the costs.
void Correction::observe(const Timing& timing) {
  States gradient{};
  double predicted = 0;
  for (std::size_t i = 0; i < kCosts.size(); ++i) {
    gradient[i] = timing.costs[i] * std::exp(logarithms_[i]);
    predicted += gradient[i];
  }
  if (!(predicted > 0 && timing.seconds > 0)) return;
  for (double& each : gradient) each /= predicted;
  gradient.back() = 1;
  const double error =
      std::clamp(std::log(timing.seconds / predicted) - problem_, -kMaxError, kMaxError);
  States gain{};
  double variance = kPlanSpread * kPlanSpread;
  for (std::size_t i = 0; i < kStates; ++i) {
    for (std::size_t k = 0; k < kStates; ++k) gain[i] += covariance_[i][k] * gradient[k];
    variance += gradient[i] * gain[i];
  }
  for (std::size_t i = 0; i < kStates; ++i) {
    for (std::size_t k = 0; k < kStates; ++k) covariance_[i][k] -= gain[i] * gain[k] / variance;
  }
  for (std::size_t i = 0; i < kCosts.size(); ++i) logarithms_[i] += gain[i] / variance * error;
  problem_ += gain.back() / variance * error;
}

Costs Correction::factors() const {
  Costs result;
  std::ranges::transform(logarithms_, result.begin(), [](double each) { return std::exp(each); });
  return result;
}

TimeModel Correction::applied_to(const TimeModel& model) const {
  TimeModel result = model;
  const Costs factor = factors();
  for (std::size_t i = 0; i < kTerms; ++i) {
    result.seconds[i] *= factor[index_of(costs_of_terms()[i])];
  }
  return result;
}

}  // namespace ttlg::cpu
