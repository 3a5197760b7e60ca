#include "plan/cpu/model/time_model.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace ttlg::cpu {
namespace {

// A member of LevelTerms is an array of these counts by level, which begins `first` bytes within.
template <typename Counts>
double weigh(const Counts& counts, const TermValues& seconds, std::size_t first,
             std::size_t level = 0) {
  constexpr std::size_t kCounts = sizeof(Counts) / sizeof(double);
  const auto count = [&](std::size_t i) {
    double value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&counts) + i * sizeof value,
                sizeof value);
    return value;
  };
  const double* const each = seconds.data() + first / sizeof(double) + level * kCounts;
  // Several sums at a time: each addition to one would wait for the one before.
  std::array<double, 4> sums{};
  constexpr std::size_t kWhole = kCounts - kCounts % sums.size();
  for (std::size_t i = 0; i < kWhole; i += sums.size()) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += count(i + k) * each[i + k];
  }
  for (std::size_t i = kWhole; i < kCounts; ++i) sums[0] += count(i) * each[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

double predicted_seconds(const Terms& terms, const TimeModel& model) {
  const auto at = [&](const auto& counts, std::size_t first, std::size_t level) {
    return weigh(counts, model.seconds, first, level);
  };
  double sum = weigh<WorkTerms>(terms, model.seconds, offsetof(LevelTerms, work));
  for (std::size_t i = 0; i < terms.read_from.size(); ++i) {
    if (terms.read_from[i] == 0) continue;
    sum += terms.read_from[i] * (at(terms.read, offsetof(LevelTerms, read), i) +
                                 at(terms.prefetched, offsetof(LevelTerms, prefetched), i) +
                                 at(terms.all_read, offsetof(LevelTerms, all_read), i));
    if (terms.prefetched[0] == 0) continue;
    sum += terms.read_from[i] * at(terms.read, offsetof(LevelTerms, unprefetched), i);
  }
  for (std::size_t i = 0; i < terms.written_to.size(); ++i) {
    if (terms.written_to[i] == 0) continue;
    sum += terms.written_to[i] * (at(terms.written, offsetof(LevelTerms, written), i) +
                                  at(terms.all_written, offsetof(LevelTerms, all_written), i));
  }
  return sum;
}

}  // namespace ttlg::cpu
