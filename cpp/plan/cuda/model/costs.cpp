#include "plan/cuda/model/costs.hpp"

#include <algorithm>

namespace ttlg::cuda {
namespace {

using Number = TermNumber;

// Nothing of this is measured: data sheets and the instruction set give the order of magnitude, and
// a calibration replaces all of it.
constexpr Costs make_defaults() {
  Costs costs{};
  // Together 1, so that a launch whose last round is full moves bytes as a copy does; blocks of a
  // last round that is not full have the bandwidth for fewer of them.
  costs[Number::kBytes] = 0.5;
  costs[Number::kRoundBytes] = 0.5;
  for (const std::size_t side : {Number::kRead, Number::kWritten}) {
    costs[side + Number::kMovedAgain] = 1;
    costs[side + Number::kMet] = 0.25;  // the L2 cache's bandwidth is a few times the memory's
    // Half of a burst of 64 bytes is lost on a run of 32.
    constexpr std::array<double, kRunLimits.size()> kShortRuns{0.3, 0.1, 0.05, 0.03};
    std::ranges::copy(kShortRuns, costs.begin() + side + Number::kRunBelow);
  }
  costs[Number::kWavefronts] = 1;  // a multiprocessor moves 128 bytes in a cycle
  for (std::size_t kernel = 0; kernel < kSchemas.size(); ++kernel) {
    double* const own = costs.data() + Number::kKernelIssue + kernel * Number::kKernelTerms;
    // Four schedulers issue an instruction each in a cycle at best, and two thirds of that while
    // warps wait for one another. A slice is decoded in some 60 instructions.
    constexpr double kInstruction = 0.375;
    own[Number::kSetUp] = kInstruction;
    own[Number::kSlices] = 60 * kInstruction;
    std::fill_n(own + Number::kLines, kWidths.size(), kInstruction);
    // From the loads of a round to its stores, while the memory is busy.
    costs[Number::kRounds + kernel] = 1.2e-6;
  }
  costs[Number::kStagedRounds] = 0.6e-6;
  costs[Number::kWaves] = 0.5e-6;
  return costs;
}

std::array<std::string, Number::kCount> make_names() {
  std::array<std::string, Number::kCount> names;
  names[Number::kBytes] = "memory.bytes";
  names[Number::kRoundBytes] = "memory.round_bytes";
  for (const std::size_t side : {Number::kRead, Number::kWritten}) {
    const std::string prefix = side == Number::kRead ? "memory.read_" : "memory.written_";
    names[side + Number::kMovedAgain] = prefix + "again";
    names[side + Number::kMet] = prefix + "in_l2";
    for (std::size_t i = 0; i < kRunLimits.size(); ++i) {
      names[side + Number::kRunBelow + i] = prefix + "below_" + std::to_string(kRunLimits[i]);
    }
  }
  names[Number::kWavefronts] = "issue.wavefronts";
  for (std::size_t kernel = 0; kernel < kSchemas.size(); ++kernel) {
    const std::string schema(schema_name(static_cast<Schema>(kernel)));
    std::string* const own = names.data() + Number::kKernelIssue + kernel * Number::kKernelTerms;
    own[Number::kSetUp] = "issue." + schema + ".set_up";
    own[Number::kSlices] = "issue." + schema + ".slices";
    for (std::size_t i = 0; i < kWidths.size(); ++i) {
      own[Number::kLines + i] = "issue." + schema + ".lines_" + std::to_string(kWidths[i]);
    }
    names[Number::kRounds + kernel] = "latency." + schema + ".rounds";
  }
  names[Number::kStagedRounds] = "latency.staged_rounds";
  names[Number::kWaves] = "latency.waves";
  return names;
}

}  // namespace

const Costs& default_costs() {
  static constexpr Costs kDefaults = make_defaults();
  return kDefaults;
}

const std::array<std::string, TermNumber::kCount>& cost_names() {
  static const std::array<std::string, Number::kCount> names = make_names();
  return names;
}

std::size_t cost_number(std::string_view name) {
  const auto& names = cost_names();
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace ttlg::cuda
