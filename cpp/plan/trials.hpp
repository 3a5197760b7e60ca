// Which of a few plans for one request is the fastest, learned from calls that are made anyway: any
// of them puts the same bytes into place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace ttlg {

// Knows the plans by their numbers, from 0, the planner's choice, in the order in which they came.
class Trials {
 public:
  // Gives plans that are like the one of this number, and may be faster, the next numbers; returns
  // how many these are, `most` at most.
  using Neighbors = std::function<std::size_t(std::size_t number, std::size_t most)>;

  explicit Trials(std::size_t plans);

  // The plan for the next call. All take one call each, and then the neighbours of the fastest, as
  // long as one of them is faster still; then the faster ones a few in a row, and three of them
  // some more; and between, as long as the time lost to slow ones would exceed a twentieth of all,
  // the fastest so far.
  std::size_t next() const;

  // What a call took that followed next().
  void record(std::size_t number, double seconds, const Neighbors& neighbors = nullptr);

  // Of those that are left; the planner's choice until it has been timed.
  std::size_t fastest() const;

  bool is_settled() const { return round_ == kCalls.size(); }
  // The fastest. The planner's choice stays where no other is clearly faster.
  std::size_t result() const;

  bool was_called(std::size_t number) const { return tried_[number].calls > 0; }
  // What a call is believed to take; infinite for a plan that was not called.
  double seconds(std::size_t number) const { return tried_[number].seconds; }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();
  // Of each plan that is left, in all rounds up to one.
  static constexpr std::array kCalls{1, 4, 8};

  struct Tried {
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
  bool add_neighbors(const Neighbors& neighbors);
  void end_round(const Neighbors& neighbors);

  std::vector<Tried> tried_;
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

// Whether calls try plans, and correct time models; returns what was set before. False at first.
bool set_learning(bool learns);
bool is_learning();

}  // namespace ttlg
