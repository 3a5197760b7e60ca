// The slices of a problem: which the planner weighs, and whether given parameters fit it, and else
// why not: the limits of the kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/cuda/parameters.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// Slices of an admissible schema, none twice (TTLG, Alg. 3). Instead of every block factor, a side
// takes whole prefixes of its modes and prefixes of about the lengths that suit warps, sectors and
// tiles.
std::vector<Parameters> slices_of(const Problem& problem, Schema schema, std::int64_t alignment);

// What a slice has too much of, and how much it may have.
struct ExceededLimit {
  std::string_view what;
  std::int64_t limit;
};

// The limits of a slice of Orthogonal-Arbitrary, for the slice search as for `obstacle`.
std::optional<ExceededLimit> exceeded_arbitrary_limit(const SlicedProblem& sliced);

// Why the parameters do not fit the problem, or an empty string; they may be anything, where a
// SlicedProblem asks for modes that exist. `alignment` is as for recast_problem.
std::string obstacle(const Problem& problem, const Parameters& parameters,
                     std::int64_t alignment = kMaxAccessBytes);

}  // namespace ttlg::cuda
