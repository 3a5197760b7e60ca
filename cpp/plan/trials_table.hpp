// Plans that are tried on the calls of a process: what the learners for all devices share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plan/plan_trials.hpp"

namespace ttlg {

// What to try of a planner's list besides its choice: a few of those that are predicted to take
// little more than the fastest, in their order, one of each kind first, then two, the choice
// counted. Of plans of one kind that are alike, the first is taken.
template <typename Candidate, typename Parameters, typename IsOfOneKind, typename IsLike>
std::vector<Parameters> parameters_to_try(const Parameters& chosen,
                                          const std::vector<Candidate>& listed,
                                          const IsOfOneKind& are_of_one_kind,
                                          const IsLike& are_alike) {
  constexpr std::size_t kFirstPlans = 8;
  constexpr double kMaxRatio = 1.6;
  std::vector<Parameters> tried{chosen};
  if (listed.empty()) return {};
  const double limit =
      kMaxRatio * std::ranges::min_element(listed, {}, &Candidate::seconds)->seconds;
  for (const std::ptrdiff_t most_of_one_kind : {1, 2}) {
    for (const Candidate& each : listed) {
      if (tried.size() == kFirstPlans || each.seconds > limit) continue;
      const auto has_kind = [&](const Parameters& other) {
        return are_of_one_kind(other, each.parameters);
      };
      const bool is_known = std::ranges::any_of(tried, [&](const Parameters& other) {
        return has_kind(other) && are_alike(other, each.parameters);
      });
      if (is_known || std::ranges::count_if(tried, has_kind) >= most_of_one_kind) continue;
      tried.push_back(each.parameters);
    }
  }
  tried.erase(tried.begin());
  return tried;
}

// The trials of the layouts that calls have had most recently. `Own` is what the learner for a
// device keeps of each layout besides. Safe for any number of threads, and nothing is held while
// elements move.
template <typename HowToRun, typename Own>
class TrialsTable {
 public:
  using Plan = HowToRun;
  using Times = std::vector<Timed<typename PlanTrials<Plan>::Parameters>>;

  // Forgets all trials.
  void clear() {
    const std::lock_guard lock(mutex_);
    forget_all();
  }

  // Around fork(): the child gets the mutex as the forking thread has it.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 protected:
  struct Entry {
    std::shared_ptr<const Plan> chosen;  // kept, so that its address stays its own
    std::optional<PlanTrials<Plan>> trials{};
    Own own{};
    std::uint64_t used = 0;
  };

  // A lock that may not have been had: a thread that finds another one here does not wait.
  std::unique_lock<std::mutex> try_to_lock() { return std::unique_lock(mutex_, std::try_to_lock); }

  // Call these with the mutex held. The entry of a plan of the planner cache; null at its first
  // call, which makes the entry: a single call lists no other plans.
  Entry* enter(const std::shared_ptr<const Plan>& chosen) {
    Entry* const entry = find(*chosen);
    if (entry != nullptr) {
      entry->used = ++calls_;
      return entry;
    }
    if (entries_.size() == kMaxEntries) {
      entries_.erase(std::ranges::min_element(entries_, {}, &Entry::used));
    }
    entries_.push_back({.chosen = chosen, .used = ++calls_});
    return nullptr;
  }

  Entry* find(const Plan& chosen) {
    const auto found =
        std::ranges::find(entries_, &chosen, [](const Entry& entry) { return entry.chosen.get(); });
    return found == entries_.end() ? nullptr : &*found;
  }

  void forget_all() { entries_.clear(); }
  void forget(const Entry& entry) { entries_.erase(entries_.begin() + (&entry - entries_.data())); }

  // Takes the mutex. What calls have taken so far in the trials of the first plan that
  // is_asked_for; the one that is the fastest so far first.
  template <typename IsAskedFor>
  Times timed_so_far(const IsAskedFor& is_asked_for) {
    const std::lock_guard lock(mutex_);
    const auto entry = std::ranges::find_if(
        entries_, [&](const Entry& each) { return each.trials && is_asked_for(*each.chosen); });
    if (entry == entries_.end()) return {};
    Times times = entry->trials->timed();
    bring_to_front(times, entry->trials->plan(entry->trials->fastest())->parameters);
    return times;
  }

 private:
  static constexpr std::size_t kMaxEntries = 256;

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t calls_ = 0;
};

}  // namespace ttlg
