// Which of a few plans for one request is the fastest, learned from calls that are made anyway: any
// of them puts the same bytes into place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

class Trials {
 public:
  // Plans that are like another one, and may be faster.
  using Neighbors = std::function<std::vector<Plan>(const Plan& plan)>;

  // The planner's choice first.
  explicit Trials(const std::vector<Plan>& plans, Neighbors neighbors = nullptr);

  // The plan for the next call. All take one call each, and then the neighbours of the fastest, as
  // long as one of them is faster still; then the faster ones a few in a row, and three of them
  // some more; and between, as long as the time lost to slow ones would exceed a twentieth of all,
  // the fastest so far.
  std::size_t next() const;
  const std::shared_ptr<const Plan>& plan(std::size_t number) const { return tried_[number].plan; }
  bool has(std::size_t number, const std::shared_ptr<const Plan>& plan) const {
    return number < tried_.size() && tried_[number].plan == plan;
  }

  // What a call took that followed next().
  void record(std::size_t number, double seconds);

  // Of those that are left; the planner's choice until it has been timed.
  std::size_t fastest() const;

  bool is_settled() const { return round_ == kCalls.size(); }
  // The time of each plan that has one, the planner's choice first.
  std::vector<Timed> timed() const;
  // The fastest plan with these times. The planner's choice stays where no other is clearly faster;
  // what was predicted for it stays in any case, so that predictions do not depend on what has been
  // called.
  Plan result() const;

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  // Of each plan that is left, in all rounds up to one.
  static constexpr std::array kCalls{1, 4, 8};

  struct Tried {
    std::shared_ptr<const Plan> plan;
    // What a call is believed to take.
    double seconds = kUnknown;
    // Of the first calls that followed one by the same plan, sorted. Others find in the caches what
    // another plan has left there, as no call will once the trials are over; that makes some of
    // them slower by up to a tenth.
    std::array<double, kCalls.back()> in_a_row{};
    std::size_t counted = 0;
    int calls = 0;
    bool is_left = true;

    void record(double taken, bool is_in_a_row);
  };

  bool waits(const Tried& tried) const;  // for a call in this round
  bool is_affordable(const Tried& tried) const;
  // Whether there are plans to try besides those that have been.
  bool add_neighbors();
  void end_round();

  std::vector<Tried> tried_;
  Neighbors neighbors_;
  std::size_t last_ = SIZE_MAX;      // whose call was recorded last
  std::size_t extended_ = SIZE_MAX;  // of the plans, the one whose neighbours were added last
  std::size_t round_ = 0;
  int calls_ = 0;
  double usual_ = 0;  // seconds of a call by the planner's choice, as of late
  double lost_ = 0;   // such calls, to slower plans less what faster ones gained
  double mean_loss_;  // such calls to a trial, as of late
};

// Whether the calls of a plan take another time than before, and have for long: another process may
// have begun to work, or ended.
class Watch {
 public:
  // True when it is time to try plans again.
  bool record(double seconds);

 private:
  double usual_ = 0;   // the mean logarithm of the seconds of the first calls
  double recent_ = 0;  // by how much the last ones' mean differs
  int calls_ = 0;
};

}  // namespace ttlg::cpu
