// What the time of a launch depends on, and what each of these terms costs on a device: the
// physical time model. docs/hardware.md, "The time model", has its formulas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/cuda/parameters.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {

// Three groups of terms wait for one another only in part: what memory moves, what the busiest
// multiprocessor issues, and what its thread blocks wait for.
enum class TermGroup : std::uint8_t { memory, issue, latency };

// Bytes of runs: shorter ones cost more a byte.
inline constexpr std::array<std::int64_t, 4> kRunLimits{64, 128, 256, 512};

// Where the terms of each kind begin.
struct TermNumber {
  // Bytes, whose cost is relative to a byte of a copy.
  static constexpr std::size_t kBytes = 0;       // moved, read and written
  static constexpr std::size_t kRoundBytes = 1;  // the same if all blocks of the last round moved
  // Of the input, and of the output: at the ends of runs, what is moved again because the L2 cache
  // has lost it since, and what is met there; then the bytes of runs below each limit.
  static constexpr std::size_t kRead = 2;
  static constexpr std::size_t kMovedAgain = 0;
  static constexpr std::size_t kMet = 1;
  static constexpr std::size_t kRunBelow = 2;
  static constexpr std::size_t kSideTerms = kRunBelow + kRunLimits.size();
  static constexpr std::size_t kWritten = kRead + kSideTerms;
  // Work of the busiest multiprocessor, whose cost is in cycles.
  static constexpr std::size_t kIssue = kWritten + kSideTerms;
  static constexpr std::size_t kWavefronts = kIssue;  // 128 bytes through L1 or shared memory
  // Of each kernel: instructions that set its blocks up, slices after a block's first by the warps
  // that decode each, and by the width of elements instructions that move lines.
  static constexpr std::size_t kKernelIssue = kIssue + 1;
  static constexpr std::size_t kSetUp = 0;
  static constexpr std::size_t kSlices = 1;
  static constexpr std::size_t kLines = 2;
  static constexpr std::size_t kKernelTerms = kLines + kWidths.size();
  // What happens one after the other, whose cost is in seconds.
  static constexpr std::size_t kLatency = kKernelIssue + kSchemas.size() * kKernelTerms;
  static constexpr std::size_t kWaves = kLatency;             // of blocks that start
  static constexpr std::size_t kStagedRounds = kLatency + 1;  // loads in flight while others drain
  static constexpr std::size_t kRounds = kLatency + 2;        // of each kernel: loads waited for
  static constexpr std::size_t kCount = kRounds + kSchemas.size();
};

constexpr TermGroup group_of(std::size_t term) {
  return term < TermNumber::kIssue     ? TermGroup::memory
         : term < TermNumber::kLatency ? TermGroup::issue
                                       : TermGroup::latency;
}

// What every term costs, none less than nothing.
using Costs = std::array<double, TermNumber::kCount>;

// Estimates for devices without a fitted model.
const Costs& default_costs();

// What each term is called, by its group first.
const std::array<std::string, TermNumber::kCount>& cost_names();

// The term of this name; TermNumber::kCount where there is none.
std::size_t cost_number(std::string_view name);

}  // namespace ttlg::cuda
