#include "plan/cuda/planner.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/slice_search.hpp"

namespace ttlg::cuda {
namespace {

// Whether a choice is expected to reach less than half of a copy's rate, beyond the caches, where
// rates matter.
bool is_slow(const DeviceModel& model, const Problem& words, double seconds) {
  const auto bytes = 2 * static_cast<double>(words.bytes());
  return bytes > static_cast<double>(model.l2_cache_bytes) &&
         seconds > 2 * bytes / model.memory_bytes_per_second;
}

// Whether CUDA can number the blocks, or the runs of FVI-Match-Large.
bool fits_grid(const Problem& words, const Parameters& parameters) {
  if (parameters.schema == Schema::copy || words.elements() <= kMaxGridBlocks) {
    return true;
  }
  return grid_blocks(words, parameters) <= kMaxGridBlocks;
}

// Calls visit(candidate) for the slices of a schema, and for the fastest of them once more with a
// coarsened mode (T-19): coarsening saves the start of blocks and costs parallelism.
template <typename Visit>
void for_each_candidate(const Problem& words, std::int64_t alignment, Schema schema,
                        const DeviceModel& model, const Visit& visit) {
  std::optional<Candidate> best;
  for (const Parameters& parameters : slices_of(words, schema, alignment)) {
    if (!fits_grid(words, parameters)) continue;
    const Candidate candidate{parameters, predict_seconds(model, words, parameters)};
    if (!best || candidate.seconds < best->seconds) best = candidate;
    visit(candidate);
  }
  if (!best) return;
  best->parameters.coarsened_mode = coarsened_mode(words, best->parameters);
  if (best->parameters.coarsened_mode < 0) return;
  best->seconds = predict_seconds(model, words, best->parameters);
  visit(*best);
}

void check_forced(Schema schema, const Problem& words) {
  if (is_admissible(schema, words)) return;
  throw std::invalid_argument("kernel '" + std::string(schema_name(schema)) +
                              "' does not apply: it needs " + std::string(requirement_of(schema)));
}

}  // namespace

std::vector<Candidate> candidates(const Problem& words, const DeviceModel& model,
                                  std::int64_t alignment) {
  std::vector<Candidate> result;
  for (const Schema schema : kSchemas) {
    if (!is_admissible(schema, words)) continue;
    for_each_candidate(words, place_alignment(words, alignment), schema, model,
                       [&](const Candidate& candidate) { result.push_back(candidate); });
  }
  std::ranges::stable_sort(result, {}, &Candidate::seconds);
  return result;
}

Plan make_plan(const Request& request, std::int64_t alignment, const DeviceModel& model,
               std::optional<Schema> forced) {
  Problem problem = make_problem(request);
  Problem words = word_form(problem, alignment);
  if (forced) check_forced(*forced, words);
  std::optional<Candidate> best;
  const auto search = [&](std::span<const Schema> schemas) {
    for (const Schema schema : schemas) {
      if (!is_admissible(schema, words)) continue;
      for_each_candidate(words, place_alignment(words, alignment), schema, model,
                         [&](const Candidate& candidate) {
                           if (!best || candidate.seconds < best->seconds) best = candidate;
                         });
    }
  };
  if (forced) {
    search({&*forced, 1});
  } else {
    search(classify(words).schemas);
    // The branch names the published choice. Where the model expects little of it, or its grid
    // would be too large, any other will do (T-03, item 5).
    if (!best || is_slow(model, words, best->seconds)) search(kSchemas);
  }
  if (!best) {
    throw std::invalid_argument(
        "no slice is large enough to keep " + std::to_string(words.elements()) + " elements of " +
        std::to_string(words.modes.size()) + " modes within 2^31 - 1 thread blocks");
  }
  Plan plan = assemble(request, alignment, std::move(problem), std::move(words), best->parameters,
                       model.name);
  plan.predicted_seconds = best->seconds;
  return plan;
}

}  // namespace ttlg::cuda
