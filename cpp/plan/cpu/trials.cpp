#include "plan/cpu/trials.hpp"

#include <algorithm>
#include <utility>

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMaxPlans = 28;
// What is left of them after the first round, and after the second one.
constexpr std::size_t kFasterPlans = 6;
constexpr std::size_t kLastPlans = 3;
// The share of all time that may be lost to trials, and the calls that it is first taken of.
constexpr double kMaxLost = 0.05;
constexpr int kFirstCalls = 20;
// What an untried plan is expected to take longer than the planner's choice, as a share.
constexpr double kExpectedLoss = 0.5;
// Calls of a plan that is this much slower are rare; those that something else delayed are not.
constexpr double kMaxLoss = 2;
// Of the last call's time in what the planner's choice is believed to take now.
constexpr double kWeightOfLast = 0.3;
// A plan replaces the planner's choice if it takes this share of its time at most.
constexpr double kClearlyFaster = 0.97;

}  // namespace

Trials::Trials(const std::vector<Plan>& plans, Neighbors neighbors)
    : neighbors_(std::move(neighbors)) {
  for (const Plan& plan : plans) tried_.push_back({.plan = std::make_shared<const Plan>(plan)});
}

std::size_t Trials::next() const {
  if (is_settled()) return fastest();
  const auto found = std::ranges::find_if(tried_, [&](const Tried& each) { return waits(each); });
  if (found == tried_.end() || !is_affordable(*found)) return fastest();
  return static_cast<std::size_t>(found - tried_.begin());
}

void Trials::record(std::size_t number, double seconds) {
  if (is_settled()) return;
  Tried& tried = tried_[number];
  const bool is_trial = number != 0 && waits(tried);
  if (std::exchange(last_, number) == number) tried.least = std::min(tried.least, seconds);
  ++tried.calls;
  ++calls_;
  const double choice = tried_.front().least;
  const double ratio = choice < kUnknown && tried.least < kUnknown ? tried.least / choice : 1;
  if (usual_ == 0) {
    usual_ = seconds;
  } else if (is_trial) {
    lost_ += std::min(seconds / usual_ - 1, kMaxLoss);
  } else {
    // How long calls take at all may change, as when another process begins to work.
    usual_ += kWeightOfLast * (seconds / ratio - usual_);
    lost_ += std::min(0.0, ratio - 1);
  }
  if (std::ranges::none_of(tried_, [&](const Tried& each) { return waits(each); })) end_round();
}

Plan Trials::result() const {
  const Tried& choice = tried_.front();
  const Tried& best = tried_[fastest()];
  const bool is_clear = best.least <= kClearlyFaster * choice.least;
  Plan plan = is_clear ? *best.plan : *choice.plan;
  plan.warm_seconds = choice.plan->warm_seconds;
  plan.fresh_seconds = choice.plan->fresh_seconds;
  plan.measured.clear();
  for (const Tried& each : tried_) {
    if (each.least < kUnknown) plan.measured.push_back({each.plan->parameters, each.least});
  }
  return plan;
}

// Of those that are left; the planner's choice until it has been timed.
std::size_t Trials::fastest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].is_left && tried_[i].least < tried_[best].least) best = i;
  }
  return best;
}

bool Trials::waits(const Tried& tried) const {
  return tried.is_left && tried.calls < kCalls[round_];
}

bool Trials::is_affordable(const Tried& tried) const {
  const Tried& choice = tried_.front();
  if (&tried == &choice || choice.least == kUnknown) return true;
  if (&tried == &tried_[last_] && tried.least == kUnknown) return true;
  const double loss = tried.least < kUnknown ? tried.least / choice.least - 1 : kExpectedLoss;
  return lost_ + loss <= kMaxLost * std::max(calls_, kFirstCalls);
}

bool Trials::add_neighbors() {
  const std::size_t best = fastest();
  if (!neighbors_ || best == extended_) return false;
  extended_ = best;
  const std::size_t before = tried_.size();
  for (const Plan& plan : neighbors_(*tried_[best].plan)) {
    if (tried_.size() == kMaxPlans) break;
    const bool is_known = std::ranges::any_of(
        tried_, [&](const Tried& each) { return each.plan->parameters == plan.parameters; });
    if (!is_known) tried_.push_back({.plan = std::make_shared<const Plan>(plan)});
  }
  return tried_.size() > before;
}

// The planner's choice stays until the end.
void Trials::end_round() {
  if (round_ == 0 && add_neighbors()) return;
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].is_left) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return tried_[i].least; });
  const std::size_t kept = round_ == 0 ? kFasterPlans : kLastPlans;
  for (std::size_t k = kept; k < order.size(); ++k) tried_[order[k]].is_left = false;
  ++round_;
}

}  // namespace ttlg::cpu
