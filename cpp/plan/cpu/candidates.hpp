// The ways in which a kernel may carry a problem out, and what each of them costs.
#pragma once

#include <vector>

#include "plan/cpu/machine.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// One way to carry a request out, and what it costs compared with a copy of the same bytes.
struct Candidate {
  Parameters parameters;
  double cost;
};

// The cheapest way with this kernel; `threads` is the most that may be used.
Parameters best_parameters(const Problem& folded, Kernel kernel, const Machine& machine,
                           int threads);

// All the ways with this kernel, the cheapest first.
std::vector<Candidate> candidates_of(const Problem& folded, Kernel kernel, const Machine& machine,
                                     int threads);

}  // namespace ttlg::cpu
