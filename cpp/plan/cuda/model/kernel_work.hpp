// How the thread blocks of a kernel go about a problem: what the time model counts.
#pragma once

#include <cstdint>

#include "plan/cuda/model/kernel_figures.hpp"
#include "plan/cuda/slice/geometry.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

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

}  // namespace ttlg::cuda
