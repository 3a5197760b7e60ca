#include "plan/cuda/planner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/plan.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Whether a choice that is no copy is expected to take more than twice as long as one from memory.
bool is_slow(const DeviceModel& model, const Problem& problem, const Candidate& choice) {
  return choice.parameters.schema != Schema::copy &&
         choice.seconds > 2 * (model.launch_seconds + copy_seconds(model, problem));
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
    if (count_ == kMaxCandidates && candidate.seconds >= kept_.back().seconds) return;
    count_ += count_ < kMaxCandidates;
    std::size_t i = count_ - 1;
    for (; i > 0 && candidate.seconds < kept_[i - 1].seconds; --i) kept_[i] = kept_[i - 1];
    kept_[i] = candidate;
  }
  std::span<const Candidate> kept() const { return std::span(kept_).first(count_); }

 private:
  static constexpr std::size_t kMaxCandidates = 4;
  std::array<Candidate, kMaxCandidates> kept_{};
  std::size_t count_ = 0;
};

// Whether a second buffer may pay: thread blocks that take several slices.
bool may_copy_ahead(const SlicedProblem& sliced, const DeviceModel& model) {
  const Schema schema = sliced.parameters.schema;
  const bool is_orthogonal =
      schema == Schema::orthogonal_distinct || schema == Schema::orthogonal_arbitrary;
  return is_orthogonal && grid_blocks(sliced) > model.multiprocessors;
}

// The slices of schemas with the times that they are predicted to take.
class Search {
 public:
  Search(const Problem& problem, std::int64_t pointer_alignment, const DeviceModel& model)
      : problem_(problem),
        alignment_(first_element_alignment(problem, pointer_alignment)),
        model_(model) {}

  // The candidates of a schema, if it is admissible.
  void add(Schema schema);
  // Valid until more are added: the fastest candidate, null where there is none, and all of them.
  const Candidate* fastest();
  std::span<const Candidate> all();

 private:
  const Candidate& consider(const SlicedProblem& sliced) {
    Candidate& added = found_.emplace_back(
        Candidate{.parameters = sliced.parameters, .seconds = predict_seconds(model_, sliced)});
    added.parameters.band_width = choose_band_width(sliced, model_);
    return added;
  }
  void add_variants(const Candidate& candidate, bool coarsened);
  bool lacks_layout(const Candidate& candidate) const;
  void lay_out(Candidate& candidate) const;

  const Problem& problem_;
  std::int64_t alignment_;
  const DeviceModel& model_;
  std::vector<Candidate> found_;
};

// The slices of a schema, and the few fastest of them again, with two buffers and with a coarsened
// mode (TTLG, section IV-A). Coarsening saves the start of blocks and costs parallelism. In
// Orthogonal-Arbitrary, whose blocks start slowly, it may suit another slice than the fastest one
// without it; in others the paper coarsens that one (Fig. 5).
void Search::add(Schema schema) {
  if (!applies(schema, problem_)) return;
  Fastest fastest;
  for (const Parameters& parameters : slices_of(problem_, schema, alignment_)) {
    const SlicedProblem sliced(problem_, parameters, alignment_);
    if (fits_grid(sliced)) fastest.show(consider(sliced));
  }
  for (const Candidate& candidate : fastest.kept()) {
    const bool coarsened =
        schema == Schema::orthogonal_arbitrary || &candidate == fastest.kept().data();
    add_variants(candidate, coarsened);
  }
}

void Search::add_variants(const Candidate& candidate, bool coarsened) {
  SlicedProblem sliced(problem_, candidate.parameters, alignment_);
  if (may_copy_ahead(sliced, model_)) {
    sliced.parameters.stages = kMaxStages;
    consider(sliced);
  }
  if (!coarsened) return;
  sliced.parameters.coarsened_mode = choose_coarsened_mode(sliced);
  if (sliced.parameters.coarsened_mode < 0) return;
  const int max_stages = sliced.parameters.stages;
  for (sliced.parameters.stages = 1; sliced.parameters.stages <= max_stages;
       ++sliced.parameters.stages) {
    consider(sliced);
  }
}

bool Search::lacks_layout(const Candidate& candidate) const {
  return !candidate.layout && counts_layout({problem_, candidate.parameters});
}

