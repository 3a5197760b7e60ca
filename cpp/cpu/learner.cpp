#include "cpu/learner.hpp"

#include <algorithm>
#include <utility>

#include "cpu/this_machine.hpp"
#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/search_space.hpp"

namespace ttlg::cpu {
namespace {

// Of one kind: on the same way to the output, and as far along the input's fastest mode. The model
// is surer of two such plans' order than of different ones', and neighbors of the fastest are tried
// in any case.
bool are_of_one_kind(const Parameters& a, const Parameters& b) {
  return a.kernel == b.kernel && a.staged == b.staged && a.streaming == b.streaming &&
         a.block.front() == b.block.front();
}

bool have_same_blocks(const Parameters& a, const Parameters& b) { return a.block == b.block; }

Plan with_parameters(const Plan& plan, const Parameters& parameters) {
  Plan result = build_plan(plan.request, parameters);
  result.thread_limit = plan.thread_limit;
  return result;
}

std::vector<Plan> plans_to_try(const Plan& chosen) {
  const std::vector<Candidate> listed =
      candidates(chosen.request, *this_machine(), chosen.thread_limit);
  std::vector<Plan> plans{chosen};
  const std::vector<Parameters> others =
      parameters_to_try(chosen.parameters, listed, are_of_one_kind, have_same_blocks);
  for (const Parameters& each : others) plans.push_back(with_parameters(chosen, each));
  return plans;
}

// What the calls of a plan's trials tell the time model.
std::vector<Timing> timings_of(const Plan& plan) {
  const auto machine = this_machine(false);
  const Problem folded = gather_bits(plan.problem);
  std::vector<Timing> timings;
  for (const Timed& each : plan.measured) {
    const Terms terms = count_terms(folded, each.parameters, *machine, false);
    timings.push_back({.costs = costs_of(terms, machine->model), .seconds = each.seconds});
  }
  return timings;
}

// The times of a plan that was tried again, the planner's own choice first, as before. Where that
// has not been tried this time, its earlier time stands.
std::vector<Timed> planned_first(std::vector<Timed> timed, const Timed& planned) {
  if (!bring_to_front(timed, planned.parameters)) timed.insert(timed.begin(), planned);
  return timed;
}

std::vector<Plan> neighbors(const Plan& plan) {
  std::vector<Plan> plans;
  for (const Parameters& each : neighbors_of(gather_bits(plan.problem), plan.parameters)) {
    plans.push_back(with_parameters(plan, each));
  }
  return plans;
}

}  // namespace

Learner::Call Learner::begin(const std::shared_ptr<const Plan>& chosen) {
  const auto lock = try_to_lock();
  if (!lock) return {.plan = chosen};
  Entry* const entry = enter(chosen);
  if (entry == nullptr) return {.plan = chosen};
  if (!entry->trials) {
    if (!chosen->measured.empty()) return {.plan = chosen};
    entry->trials.emplace(plans_to_try(*chosen), neighbors);
  }
  const std::size_t number = entry->trials->next();
  return {.plan = entry->trials->plan(number), .number = number};
}

std::shared_ptr<const Plan> Learner::end(const Plan& chosen, const Call& call, double seconds,
                                         bool is_new) {
  const auto lock = try_to_lock();
  if (!lock) return nullptr;
  Entry* const entry = find(chosen);
  if (entry == nullptr) return nullptr;
  if (!call.number) {
    if (!entry->trials && !chosen.measured.empty() && entry->own.watch.record(seconds)) {
      entry->trials.emplace(plans_to_try(chosen), neighbors);
    }
    return nullptr;
  }
  // The trials that the call belonged to may have been forgotten, and others begun.
  if (!entry->trials || !entry->trials->has(*call.number, call.plan)) return nullptr;
  entry->trials->record(*call.number, seconds);
  entry->own.is_new = entry->own.is_new || is_new;
  return entry->trials->is_settled() ? end_trials(*entry) : nullptr;
}

// From now on the calls of what is kept are watched.
std::shared_ptr<const Plan> Learner::end_trials(Entry& entry) {
  Plan result = entry.trials->result();
  // What conversions take teaches nothing about what moves bits.
  if (!entry.own.is_new && !result.conversion) correct_time_model(timings_of(result));
  if (!entry.chosen->measured.empty()) {
    result.measured = planned_first(std::move(result.measured), entry.chosen->measured.front());
  }
  auto kept = std::make_shared<const Plan>(std::move(result));
  entry = {.chosen = kept, .used = entry.used};
  return kept;
}

std::vector<Timed> Learner::timed(const Plan& chosen) {
  return timed_so_far(
      [&](const Plan& each) { return each == chosen && each.thread_limit == chosen.thread_limit; });
}

}  // namespace ttlg::cpu
