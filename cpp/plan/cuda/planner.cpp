#include "plan/cuda/planner.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/recast.hpp"
#include "plan/cuda/slice_search.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Whether a choice is expected to reach less than half of a copy's rate, beyond the caches, where
// rates matter.
bool is_slow(const DeviceModel& model, const Problem& problem, double seconds) {
  const auto bytes = 2 * static_cast<double>(problem.bytes());
  return bytes > static_cast<double>(model.l2_cache_bytes) &&
         seconds > 2 * bytes / model.memory_bytes_per_second;
}

// Whether CUDA can number the blocks, or the runs of FVI-Match-Large.
bool fits_grid(const SlicedProblem& sliced) {
  return sliced.parameters.schema == Schema::copy || sliced.problem.elements() <= kMaxGridBlocks ||
         grid_blocks(sliced) <= kMaxGridBlocks;
}

// Whether thread blocks have several tiles to move, so that a second buffer serves a purpose.
bool has_several_tiles(const DeviceModel& model, const SlicedProblem& sliced) {
  if (sliced.parameters.schema != Schema::orthogonal_distinct) return false;
  const OrthogonalDistinctPolicy policy(sliced.problem.element_bytes);
  const auto volume = [&](std::span<const int> modes) {
    std::int64_t product = 1;
    for (const int m : modes) product *= sliced.extent(m);
    return product;
  };
  const std::int64_t tiles = ceil_div(volume(sliced.in_axis()), policy.tile_columns) *
                             ceil_div(volume(sliced.out_axis()), policy.tile_rows);
  return grid_blocks(sliced) * sliced.repeats() * tiles > resident_distinct_blocks(model, sliced);
}

// Calls visit(candidate) for the slices of a schema, and for the fastest of them once more with a
// coarsened mode (TTLG, section IV-A), which saves decoding and costs parallelism, and with a
// second buffer, which costs shared memory and so resident blocks.
template <typename Visit>
void for_each_candidate(const Problem& problem, std::int64_t alignment, Schema schema,
                        const DeviceModel& model, const Visit& visit) {
  std::optional<Candidate> best;
  const auto consider = [&](const SlicedProblem& sliced) {
    const Candidate candidate{sliced.parameters, predict_seconds(model, sliced)};
    if (!best || candidate.seconds < best->seconds) best = candidate;
    visit(candidate);
  };
  for (const Parameters& parameters : slices_of(problem, schema, alignment)) {
    const SlicedProblem sliced(problem, parameters, alignment);
    if (fits_grid(sliced)) consider(sliced);
  }
  if (!best) return;
  SlicedProblem coarsened(problem, best->parameters, alignment);
  coarsened.parameters.coarsened_mode = choose_coarsened_mode(coarsened);
  if (coarsened.parameters.coarsened_mode >= 0) consider(coarsened);
  SlicedProblem staged(problem, best->parameters, alignment);
  staged.parameters.stages = kMaxStages;
  if (has_several_tiles(model, staged)) consider(staged);
}

void check_forced(Schema schema, const Problem& problem) {
  if (is_admissible(schema, problem)) return;
  throw std::invalid_argument("kernel '" + std::string(schema_name(schema)) +
                              "' does not apply: it needs " + std::string(requirement_of(schema)));
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const DeviceModel& model,
                                  std::int64_t alignment) {
  const std::span<const Schema> named = classify(problem).schemas;
  std::vector<Candidate> result;
  const auto add = [&](Schema schema) {
    if (!is_admissible(schema, problem)) return;
    for_each_candidate(problem, first_element_alignment(problem, alignment), schema, model,
                       [&](const Candidate& candidate) { result.push_back(candidate); });
  };
  std::ranges::for_each(named, add);
  std::ranges::stable_sort(result, {}, &Candidate::seconds);
  const bool named_suffice = !result.empty() && !is_slow(model, problem, result.front().seconds);
  const auto count = named_suffice ? std::ssize(result) : 0;
  for (const Schema schema : kSchemas) {
    if (std::ranges::find(named, schema) == named.end()) add(schema);
  }
  std::ranges::stable_sort(result.begin() + count, result.end(), {}, &Candidate::seconds);
  return result;
}

Plan make_plan(const Request& request, std::int64_t alignment,
               std::shared_ptr<const DeviceModel> model, std::optional<Schema> forced) {
  Problem normal_form = make_problem(request);
  Problem problem = recast_problem(normal_form, alignment);
  if (forced) check_forced(*forced, problem);
  std::optional<Candidate> best;
  const auto search = [&](std::span<const Schema> schemas) {
    for (const Schema schema : schemas) {
      if (!is_admissible(schema, problem)) continue;
      for_each_candidate(problem, first_element_alignment(problem, alignment), schema, *model,
                         [&](const Candidate& candidate) {
                           if (!best || candidate.seconds < best->seconds) best = candidate;
                         });
    }
  };
  if (forced) {
    search({&*forced, 1});
  } else {
    search(classify(problem).schemas);
    // The branch names the published choice. Where the model expects little of it, or its grid
    // would be too large, any other will do (TTLG, section V).
    if (!best || is_slow(*model, problem, best->seconds)) search(kSchemas);
  }
  if (!best) {
    throw std::invalid_argument(
        "no slice is large enough to keep " + std::to_string(problem.elements()) + " elements of " +
        std::to_string(problem.modes.size()) + " modes within 2^31 - 1 thread blocks");
  }
  return {request,          alignment,       std::move(normal_form), std::move(problem),
          best->parameters, std::move(model)};
}

}  // namespace ttlg::cuda
