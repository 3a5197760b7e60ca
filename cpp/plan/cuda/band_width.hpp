// How wide the bands are in which thread blocks take the slices of Orthogonal-Distinct.
#pragma once

#include <cstdint>

#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// The width, in slices, with which the blocks that the device holds at once take a square of them,
// at most all; 0 for other schemas. Allocates nothing.
std::int64_t choose_band_width(const SlicedProblem& sliced, const DeviceModel& model);

}  // namespace ttlg::cuda
