// Counts the terms of the time model for a plan, from its parameters alone.
#pragma once

#include "plan/cpu/machine.hpp"
#include "plan/cpu/model/terms.hpp"
#include "plan/cpu/parameters.hpp"
#include "plan/cpu/pieces.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// `folded` is fold_run of the plan's problem; `pieces` those of the block, where they are known;
// `fresh`: nobody has written to the output's pages yet, so that the first to write waits for the
// system to give them.
Terms count_terms(const Problem& folded, const Parameters& parameters, const Machine& machine,
                  bool fresh, const BlockPieces* pieces = nullptr);

}  // namespace ttlg::cpu
