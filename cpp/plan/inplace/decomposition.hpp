// Steps of a transposition in place, one after another.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "plan/inplace/matrices.hpp"

namespace ttlg {

// The steps, and their predicted time.
template <typename Step>
struct Decomposition {
  std::vector<Step> steps;
  double seconds = 0;

  void append(const Decomposition& next) {
    steps.insert(steps.end(), next.steps.begin(), next.steps.end());
    seconds += next.seconds;
  }
};

template <typename Step>
std::optional<Decomposition<Step>> fastest(std::vector<Decomposition<Step>> choices) {
  const auto best = std::ranges::min_element(choices, {}, &Decomposition<Step>::seconds);
  return best == choices.end() ? std::nullopt : std::optional(std::move(*best));
}

// One after another, each by its fastest kernel. None where some of them have none.
template <typename Step, typename Limits>
std::optional<Decomposition<Step>> fastest_of_each(const std::vector<Matrices>& sequence,
                                                   const Limits& limits) {
  Decomposition<Step> whole;
  for (const Matrices& each : sequence) {
    const std::optional<Decomposition<Step>> best = fastest(limits.step_choices(each));
    if (!best) return std::nullopt;
    whole.append(*best);
  }
  return whole;
}

}  // namespace ttlg
