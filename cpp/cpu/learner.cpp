#include "cpu/learner.hpp"

#include <algorithm>

#include "cpu/this_machine.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/search_space.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMaxEntries = 256;
// Trials goes on from the fastest of them.
constexpr std::size_t kFirstPlans = 8;
// Plans that are predicted to take longer than this many times the fastest are not tried.
constexpr double kMaxRatio = 1.6;

// Of one kind: on the same way to the output, and as far along the input's fastest mode. The model
// is surer of two such plans' order than of different ones'.
constexpr std::ptrdiff_t kMaxOfOneKind = 2;

bool are_of_one_kind(const Parameters& a, const Parameters& b) {
  return a.kernel == b.kernel && a.staged == b.staged && a.streaming == b.streaming &&
         a.block.front() == b.block.front();
}

// Whether a plan has the same blocks, or there are enough of its kind.
bool is_tried(const std::vector<Plan>& plans, const Parameters& parameters) {
  std::ptrdiff_t of_one_kind = 0;
  for (const Plan& plan : plans) {
    if (!are_of_one_kind(plan.parameters, parameters)) continue;
    if (plan.parameters.block == parameters.block) return true;
    ++of_one_kind;
  }
  return of_one_kind >= kMaxOfOneKind;
}

Plan with_parameters(const Plan& plan, const Parameters& parameters) {
  Plan result = build_plan(plan.request, parameters);
  result.thread_limit = plan.thread_limit;
  return result;
}

std::vector<Plan> plans_to_try(const Plan& chosen) {
  std::vector<Plan> plans{chosen};
  for (const Candidate& each :
       candidates(chosen.request, *this_machine(), chosen.thread_limit, Listed::more)) {
    if (plans.size() == kFirstPlans || each.seconds > kMaxRatio * chosen.warm_seconds) break;
    if (is_tried(plans, each.parameters)) continue;
    plans.push_back(with_parameters(chosen, each.parameters));
  }
  return plans;
}

std::vector<Plan> neighbors(const Plan& plan) {
  std::vector<Plan> plans;
  for (const Parameters& each : neighbors_of(fold_run(plan.problem), plan.parameters)) {
    plans.push_back(with_parameters(plan, each));
  }
  return plans;
}

}  // namespace

Learner::Call Learner::begin(const std::shared_ptr<const Plan>& chosen) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {.plan = chosen};
  Entry* entry = find(*chosen);
  if (entry == nullptr) {
    if (entries_.size() == kMaxEntries)
      entries_.erase(std::ranges::min_element(entries_, {}, &Entry::used));
    entries_.push_back({.chosen = chosen, .used = ++calls_});
    return {.plan = chosen};
  }
  entry->used = ++calls_;
  if (!entry->trials) entry->trials.emplace(plans_to_try(*chosen), neighbors);
  const std::size_t number = entry->trials->next();
  return {.plan = entry->trials->plan(number), .number = number};
}

std::shared_ptr<const Plan> Learner::end(const Plan& chosen, const Call& call, double seconds) {
  if (!call.number) return nullptr;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  Entry* const entry = find(chosen);
  // The trials that the call belonged to may have been forgotten, and others begun.
  if (entry == nullptr || !entry->trials || !entry->trials->has(*call.number, call.plan)) {
    return nullptr;
  }
  entry->trials->record(*call.number, seconds);
  if (!entry->trials->is_settled()) return nullptr;
  auto kept = std::make_shared<const Plan>(entry->trials->result());
  entries_.erase(entries_.begin() + (entry - entries_.data()));
  return kept;
}

void Learner::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

Learner::Entry* Learner::find(const Plan& chosen) {
  const auto found =
      std::ranges::find(entries_, &chosen, [](const Entry& entry) { return entry.chosen.get(); });
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace ttlg::cpu
