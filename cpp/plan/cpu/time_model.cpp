#include "plan/cpu/time_model.hpp"

#include <bit>

namespace ttlg::cpu {

double predicted_seconds(const Terms& terms, const TimeModel& model) {
  const auto values = std::bit_cast<TermValues>(terms);
  double seconds = 0;
  for (std::size_t i = 0; i < kTerms; ++i) seconds += values[i] * model.seconds[i];
  return seconds;
}

}  // namespace ttlg::cpu
