// Which kernel transposes a batch of matrices in place, and what that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/inplace/matrices.hpp"

namespace ttlg::cpu {

// The predicted time of a step.
double step_seconds(const InplaceStep& step, const Machine& machine, int threads);

// What all steps of a plan have in common, and what follows from it: see
// plan/inplace/decompose.hpp.
struct StepLimits {
  using Step = InplaceStep;
  static constexpr bool kExchanges = false;

  const Machine& machine;
  int threads;
  std::int64_t workspace;
  std::optional<InplaceKernel> forced{};

  // Every kernel that can transpose these matrices in this workspace, at its best width by
  // prediction.
  std::vector<Decomposition<InplaceStep>> step_choices(const Matrices& matrices) const;

  // The choices of step_choices, and three steps for squares and their rows where rows and columns
  // have a large divisor in common.
  std::vector<Decomposition<InplaceStep>> matrix_choices(const Matrices& matrices) const;
};

}  // namespace ttlg::cpu
