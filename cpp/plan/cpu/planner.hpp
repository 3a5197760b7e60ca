// The planner: which kernel, in which blocks, with how many threads. One visible cascade.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// What the planner must know of the machine; measured by cpu/, so that plan/ stays pure.
struct Machine {
  std::int64_t l1_cache_bytes = 32 << 10;
  std::int64_t l2_cache_bytes = 1 << 20;
  std::int64_t last_level_cache_bytes = 32 << 20;
  bool has_shuffle = true;  // an instruction that permutes the bytes of a vector
};

// One case of the cascade, tried from top to bottom.
struct Rule {
  Kernel kernel;
  bool (*applies)(const Problem& folded);
  std::string_view requirement;
};

std::span<const Rule> cascade();

// Throws std::invalid_argument, with what the kernel needs, where it does not apply.
void check_kernel(Kernel kernel, const Problem& folded);

// One way to carry a request out, and what it costs compared with a copy of the same bytes.
struct Candidate {
  Parameters parameters;
  double cost;
};

// All that the planner weighs, and the other kernels' too; the cheapest first.
std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads);

// Chooses every parameter for a request: `forced` fixes the kernel, `threads` is the most that may
// be used. Throws std::invalid_argument if the forced kernel does not apply.
Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced = std::nullopt);

}  // namespace ttlg::cpu
