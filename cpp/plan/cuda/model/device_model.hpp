// What the planner knows of a GPU: its properties, what the terms of the physical time model cost
// on it, and coefficients of the linear regressions (TTLG, section V, Table II) where those were
// published.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/parameters.hpp"

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
  double launch_seconds = 5e-6;  // no prediction is below this
  // How much of the shorter groups of terms the longest hides: predict_seconds takes their norm of
  // this degree, so that 1 adds all up, and much more than that takes the longest. A power of two.
  int overlap = 4;
  Costs costs = default_costs();
  std::map<Schema, Coefficients> coefficients{};  // of the schemas that have a regression
  std::int64_t regression_bytes = 0;              // the smallest tensor that those were fitted to

  bool has_fitted_costs() const { return costs != default_costs(); }
  // Whether anything of it was fitted to measurements.
  bool is_calibrated() const { return !coefficients.empty() || has_fitted_costs(); }
  bool operator==(const DeviceModel&) const = default;
};

inline constexpr int kMaxOverlap = 16;

}  // namespace ttlg::cuda
