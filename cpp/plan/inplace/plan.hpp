// The plan of a transposition in place: steps that each transpose a batch of matrices where they
// lie. Any permutation of any rank is a sequence of them, as each swaps two groups of modes; which
// sequence is the fastest is searched for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/inplace/decompose.hpp"
#include "plan/inplace/matrices.hpp"
#include "plan/plan_base.hpp"
#include "tensor/problem.hpp"

namespace ttlg {

// The request's normal form, folded. Throws std::invalid_argument where there are gaps.
Problem dense_problem(const Request& request);

// Throws std::invalid_argument: no steps by the forced kernel, or in this workspace. `min_bytes` is
// the least workspace that would do, or 0 where none does.
[[noreturn]] void refuse_steps(const Problem& folded, std::optional<std::string_view> forced,
                               std::int64_t workspace, std::int64_t min_bytes);

// Whether these transpositions, one after another, permute the modes; their extents may be any
// numbers. `folded` is without gaps.
bool permutes(const std::vector<Matrices>& sequence, const Problem& folded);

template <typename Step>
bool permutes(const std::vector<Step>& steps, const Problem& folded) {
  std::vector<Matrices> sequence;
  for (const Step& step : steps) sequence.push_back(matrices_of(step));
  return permutes(sequence, folded);
}

// What plans for every device have.
template <typename Step>
struct BasicInplacePlan : PlanBase {
  using PlanBase::PlanBase;

  std::vector<Step> steps{};
  std::int64_t workspace_limit = 0;  // what the planner could use
  std::int64_t workspace_bytes = 0;  // what the steps do use
  double predicted_seconds = 0;

 protected:
  // As far as all devices have them, the request and the parameters.
  bool is_same(const BasicInplacePlan& other) const {
    return request == other.request && steps == other.steps &&
           workspace_limit == other.workspace_limit;
  }
};

// Throws std::invalid_argument unless these steps carry the request out.
template <typename Step>
void check_steps(const Request& request, const std::vector<Step>& steps) {
  const Problem folded = dense_problem(request);
  const std::string refusal = "these steps do not carry the transposition out";
  const bool is_right = folded.bytes() == 0 ? steps.empty() : permutes(steps, folded);
  if (!is_right) throw std::invalid_argument(refusal);
  for (const Step& step : steps) {
    if (!applies(step)) throw std::invalid_argument(refusal + ": " + obstacle(step));
  }
}

// The fastest steps in a workspace of `workspace` bytes, by default a twentieth of the array's or
// `min_bytes` where that is more. Where even a few rows do not fit in the default, it is doubled
// until they do, up to `max_bytes`, with more than which nothing else is possible. Leaves the limit
// in `limits`; throws std::invalid_argument where there are no such steps.
template <typename Limits>
std::vector<typename Limits::Step> steps_within(const Problem& folded, Limits& limits,
                                                std::optional<std::int64_t> workspace,
                                                std::int64_t min_bytes, std::int64_t max_bytes) {
  constexpr std::int64_t kShareOfArray = 20;
  if (folded.bytes() == 0) {
    limits.workspace = workspace.value_or(0);
    return {};
  }
  limits.workspace = workspace.value_or(std::max(folded.bytes() / kShareOfArray, min_bytes));
  do {
    if (auto found = decompose(folded, limits)) return std::move(found->steps);
    if (workspace) break;
    limits.workspace *= 2;
  } while (limits.workspace <= max_bytes);
  std::optional<std::string_view> forced;
  if (limits.forced) forced = kernel_name(*limits.forced);
  refuse_steps(folded, forced, limits.workspace, min_workspace(folded, limits, max_bytes));
}

}  // namespace ttlg
