// Trials of plans of one type: which they are, what they took and which of them stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "plan/plan_base.hpp"
#include "plan/trials.hpp"

namespace ttlg {

// A plan has `parameters`, times `measured` of itself and others, and keep_predictions_of(plan).
template <typename Plan>
class PlanTrials {
 public:
  using Parameters = decltype(Plan::parameters);
  // Plans that are like another one, and may be faster.
  using Neighbors = std::function<std::vector<Plan>(const Plan& plan)>;

  // The planner's choice first.
  explicit PlanTrials(const std::vector<Plan>& plans, Neighbors neighbors = nullptr)
      : trials_(plans.size()), neighbors_(std::move(neighbors)) {
    for (const Plan& plan : plans) plans_.push_back(std::make_shared<const Plan>(plan));
  }

  // These are as in Trials.
  std::size_t next() const { return trials_.next(); }
  std::size_t fastest() const { return trials_.fastest(); }
  bool is_settled() const { return trials_.is_settled(); }
  void record(std::size_t number, double seconds) {
    if (!neighbors_) return trials_.record(number, seconds);
    trials_.record(number, seconds, [this](std::size_t fastest, std::size_t most) {
      return add_neighbors(*plans_[fastest], most);
    });
  }

  std::size_t size() const { return plans_.size(); }
  const std::shared_ptr<const Plan>& plan(std::size_t number) const { return plans_[number]; }
  bool has(std::size_t number, const std::shared_ptr<const Plan>& plan) const {
    return number < plans_.size() && plans_[number] == plan;
  }

  // The time of each plan that has one, the planner's choice first.
  std::vector<Timed<Parameters>> timed() const {
    std::vector<Timed<Parameters>> result;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (trials_.was_called(i)) result.push_back({plans_[i]->parameters, trials_.seconds(i)});
    }
    return result;
  }

  // The plan to keep, with these times. What was predicted for the planner's choice stays in any
  // case, so that predictions do not depend on what has been called.
  Plan result() const {
    Plan plan = *plans_[trials_.result()];
    plan.keep_predictions_of(*plans_.front());
    plan.measured = timed();
    return plan;
  }

 private:
  std::size_t add_neighbors(const Plan& fastest, std::size_t most) {
    const std::size_t before = plans_.size();
    for (const Plan& plan : neighbors_(fastest)) {
      if (plans_.size() == before + most) break;
      const bool is_known = std::ranges::any_of(
          plans_, [&](const auto& each) { return each->parameters == plan.parameters; });
      if (!is_known) plans_.push_back(std::make_shared<const Plan>(plan));
    }
    return plans_.size() - before;
  }

  Trials trials_;
  Neighbors neighbors_;
  std::vector<std::shared_ptr<const Plan>> plans_;
};

}  // namespace ttlg
