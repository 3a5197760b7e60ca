// Counts the terms of the time model for a plan, from its parameters alone.
#pragma once

#include "plan/cpu/block/runs.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/model/terms.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// `folded` is gather_bits of the plan's problem; `runs` those of the block, where they are known;
// `fresh`: the output's pages have not been written to yet, so that the first to write waits for
// the system to give them.
Terms count_terms(const Problem& folded, const Parameters& parameters, const Machine& machine,
                  bool fresh, const BlockRuns* runs = nullptr);

}  // namespace ttlg::cpu
