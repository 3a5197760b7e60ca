// Corrects a time model by the calls that a process makes: a factor for each of a few costs, so
// that layouts which no call has had begin with times of this machine as it is now.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/cpu/model/time_model.hpp"
#include "plan/names.hpp"

namespace ttlg::cpu {

// What the terms of a model are grouped into.
enum class Cost : std::uint8_t {
  memory_lines,    // read from memory
  cached_lines,    // read from caches
  written_lines,   // through the caches
  streamed_lines,  // around them
  short_runs,      // what short and scattered runs cost more: "pieces" in files
  instructions,
  threads,
  new_pages
};

inline constexpr NameTable<Cost, 8> kCosts{{"memory_lines", "cached_lines", "written_lines",
                                            "streamed_lines", "pieces", "instructions", "threads",
                                            "new_pages"}};

constexpr std::size_t index_of(Cost cost) { return static_cast<std::size_t>(cost); }

// One for each, in the order of their numbers.
using Costs = std::array<double, kCosts.size()>;

// What each of them adds to the predicted time of a plan.
Costs costs_of(const Terms& terms, const TimeModel& model);

// A plan's costs and the seconds that its calls took.
struct Timing {
  Costs costs{};
  double seconds = 0;
};

// The logarithms of the factors are estimated by an extended Kalman filter. What all plans of one
// trial have in common beyond the factors, since the model is wrong about their problem, is a state
// of its own, which is forgotten after it: several plans of one problem tell of the differences
// between costs, and of their scale no more than one does.
class Correction {
 public:
  // No factor is beyond this one or its inverse: by these a model for all machines was off on those
  // that it was fitted to.
  static constexpr double kMaxFactor = 3;
  // Nor changes more in one trial.
  static constexpr double kMaxStep = 1.4;

  Correction() { trust(kScaleSpread); }
  // Factors of an earlier process. Throws std::invalid_argument if one is not between kMaxFactor
  // and its inverse.
  explicit Correction(const Costs& factors);

  // From the plans of one trial.
  void learn(std::span<const Timing> trial);

  Costs factors() const;
  int trials() const { return trials_; }

  // The model with its seconds multiplied.
  TimeModel applied_to(const TimeModel& model) const;

 private:
  static constexpr std::size_t kStates = kCosts.size() + 1;  // the last is the problem's
  using States = std::array<double, kStates>;

  // Standard deviations, as logarithms: of a factor that all costs have in common before the first
  // trial, and of those of each. The ratios of the costs are what choices depend on, and models are
  // fitted by what these lose: other ratios must be well founded.
  static constexpr double kScaleSpread = 0.5;
  static constexpr double kSpread = 0.1;

  void trust(double scale_spread);
  void begin_trial();
  void observe(const Timing& timing);

  Costs logarithms_{};
  double problem_ = 0;
  std::array<States, kStates> covariance_{};
  int trials_ = 0;
};

}  // namespace ttlg::cpu
