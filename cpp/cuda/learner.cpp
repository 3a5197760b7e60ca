#include "cuda/learner.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "plan/cuda/planner.hpp"

namespace ttlg::cuda {
namespace {

// A layout that loses this many samples one after another is not sampled again: a plan that never
// gets a time would be tried forever.
constexpr int kMaxLost = 8;

bool are_of_one_kind(const Parameters& a, const Parameters& b) {
  return a.schema == b.schema && a.stages == b.stages &&
         (a.coarsened_mode < 0) == (b.coarsened_mode < 0);
}

std::vector<LoweredPlan> plans_to_try(const LoweredPlan& chosen) {
  std::vector<Candidate> listed =
      candidates(chosen.recast, *chosen.model, chosen.pointer_alignment);
  std::ranges::stable_sort(listed, {}, &Candidate::seconds);
  std::vector<LoweredPlan> plans{chosen};
  for (const Parameters& each :
       parameters_to_try(chosen.parameters, listed, are_of_one_kind, std::equal_to<>())) {
    try {
      plans.emplace_back(build_plan(chosen.request, chosen.pointer_alignment, each, chosen.model));
    } catch (const std::invalid_argument&) {  // its grid would take too many launches
    }
  }
  return plans;
}

}  // namespace

Learner::Call Learner::begin(const std::shared_ptr<const LoweredPlan>& chosen, int device) {
  const auto lock = try_to_lock();
  if (!lock) return {.plan = chosen};
  Entry* const entry = enter(chosen);
  if (entry == nullptr) return {.plan = chosen};
  if (!entry->trials) begin_trials(*entry, device);
  PlanTrials<LoweredPlan>& trials = *entry->trials;
  Sampled& own = entry->own;
  const auto fastest = [&] { return Call{.plan = trials.plan(trials.fastest())}; };
  if (own.timer->device != device || own.lost >= kMaxLost) return fastest();
  switch (own.timer->poll()) {
    case LaunchTimer::Progress::pending:
      return fastest();
    case LaunchTimer::Progress::timed:
      own.lost = 0;
      trials.record(own.number, own.timer->seconds());
      if (trials.is_settled()) return end_trials(*entry);
      break;
    case LaunchTimer::Progress::lost:
      ++own.lost;
      break;
    case LaunchTimer::Progress::idle:
      break;
  }
  own.number = trials.next();
  // The first launch of a kernel loads it, which is not what later ones take.
  if (!own.was_launched[own.number]) {
    own.was_launched[own.number] = true;
    return {.plan = trials.plan(own.number)};
  }
  if (!own.timer->arm()) {
    ++own.lost;
    return fastest();
  }
  return {.plan = trials.plan(own.number), .timer = own.timer.get()};
}

void Learner::begin_trials(Entry& entry, int device) {
  PlanTrials<LoweredPlan> trials(plans_to_try(*entry.chosen));
  entry.own.timer.reset(free_timer(device));
  entry.own.was_launched.assign(trials.size(), false);
  entry.trials = std::move(trials);  // last, because all before may throw
}

// Calls of what is kept are not timed.
Learner::Call Learner::end_trials(const Entry& entry) {
  auto kept = std::make_shared<const LoweredPlan>(entry.trials->result());
  forget(entry);
  return {.plan = kept, .kept = kept};
}

LaunchTimer* Learner::free_timer(int device) {
  for (const auto& each : timers_) {
    if (each->device == device && each->take()) return each.get();
  }
  timers_.push_back(std::make_unique<LaunchTimer>(device));
  timers_.back()->take();
  return timers_.back().get();
}

std::vector<Timed> Learner::timed(const LoweredPlan& chosen) {
  return timed_so_far([&](const LoweredPlan& each) { return each == chosen; });
}

void Learner::unlock_in_child() {
  forget_all();
  timers_.clear();
  unlock();
}

}  // namespace ttlg::cuda
