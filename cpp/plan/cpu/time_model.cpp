#include "plan/cpu/time_model.hpp"

#include <array>
#include <bit>
#include <numeric>

namespace ttlg::cpu {

double predicted_seconds(const Terms& terms, const TimeModel& model) {
  const auto values = std::bit_cast<TermValues>(terms);
  // Several sums at a time: each addition to one would wait for the one before.
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= kTerms; i += sums.size()) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[i + k] * model.seconds[i + k];
  }
  for (; i < kTerms; ++i) sums[0] += values[i] * model.seconds[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace ttlg::cpu
