// Which kernel transposes a batch of matrices in place, and what that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/machine.hpp"

namespace ttlg::cpu {

// Steps one after another, and their predicted time.
struct Decomposition {
  std::vector<InplaceStep> steps;
  double seconds = 0;

  void append(const Decomposition& next) {
    steps.insert(steps.end(), next.steps.begin(), next.steps.end());
    seconds += next.seconds;
  }
};

// What all steps of a plan have in common.
struct StepLimits {
  const Machine& machine;
  int threads;
  std::int64_t workspace;
  std::optional<InplaceKernel> forced{};
};

// The predicted time of a step.
double step_seconds(const InplaceStep& step, const Machine& machine, int threads);

// Every kernel that can transpose these matrices in this workspace, at its best width by
// prediction.
std::vector<Decomposition> step_choices(const InplaceStep& matrices, const StepLimits& limits);

// The same, and where rows and columns have a large divisor c in common, a c and b c of them, three
// steps for squares of order c and for their rows.
std::vector<Decomposition> matrix_choices(const InplaceStep& matrices, const StepLimits& limits);

std::optional<Decomposition> fastest(std::vector<Decomposition> choices);

}  // namespace ttlg::cpu
