// The time model: how many seconds each term of a plan takes on a machine. The planner chooses by
// it and predicts with it.
#pragma once

#include <cstdint>
#include <string>

#include "plan/cpu/model/terms.hpp"

namespace ttlg::cpu {

struct TimeModel {
  std::string name = "cpu-generic";
  // What a call finds in the caches if the one before it left it there: caches are shared, and an
  // operating system or a virtual machine may report more than a process gets.
  std::int64_t cached_bytes = 24 << 20;
  TermValues seconds{};  // none negative
  // Quantiles of measured by predicted time of the plans chosen, 5 and 95 per cent.
  double low = 1;
  double high = 1;
};

// A sum over all terms (as TTLG, section V, has it for a GPU), so that more of anything never takes
// less time.
double predicted_seconds(const Terms& terms, const TimeModel& model);

// For machines without measurements.
const TimeModel& generic_model();

}  // namespace ttlg::cpu
