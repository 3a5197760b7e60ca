// Sequences of steps that permute the modes of a tensor in place.
#pragma once

#include <optional>
#include <vector>

#include "plan/cpu/inplace/step_choice.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// The fastest sequence for up to six modes that do not stay neighbours (Dijkstra's algorithm over
// the orders of the modes). For more, the steps that bring the most modes together for their time,
// one after another, until so many are left. `folded` is without gaps. None where the workspace is
// too small for some step, or the forced kernel cannot carry one out.
std::optional<Decomposition> decompose(const Problem& folded, const StepLimits& limits);

// Every first step by every kernel that can carry it out, each with the fastest steps that follow;
// the fastest sequence first.
std::vector<Decomposition> decompositions(const Problem& folded, const StepLimits& limits);

// Whether these steps, one after another, permute the modes.
bool permutes(const std::vector<InplaceStep>& steps, const Problem& folded);

}  // namespace ttlg::cpu
