// Plans that are tried on the calls of a process until the fastest of each layout is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plan/cpu/trials.hpp"

namespace ttlg::cpu {

// Safe for any number of threads, and nothing is held while elements move. A thread that finds
// another one here goes on with the planner's choice.
class Learner {
 public:
  // What a call runs.
  struct Call {
    std::shared_ptr<const Plan> plan;
    std::optional<std::size_t> number{};  // of the plan in its trials, if it is being tried
  };

  // Whether calls of a plan that the planner chose are long enough to be timed.
  static bool can_learn(const Plan& plan) {
    return plan.warm_seconds >= kMinSeconds && plan.measured.empty();
  }

  // `chosen` is the plan of the planner cache. Its first call lists no others: a single call is
  // made by it.
  Call begin(const std::shared_ptr<const Plan>& chosen);

  // What that call took. The plan to keep instead of the chosen one, if it is known now, else null.
  std::shared_ptr<const Plan> end(const Plan& chosen, const Call& call, double seconds);

  // Forgets all trials.
  void clear();

  // Around fork(): the child gets the mutex as the forking thread has it.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static constexpr double kMinSeconds = 1e-4;

  struct Entry {
    std::shared_ptr<const Plan> chosen;  // kept, so that its address stays its own
    std::optional<Trials> trials{};
    std::uint64_t used = 0;
  };

  Entry* find(const Plan& chosen);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t calls_ = 0;
};

}  // namespace ttlg::cpu
