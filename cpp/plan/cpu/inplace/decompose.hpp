// Sequences of steps that permute the modes of a tensor in place.
#pragma once

#include <optional>
#include <vector>

#include "plan/cpu/inplace/step_choice.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct Decomposition {
  std::vector<InplaceStep> steps;
  double seconds = 0;
};

// The fastest sequence for up to six modes that do not stay neighbours (Dijkstra's algorithm over
// the orders of the modes). For more, the steps that bring the most modes together for their time,
// one after another, until so many are left. `folded` is without gaps. None where the workspace is
// too small for some step.
std::optional<Decomposition> decompose(const Problem& folded, const StepLimits& limits);

}  // namespace ttlg::cpu
