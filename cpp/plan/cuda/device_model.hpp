// What the planner knows of a GPU: properties for the analytic model, and coefficients of the
// linear regressions (TTLG, section V, Table II) where somebody fitted them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "plan/cuda/features.hpp"
#include "plan/cuda/sliced_problem.hpp"

namespace ttlg::cuda {

// By feature's name; features_of gives views of names, which are looked up as they are.
using Coefficients = std::map<std::string, double, std::less<>>;

struct DeviceModel {
  std::string name;
  int multiprocessors = 1;
  double clock_hz = 1e9;
  double memory_bytes_per_second = 1e11;  // a copy's, read and written
  std::int64_t l2_cache_bytes = 0;
  std::int64_t shared_bytes_per_multiprocessor = 48 << 10;
  int threads_per_multiprocessor = 2048;
  double launch_seconds = 5e-6;                   // no prediction is below this
  std::map<Schema, Coefficients> coefficients{};  // of the schemas that were fitted

  bool operator==(const DeviceModel&) const = default;
};

// The thread blocks of a plan of Orthogonal-Distinct that a device holds at once.
std::int64_t resident_distinct_blocks(const DeviceModel& model, const SlicedProblem& sliced);

// Seconds that a launch takes: the regression where the schema was fitted, else the analytic model.
// Positive for every problem.
double predict_seconds(const DeviceModel& model, const SlicedProblem& sliced);

}  // namespace ttlg::cuda
