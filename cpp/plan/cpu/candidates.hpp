// The ways in which a problem may be carried out, and how long the time model says each of them
// takes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cpu/model/machine.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct Candidate {
  Parameters parameters;
  double seconds;  // into a warm output
};

// The fastest way; `threads` is the most that may be used. `forced` must be able to carry the
// problem out.
Candidate best_candidate(const Problem& folded, const Machine& machine, int threads,
                         std::optional<Kernel> forced);

// The ways that the search evaluates where no kernel is forced, or all that it may come to.
enum class CandidateSet : std::uint8_t { searched, all };

// The fastest first.
std::vector<Candidate> candidates_of(const Problem& folded, const Machine& machine, int threads,
                                     CandidateSet set);

}  // namespace ttlg::cpu
