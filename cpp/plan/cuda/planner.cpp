#include "plan/cuda/planner.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/access_width.hpp"
#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/recast.hpp"
#include "plan/cuda/slice_search.hpp"
#include "plan/cuda/taxonomy.hpp"

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

// The few fastest of the candidates that it is shown, without an allocation.
class Fastest {
 public:
  void show(const Candidate& candidate) {
    if (count_ == kMost && candidate.seconds >= kept_.back().seconds) return;
    count_ += count_ < kMost;
    std::size_t i = count_ - 1;
    for (; i > 0 && candidate.seconds < kept_[i - 1].seconds; --i) kept_[i] = kept_[i - 1];
    kept_[i] = candidate;
  }
  std::span<const Candidate> kept() const { return std::span(kept_).first(count_); }

 private:
  static constexpr std::size_t kMost = 4;
  std::array<Candidate, kMost> kept_{};
  std::size_t count_ = 0;
};

// Whether a second buffer may pay: thread blocks that take several slices, and asynchronous copies.
bool may_copy_ahead(const SlicedProblem& sliced, const DeviceModel& model) {
  const Schema schema = sliced.parameters.schema;
  if (schema != Schema::orthogonal_distinct && schema != Schema::orthogonal_arbitrary) return false;
  const bool is_asynchronous =
      sliced.problem.element_bytes >= 4 || planned_access(sliced).vector_in;
  return is_asynchronous && grid_blocks(sliced) > model.multiprocessors;
}

// Calls visit(candidate) for the slices of a schema, and for the few fastest of them again, with
// two buffers and with a coarsened mode (TTLG, section IV-A). Coarsening saves the start of blocks
// and costs parallelism. In Orthogonal-Arbitrary, whose blocks start slowly, it may suit another
// slice than the fastest one without it; in others the paper coarsens that one (Fig. 5).
template <typename Visit>
void for_each_candidate(const Problem& problem, std::int64_t alignment, Schema schema,
                        const DeviceModel& model, const Visit& visit) {
  Fastest fastest;
  const auto consider = [&](const SlicedProblem& sliced) {
    const Candidate candidate{sliced.parameters, predict_seconds(model, sliced)};
    visit(candidate);
    return candidate;
  };
  for (const Parameters& parameters : slices_of(problem, schema, alignment)) {
    const SlicedProblem sliced(problem, parameters, alignment);
    if (fits_grid(sliced)) fastest.show(consider(sliced));
  }
  for (const Candidate& candidate : fastest.kept()) {
    SlicedProblem sliced(problem, candidate.parameters, alignment);
    const bool copies_ahead = may_copy_ahead(sliced, model);
    if (copies_ahead) {
      sliced.parameters.stages = kMaxStages;
      consider(sliced);
    }
    if (schema != Schema::orthogonal_arbitrary && &candidate != fastest.kept().data()) continue;
    sliced.parameters.coarsened_mode = choose_coarsened_mode(sliced);
    if (sliced.parameters.coarsened_mode < 0) continue;
    for (int stages = 1; stages <= sliced.parameters.stages; ++stages) {
      SlicedProblem coarsened = sliced;
      coarsened.parameters.stages = stages;
      consider(coarsened);
    }
  }
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
