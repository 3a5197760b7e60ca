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

// Whether the extents of a side's first two modes multiply to a warp's width.
bool has_wide_pair(const Problem& problem, std::span<const int> order) {
  std::int64_t product = 1;
  for (const int m : order.first(std::min<std::size_t>(2, order.size()))) {
    product *= problem.modes[static_cast<std::size_t>(m)].extent;
  }
  return product >= kWarpSize;
}

bool is_copy(const Problem& problem) {
  if (problem.modes.empty() || problem.bytes() == 0) return true;
  const Mode& first = problem.modes.front();
  return problem.modes.size() == 1 && first.in_byte_stride == problem.element_bytes &&
         first.out_byte_stride == problem.element_bytes;
}

bool is_distinct(const Problem& problem) {
  const auto in_modes = modes_of_a_warp(problem, identity_order(problem.modes.size()));
  const auto out_modes = modes_of_a_warp(problem, problem.perm);
  return std::ranges::all_of(std::span(problem.perm).first(out_modes),
                             [&](int m) { return static_cast<std::size_t>(m) >= in_modes; });
}

bool matches(const Problem& problem) { return problem.perm.front() == 0; }

bool matches_long_run(const Problem& problem) {
  return matches(problem) && problem.modes.front().extent >= kWarpSize;
}

bool matches_two_modes(const Problem& problem) {
  return matches(problem) && (problem.modes.size() == 1 || problem.perm[1] == 1);
}

bool matches_wide_pairs(const Problem& problem) {
  return matches(problem) && has_wide_pair(problem, identity_order(problem.modes.size())) &&
         has_wide_pair(problem, problem.perm);
}

bool always(const Problem&) { return true; }

// Fig. 3 checks the FVI before the overlap and Alg. 1 after it, which is the same: equal FVIs are
// in both sets.
const std::array<TaxonomyRule, 7> kTaxonomy{{
    {"one run", is_copy, {Schema::copy}, "all modes fused into one run contiguous on both sides"},
    {"disjoint",
     is_distinct,
     {Schema::orthogonal_distinct},
     "the modes that fill a warp on either side are not the same ones"},
    {"same FVI, long",
     matches_long_run,
     {Schema::fvi_match_large},
     "the same fastest mode, of at least 32 elements"},
    // Nothing is permuted within reach of a slice: a copy between strided arrays.
    {"same two fastest modes",
     matches_two_modes,
     {Schema::fvi_match_large, Schema::orthogonal_arbitrary},
     "the same two fastest modes, of strides that do not fuse"},
    {"same FVI, long pairs",
     matches_wide_pairs,
     {Schema::fvi_match_small},
     "the same fastest mode, and two modes that fill a warp on either side"},
    // Alg. 1 says Orthogonal-Arbitrary, the text and Fig. 3 whichever is predicted to be faster.
    {"same FVI, short",
     matches,
     {Schema::orthogonal_arbitrary, Schema::fvi_match_small},
     "the same fastest mode, and two modes that do not fill a warp"},
    // Slices that end before the overlap may be better (TTLG, section V).
    {"overlapping", always, {Schema::orthogonal_arbitrary, Schema::orthogonal_distinct}, "nothing"},
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

bool is_admissible(Schema schema, const Problem& problem) {
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

std::string_view requirement_of(Schema schema) {
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

}  // namespace ttlg::cuda
