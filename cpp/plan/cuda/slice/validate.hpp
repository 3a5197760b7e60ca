// Whether given parameters fit a problem, and else why not: the limits of the kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

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
