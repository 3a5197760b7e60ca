#include "plan/cpu/trials.hpp"

#include <algorithm>

namespace ttlg::cpu {
namespace {

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

Trials::Trials(const std::vector<Plan>& plans) {
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
  tried.least = std::min(tried.least, seconds);
  ++tried.calls;
  ++calls_;
  // How long calls take at all may change, as when another process begins to work.
  const double as_choice = seconds * tried_.front().least / tried.least;
  if (usual_ == 0) {
    usual_ = as_choice;
  } else if (is_trial) {
    lost_ += std::min(seconds / usual_ - 1, kMaxLoss);
  } else {
    usual_ += kWeightOfLast * (as_choice - usual_);
    lost_ += std::min(0.0, tried.least / tried_.front().least - 1);
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
    if (each.calls > 0) plan.measured.push_back({each.plan->parameters, each.least});
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
  if (&tried == &choice || choice.calls == 0) return true;
  const double loss = tried.calls > 0 ? tried.least / choice.least - 1 : kExpectedLoss;
  return lost_ + loss <= kMaxLost * std::max(calls_, kFirstCalls);
}

// The planner's choice stays until the end.
void Trials::end_round() {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].is_left) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return tried_[i].least; });
  const std::size_t kept = round_ == 0 ? std::max(kLastPlans, (order.size() + 1) / 2) : kLastPlans;
  for (std::size_t k = kept; k < order.size(); ++k) tried_[order[k]].is_left = false;
  ++round_;
}

}  // namespace ttlg::cpu
