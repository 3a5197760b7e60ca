// The predicted time of a launch.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

// Table I: transactions of 32 floats' bytes (128) on each side, by memory.
struct Transactions {
  std::int64_t in_dram = 0;
  std::int64_t in_shared = 0;
  std::int64_t in_texture = 0;
  std::int64_t out_dram = 0;
  std::int64_t out_shared = 0;
  std::int64_t out_texture = 0;

  bool operator==(const Transactions&) const = default;
};
Transactions transactions(const SlicedProblem& sliced);

// Names and values of the schema's features, in the order of Table II.
using Features = std::vector<std::pair<std::string_view, double>>;
Features features_of(const SlicedProblem& sliced);

// Whether a feature is a length of a slice; the others grow with the volume.
bool is_of_slice(std::string_view feature);

// What a predicted time follows from: the terms of the physical model at what they cost, or the
// schema's regression (TTLG, section V).
enum class TimeSource : std::uint8_t { terms, regression };

struct PredictedTime {
  double seconds = 0;
  TimeSource source = TimeSource::terms;
};

// How long a launch takes: by the regression where the schema has one and the tensor is of the
// sizes that it was fitted to, else by the terms. Positive for every problem.
PredictedTime predict_time(const DeviceModel& model, const SlicedProblem& sliced);
double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced);

// What memory takes to copy as many bytes, the launch left out.
double copy_seconds(const DeviceModel& model, const Problem& problem);

// What plans say of it, with a word of warning where nothing of it was fitted to measurements.
std::string_view describe(const DeviceModel& model, TimeSource source);

}  // namespace ttlg::cuda
