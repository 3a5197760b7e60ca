// Which kernel transposes a batch of matrices in place, and what that takes.
#pragma once

#include <cstdint>
#include <optional>

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
};

// The fastest kernel, by prediction; none where the workspace is too small for any.
std::optional<ChosenStep> choose_step(const InplaceStep& matrices, const StepLimits& limits);

}  // namespace ttlg::cpu
