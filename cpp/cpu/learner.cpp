#include "cpu/learner.hpp"

#include <algorithm>

#include "cpu/this_machine.hpp"
#include "plan/cpu/planner.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kMaxPlans = 12;
// Plans that are predicted to take longer than this many times the fastest are not tried.
constexpr double kMaxRatio = 1.6;

// The same blocks on the same way to the output.
bool are_alike(const Plan& plan, const Candidate& candidate) {
  const Parameters& a = plan.parameters;
  const Parameters& b = candidate.parameters;
  return a.kernel == b.kernel && a.block == b.block && a.staged == b.staged &&
         a.streaming == b.streaming;
}

std::vector<Plan> plans_to_try(const Plan& chosen) {
  std::vector<Plan> plans{chosen};
  for (const Candidate& each :
       candidates(chosen.request, *this_machine(), chosen.thread_limit, Listed::more)) {
    if (plans.size() == kMaxPlans || each.seconds > kMaxRatio * chosen.warm_seconds) break;
    if (std::ranges::any_of(plans, [&](const Plan& plan) { return are_alike(plan, each); }))
      continue;
    Plan plan = build_plan(chosen.request, each.parameters);
    plan.thread_limit = chosen.thread_limit;
    plans.push_back(std::move(plan));
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
  if (!entry->trials) entry->trials.emplace(plans_to_try(*chosen));
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