// A layout takes longer to find than all the rest of a plan, and can but add to a time. So slices
// that are slower even without that than another is with it are left without one.
const Candidate* Search::fastest() {
  while (!found_.empty()) {
    const auto first = std::ranges::min_element(found_, {}, &Candidate::seconds);
    if (!lacks_layout(*first)) return &*first;
    lay_out(*first);
  }
  return nullptr;
}

std::span<const Candidate> Search::all() {
  for (Candidate& candidate : found_) {
    if (lacks_layout(candidate)) lay_out(candidate);
  }
  return found_;
}

void Search::lay_out(Candidate& candidate) const {
  SlicedProblem sliced(problem_, candidate.parameters, alignment_);
  const auto variant = std::ranges::find_if(found_, [&](const Candidate& other) {
    return other.layout && other.parameters.slice == candidate.parameters.slice;
  });
  candidate.layout = variant != found_.end() ? variant->layout : choose_shared_layout(sliced);
  sliced.layout_cost = candidate.layout->cost;
  candidate.seconds = predict_seconds(model_, sliced);
}

void check_forced(Schema schema, const Problem& problem) {
  const std::string reason = obstacle(schema, problem);
  if (reason.empty()) return;
  throw std::invalid_argument("kernel '" + std::string(schema_name(schema)) +
                              "' does not apply: " + reason);
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const DeviceModel& model,
                                  std::int64_t pointer_alignment) {
  const std::span<const Schema> named = classify(problem).schemas;
  Search search(problem, pointer_alignment, model);
  for (const Schema schema : named) search.add(schema);
  const std::ptrdiff_t of_named = std::ssize(search.all());
  for (const Schema schema : kSchemas) {
    if (std::ranges::find(named, schema) == named.end()) search.add(schema);
  }
  const std::span<const Candidate> all = search.all();
  std::vector<Candidate> result(all.begin(), all.end());
  const auto others = result.begin() + of_named;
  std::ranges::stable_sort(result.begin(), others, {}, &Candidate::seconds);
  const bool named_suffice = of_named > 0 && !is_slow(model, problem, result.front());
  std::ranges::stable_sort(named_suffice ? others : result.begin(), result.end(), {},
                           &Candidate::seconds);
  return result;
}

Plan make_plan(const Request& request, std::int64_t pointer_alignment,
               std::shared_ptr<const DeviceModel> model, std::optional<Schema> forced) {
  Problem normal_form = make_problem(request);
  Problem problem = recast_problem(normal_form, pointer_alignment);
  if (forced) check_forced(*forced, problem);
  Search search(problem, pointer_alignment, *model);
  const auto fastest_of = [&](std::span<const Schema> schemas) {
    for (const Schema schema : schemas) search.add(schema);
    return search.fastest();
  };
  const Candidate* best =
      forced ? fastest_of({&*forced, 1}) : fastest_of(classify(problem).schemas);
  // The branch names the published choice. Where the model expects little of it, or its grid would
  // be too large, any other will do (TTLG, section V).
  const bool is_enough = best != nullptr && !is_slow(*model, problem, *best);
  if (!forced && !is_enough) best = fastest_of(kSchemas);
  if (best == nullptr) {
    throw std::invalid_argument(
        "no slice is large enough to keep " + std::to_string(problem.elements()) + " elements of " +
        std::to_string(problem.modes.size()) + " modes within 2^31 - 1 thread blocks");
  }
  return {request,
          pointer_alignment,
          std::move(normal_form),
          std::move(problem),
          best->parameters,
          std::move(model),
          best->layout};
}

std::int64_t choose_band_width(const SlicedProblem& sliced, const DeviceModel& model) {
  const Schema schema = sliced.parameters.schema;
  if (schema != Schema::orthogonal_distinct) return 0;
  const auto width = static_cast<int>(sliced.problem.element_bytes());
  const std::int64_t resident =
      resident_blocks(model, figures_of(schema, width, planned_access(sliced)),
                      sliced.parameters.stages * OrthogonalDistinctPolicy(width).buffer_bytes);
  const int mode = sliced.in_axis().back();
  const std::int64_t columns = ceil_div(sliced.mode(mode).extent, sliced.extent(mode));
  const double at_once = std::sqrt(as_double(std::min(grid_blocks(sliced), resident)));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(at_once), 1, columns);
}

}  // namespace ttlg::cuda
