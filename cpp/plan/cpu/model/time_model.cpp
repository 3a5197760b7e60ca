#include "plan/cpu/model/time_model.hpp"

#include <array>
#include <cstddef>

namespace ttlg::cpu {

double predicted_seconds(const Terms& terms, const TimeModel& model) {
  const TermValues values = values_of(terms);
  // Several sums at a time: each addition to one would wait for the one before.
  std::array<double, 4> sums{};
  for (std::size_t i = 0; i < kTerms; ++i) sums[i % sums.size()] += values[i] * model.seconds[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace ttlg::cpu
