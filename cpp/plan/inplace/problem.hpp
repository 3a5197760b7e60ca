// What can be transposed in place, and how the rest is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/problem.hpp"

namespace ttlg {

// The request's normal form, folded. Throws std::invalid_argument where there are gaps.
Problem dense_problem(const Request& request);

// Throws std::invalid_argument: no steps by the forced kernel, or in this workspace. `min_bytes` is
// the least workspace that would do, or 0 where none does.
[[noreturn]] void refuse_steps(const Problem& folded, std::optional<std::string_view> forced,
                               std::int64_t workspace, std::int64_t min_bytes);

}  // namespace ttlg
