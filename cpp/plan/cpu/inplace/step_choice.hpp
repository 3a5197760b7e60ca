// Which kernel transposes a batch of matrices in place, and what that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/machine.hpp"

namespace ttlg::cpu {

struct ChosenStep {
  InplaceStep step;
  double seconds;
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
std::vector<ChosenStep> step_choices(const InplaceStep& matrices, const StepLimits& limits);

// The fastest of them.
std::optional<ChosenStep> choose_step(const InplaceStep& matrices, const StepLimits& limits);

}  // namespace ttlg::cpu
