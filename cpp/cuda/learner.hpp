// Plans for CUDA devices that are tried on the calls of a process until the fastest of each layout
// is known.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cuda/launch_timer.hpp"
#include "cuda/lowered_plan.hpp"
#include "plan/trials_table.hpp"

namespace ttlg::cuda {

// What is known of a layout besides its trials, whose calls are those on one device: the plans of
// equal devices are the same, but each loads its kernels.
struct Sampled {
  struct GiveBack {
    void operator()(LaunchTimer* timer) const { timer->give_back(); }
  };

  std::unique_ptr<LaunchTimer, GiveBack> timer{};
  std::size_t number = 0;            // of the plan whose call it times
  std::vector<bool> was_launched{};  // by number
  int lost = 0;                      // samples one after another
};

// Calls return before the device has done their work, so that one call's time is known during a
// later one: while it is pending, calls run the fastest plan so far, untimed. A thread that finds
// another one here goes on with the planner's choice.
class Learner : public TrialsTable<LoweredPlan, Sampled> {
 public:
  Learner() = default;
  ~Learner() { forget_all(); }  // which gives back the timers
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // What a call runs.
  struct Call {
    std::shared_ptr<const LoweredPlan> plan;
    LaunchTimer* timer = nullptr;               // that times it, if one does
    std::shared_ptr<const LoweredPlan> kept{};  // instead of the chosen plan, if it is known now
  };

  // Whether calls of a plan are long enough to be timed, and have not chosen it already. What
  // events add to an idle stream, mostly the time from one launch to the next, is a few
  // microseconds.
  static bool can_learn(const LoweredPlan& plan) {
    return plan.predicted_seconds >= kMinSeconds && plan.measured.empty();
  }

  // `chosen` is the plan of the planner cache. Its first call lists no others. The device must be
  // current, under RelaxedCapture, and the call's stream must not be captured.
  Call begin(const std::shared_ptr<const LoweredPlan>& chosen, int device);

  // What calls of the plans for the request of a plan have taken so far, if they are being tried;
  // the one that is the fastest so far first.
  std::vector<Timed> timed(const LoweredPlan& chosen);

  // Around fork(), in the child, where no event of the parent means anything.
  void unlock_in_child();

 private:
  static constexpr double kMinSeconds = 3e-5;

  void begin_trials(Entry& entry, int device);
  Call end_trials(const Entry& entry);
  LaunchTimer* free_timer(int device);

  std::vector<std::unique_ptr<LaunchTimer>> timers_;  // all that there are
};

}  // namespace ttlg::cuda
