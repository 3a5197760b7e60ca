// What a launch asks of a device, as counts of the terms of the time model.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// The seconds that a term takes at a cost of 1.
struct Term {
  std::size_t number = 0;
  double seconds = 0;
};

// Terms that are not 0. Nothing of it is allocated: the slice search makes it for every candidate.
class LaunchTerms {
 public:
  void add(std::size_t number, double seconds) {
    if (seconds > 0) terms_[count_++] = {number, seconds};
  }
  std::span<const Term> terms() const& { return std::span(terms_).first(count_); }
  void terms() const&& = delete;  // they would outlive it

 private:
  // All of memory, wavefronts, set-up, slices and lines of one width, three of latency.
  std::array<Term, TermNumber::kIssue + 7> terms_{};
  std::size_t count_ = 0;
};

// For a problem that is not empty.
LaunchTerms count_terms(const DeviceModel& model, const SlicedProblem& sliced);

}  // namespace ttlg::cuda
