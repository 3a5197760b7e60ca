#include "plan/cuda/taxonomy.hpp"

#include <algorithm>
#include <array>

#include "plan/cuda/policy.hpp"

namespace ttlg::cuda {
namespace {

// The number of modes, fastest first, whose extents multiply to a warp's width (B of Alg. 1); all
// of them where they never do.
std::size_t modes_of_a_warp(const Problem& problem, std::span<const int> order) {
  std::int64_t product = 1;
  std::size_t count = 0;
  while (count < order.size() && product < kWarpSize) {
    product *= problem.modes[static_cast<std::size_t>(order[count++])].extent;
  }
  return count;
}

// Elements of a side's first two modes.
std::int64_t pair_elements(const Problem& problem, std::span<const int> order) {
  std::int64_t product = 1;
  for (const int m : order.first(std::min<std::size_t>(2, order.size()))) {
    product *= problem.modes[static_cast<std::size_t>(m)].extent;
  }
  return product;
}

// The smaller one of both sides.
std::int64_t smaller_pair_elements(const Problem& problem) {
  return std::min(pair_elements(problem, identity_order(problem.modes.size())),
                  pair_elements(problem, problem.perm));
}

bool is_copy(const Problem& problem) {
  if (problem.modes.empty() || problem.bytes() == 0) return true;
  const Mode& first = problem.modes.front();
  return problem.modes.size() == 1 && first.in_byte_stride == problem.element_bytes() &&
         first.out_byte_stride == problem.element_bytes();
}

// The output's fastest mode among those that both sides need to fill a warp; -1: there is none.
int common_mode_of_warps(const Problem& problem) {
  const auto in_modes = modes_of_a_warp(problem, identity_order(problem.modes.size()));
  const auto out_order = std::span(problem.perm).first(modes_of_a_warp(problem, problem.perm));
  const auto found = std::ranges::find_if(
      out_order, [&](int m) { return static_cast<std::size_t>(m) < in_modes; });
  return found == out_order.end() ? -1 : *found;
}

bool is_distinct(const Problem& problem) { return common_mode_of_warps(problem) < 0; }

bool matches(const Problem& problem) { return problem.perm.front() == 0; }

bool matches_long_run(const Problem& problem) {
  return matches(problem) && problem.modes.front().extent >= kWarpSize;
}

bool matches_two_modes(const Problem& problem) {
  return matches(problem) && (problem.modes.size() == 1 || problem.perm[1] == 1);
}

bool matches_wide_pairs(const Problem& problem) {
  return matches(problem) && smaller_pair_elements(problem) >= kWarpSize;
}

bool always(const Problem&) { return true; }

std::string no_single_run(const Problem& problem) {
  const std::size_t modes = problem.modes.size();
  if (modes == 1) return "a mode of strides that are not contiguous";
  return std::to_string(modes) + " modes are left";
}

std::string no_distinct_modes(const Problem& problem) {
  const auto mode = static_cast<std::size_t>(common_mode_of_warps(problem));
  return "both sides need the same mode, of " + std::to_string(problem.modes[mode].extent) +
         " elements, to fill a warp";
}

std::string no_match(const Problem&) { return "different fastest modes"; }

std::string no_long_run(const Problem& problem) {
  if (!matches(problem)) return no_match(problem);
  return "the fastest mode has " + std::to_string(problem.modes.front().extent) +
         " elements, not 32 or more";
}

std::string no_second_match(const Problem& problem) {
  return matches(problem) ? "different second-fastest modes" : no_match(problem);
}

std::string no_wide_pairs(const Problem& problem) {
  if (!matches(problem)) return no_match(problem);
  return "the two fastest modes of a side have " + std::to_string(smaller_pair_elements(problem)) +
         " elements, not 32 or more";
}

// Fig. 3 checks the FVI before the overlap and Alg. 1 after it, which is the same: equal FVIs are
// in both sets.
const std::array<TaxonomyRule, 7> kTaxonomy{{
    {"one run",
     is_copy,
     {Schema::copy},
     "all modes fused into one run contiguous on both sides",
     no_single_run},
    {"disjoint",
     is_distinct,
     {Schema::orthogonal_distinct},
     "the modes that fill a warp on either side are not the same ones",
     no_distinct_modes},
    {"same FVI, long",
     matches_long_run,
     {Schema::fvi_match_large},
     "the same fastest mode, of at least 32 elements",
     no_long_run},
    // Nothing is permuted within reach of a slice: a copy between strided arrays.
    {"same two fastest modes",
     matches_two_modes,
     {Schema::fvi_match_large, Schema::orthogonal_arbitrary},
     "the same two fastest modes, of strides that do not fuse",
     no_second_match},
    {"same FVI, long pairs",
     matches_wide_pairs,
     {Schema::fvi_match_small},
     "the same fastest mode, and two modes that fill a warp on either side",
     no_wide_pairs},
    // Alg. 1 says Orthogonal-Arbitrary, the text and Fig. 3 whichever is predicted to be faster.
    {"same FVI, short",
     matches,
     {Schema::orthogonal_arbitrary, Schema::fvi_match_small},
     "the same fastest mode, and two modes that do not fill a warp",
     no_match},
    // Slices that end before the overlap may be better (TTLG, section V).
    {"overlapping",
     always,
     {Schema::orthogonal_arbitrary, Schema::orthogonal_distinct},
     "anything",
     nullptr},
}};

bool has_small_run(const Problem& problem) {
  return matches(problem) && !matches_two_modes(problem) &&
         problem.modes.front().extent < kWarpSize;
}

}  // namespace

std::span<const TaxonomyRule> taxonomy() { return kTaxonomy; }

const TaxonomyRule& classify(const Problem& problem) {
  return *std::ranges::find_if(kTaxonomy,
                               [&](const TaxonomyRule& rule) { return rule.applies(problem); });
}

bool applies(Schema schema, const Problem& problem) {
  if (!problem.moves_bits()) return false;
  if (problem.modes.empty() || problem.bytes() == 0) return schema == Schema::copy;
  switch (schema) {
    case Schema::copy:
      return is_copy(problem);
    case Schema::fvi_match_large:
      return matches(problem);
    case Schema::fvi_match_small:
      return has_small_run(problem);
    case Schema::orthogonal_distinct:
      return !matches(problem);
    case Schema::orthogonal_arbitrary:
      return true;
  }
  return false;
}

std::string_view requirement(Schema schema) {
  switch (schema) {
    case Schema::copy:
      return "all modes fused into one run that is contiguous on both sides";
    case Schema::fvi_match_large:
      return "the same fastest mode on both sides";
    case Schema::fvi_match_small:
      return "the same fastest mode on both sides, of fewer than 32 elements, and different "
             "second-fastest ones";
    case Schema::orthogonal_distinct:
      return "different fastest modes";
    case Schema::orthogonal_arbitrary:
      break;
  }
  return "elements and at least one mode";
}

std::string obstacle(Schema schema, const Problem& problem) {
  if (applies(schema, problem)) return "";
  return problem.moves_bits() ? "it needs " + std::string(requirement(schema))
                              : problem.conversion_obstacle();
}

}  // namespace ttlg::cuda
