// The predicted time of a launch.
#pragma once

#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// Seconds that a launch takes: the regression where the schema has one, else the terms at what they
// cost. Positive for every problem.
double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced);

}  // namespace ttlg::cuda
