#include "plan/trials.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace ttlg {
namespace {

constexpr std::size_t kMaxPlans = 28;
// What is left of them after the first round, and after the second one.
constexpr std::size_t kFasterPlans = 6;
constexpr std::size_t kLastPlans = 3;
// The share of all time that may be lost to trials, and the calls that it is first taken of.
constexpr double kMaxLost = 0.05;
constexpr int kFirstCalls = 20;
// What an untried plan is expected to take longer than the planner's choice, as a share: at first,
// and at least.
constexpr double kExpectedLoss = 0.4;
constexpr double kMinLossShare = 0.1;
// Calls of a plan that is this much slower are rare; those that something else delayed are not.
constexpr double kMaxLoss = 2;
// Of the last call in what the planner's choice is believed to take now, and a trial to lose.
constexpr double kWeightOfLast = 0.3;
// A plan that was called twice in a row is not called again where another one takes less than this
// share of its time.
constexpr double kHopeless = 0.85;
// A plan replaces the planner's choice if it takes this share of its time at most.
constexpr double kClearlyFaster = 0.97;
// Calls of a settled plan that tell what they usually take, beginning with the least of a few, and
// how many the last of them, with falling weight, are compared with that.
constexpr int kMinTimedCalls = 8;
constexpr int kUsualCalls = 64;
constexpr int kRecentCalls = 64;
// Two calls that differ by more than this factor count as differing by it, and the means of many
// that differ by as much as the second one show that something has changed.
constexpr double kMaxChange = 2;
constexpr double kClearChange = 1.3;

std::atomic<bool> learning = false;

}  // namespace

Trials::Trials(std::size_t plans) : tried_(plans), mean_loss_(kExpectedLoss) {}

std::size_t Trials::next() const {
  if (is_settled()) return fastest();
  const auto found = std::ranges::find_if(tried_, [&](const Tried& each) { return waits(each); });
  if (found == tried_.end() || !is_affordable(*found)) return fastest();
  return static_cast<std::size_t>(found - tried_.begin());
}

// Their lower quartile. The least would favour plans of many calls, and in a median of few a single
// delay shows. More calls than those of the last round do not count, so that those that are
// compared there have been called as often.
void Trials::Tried::record(double taken, bool is_in_a_row) {
  ++calls;
  if (!is_in_a_row) {
    if (counted == 0) seconds = std::min(seconds, taken);
    return;
  }
  if (counted == in_a_row.size()) return;
  const auto end = in_a_row.begin() + static_cast<std::ptrdiff_t>(counted++);
  *end = taken;
  std::rotate(std::upper_bound(in_a_row.begin(), end, taken), end, end + 1);
  seconds = in_a_row[(counted - 1) / 4];
}

void Trials::record(std::size_t number, double seconds, const Neighbors& neighbors) {
  if (is_settled()) return;
  Tried& tried = tried_[number];
  const bool is_trial = number != 0 && waits(tried);
  tried.record(seconds, std::exchange(last_, number) == number);
  ++calls_;
  const double choice = tried_.front().seconds;
  const double ratio = choice < kUnknown ? tried.seconds / choice : 1;
  if (usual_ == 0) {
    usual_ = seconds;
  } else if (is_trial) {
    const double loss = std::min(seconds / usual_ - 1, kMaxLoss);
    lost_ += loss;
    mean_loss_ += kWeightOfLast * (std::max(loss, kMinLossShare) - mean_loss_);
  } else {
    // How long calls take at all may change, as when another process begins to work. The first ones
    // find caches as other programs have left them.
    const double usual = seconds / ratio;
    const bool was_cold = calls_ <= kFirstCalls && usual < usual_;
    usual_ += (was_cold ? 1 : kWeightOfLast) * (usual - usual_);
    lost_ += std::min(0.0, ratio - 1);
  }
  if (std::ranges::none_of(tried_, [&](const Tried& each) { return waits(each); })) {
    end_round(neighbors);
  }
}

std::size_t Trials::result() const {
  const std::size_t best = fastest();
  return tried_[best].seconds <= kClearlyFaster * tried_.front().seconds ? best : 0;
}

std::size_t Trials::fastest() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].is_left && tried_[i].seconds < tried_[best].seconds) best = i;
  }
  return best;
}

bool Trials::waits(const Tried& tried) const {
  if (!tried.is_left || tried.calls >= kCalls[round_]) return false;
  const bool is_hopeless = tried_[fastest()].seconds < kHopeless * tried.seconds;
  return &tried == &tried_.front() || tried.counted == 0 || !is_hopeless;
}

bool Trials::is_affordable(const Tried& tried) const {
  const Tried& choice = tried_.front();
  if (&tried == &choice || choice.calls == 0) return true;
  if (&tried == &tried_[last_] && tried.counted == 0 && round_ > 0) return true;
  const double loss = tried.calls > 0 ? tried.seconds / choice.seconds - 1 : mean_loss_;
  return lost_ + loss <= kMaxLost * std::max(calls_, kFirstCalls);
}

bool Trials::add_neighbors(const Neighbors& neighbors) {
  const std::size_t best = fastest();
  if (!neighbors || best == extended_) return false;
  extended_ = best;
  const std::size_t before = tried_.size();
  tried_.resize(before + neighbors(best, kMaxPlans - before));
  return tried_.size() > before;
}

// The planner's choice stays until the end.
void Trials::end_round(const Neighbors& neighbors) {
  if (round_ == 0 && add_neighbors(neighbors)) return;
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < tried_.size(); ++i) {
    if (tried_[i].is_left) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return tried_[i].seconds; });
  const std::size_t kept = round_ == 0 ? kFasterPlans : kLastPlans;
  for (std::size_t k = kept; k < order.size(); ++k) tried_[order[k]].is_left = false;
  ++round_;
}

bool Watch::record(double seconds) {
  const double logarithm = std::log(seconds);
  if (++calls_ <= kMinTimedCalls) {
    usual_ = calls_ == 1 ? logarithm : std::min(usual_, logarithm);
    return false;
  }
  const double limit = std::log(kMaxChange);
  const double away = std::clamp(logarithm - usual_, -limit, limit);
  if (calls_ <= kUsualCalls) {
    usual_ += away / (calls_ - kMinTimedCalls + 1);
    return false;
  }
  recent_ += (away - recent_) / kRecentCalls;
  return std::abs(recent_) > std::log(kClearChange);
}

bool set_learning(bool learns) { return learning.exchange(learns); }

bool is_learning() { return learning; }

}  // namespace ttlg
