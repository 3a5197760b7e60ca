// Plans for the CPU that are tried on the calls of a process until the fastest of each layout is
// known.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cpu/plan.hpp"
#include "plan/trials_table.hpp"

namespace ttlg::cpu {

// What is known of a layout besides its trials.
struct Learned {
  Watch watch{};        // between trials
  bool is_new = false;  // whether the system may have given pages to an output of the trials
};

// A thread that finds another one here goes on with the planner's choice.
class Learner : public TrialsTable<Plan, Learned> {
 public:
  // What a call runs.
  struct Call {
    std::shared_ptr<const Plan> plan;
    std::optional<std::size_t> number{};  // of the plan in its trials, if it is being tried
  };

  // Whether calls of a plan are long enough to be timed. Plans that no planner chose are not.
  static bool can_learn(const Plan& plan) { return plan.warm_seconds >= kMinSeconds; }

  // `chosen` is the plan of the planner cache. Its first call lists no others: a single call is
  // made by it. One that earlier trials chose is watched, and tried again beside others when its
  // calls take another time for long.
  Call begin(const std::shared_ptr<const Plan>& chosen);

  // What that call took; `is_new`: the system may have given the pages of its output. The plan to
  // keep instead of the chosen one, if it is known now, else null. Trials correct the time model
  // where no pages were new.
  std::shared_ptr<const Plan> end(const Plan& chosen, const Call& call, double seconds,
                                  bool is_new = false);

  // What calls of the plans for the request of a plan have taken so far, if they are being tried;
  // the one that is the fastest so far first.
  std::vector<Timed> timed(const Plan& chosen);

 private:
  static constexpr double kMinSeconds = 1e-4;

  std::shared_ptr<const Plan> end_trials(Entry& entry);
};

}  // namespace ttlg::cpu
