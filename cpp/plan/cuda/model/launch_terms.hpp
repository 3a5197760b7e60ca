// What a launch asks of a device, as counts of the terms of the time model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/model/kernel_figures.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// How the thread blocks of a kernel go about a problem.
struct KernelWork {
  const KernelFigures* kernel = nullptr;
  std::int64_t in_lane_bytes = 1;  // of a lane's access
  std::int64_t out_lane_bytes = 1;
  double in_accesses = 0;  // of warps
  double out_accesses = 0;
  // What a thread block takes at once: a block's whole share, or one slice after the other of those
  // that the resident blocks share among themselves.
  double units = 1;
  bool is_persistent = false;
  double repeats = 1;       // slices of a unit
  double tiles = 1;         // of a slice
  int batch = 1;            // loads of a thread in flight
  int stages = 1;           // buffers in shared memory
  double shared_bytes = 0;  // of all of them
  double conflicts = 0;     // extra passes through shared memory
};

KernelWork copy_work(const Problem& problem);

// Of any other kernel, on slices of this shape.
KernelWork work_of(const SlicedProblem& sliced, const SliceGeometry& shape);

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
