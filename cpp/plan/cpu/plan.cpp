#include "plan/cpu/plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ttlg::cpu {
namespace {

// The modes that a block cuts, after a check of its extents.
std::vector<int> cut_modes(const Parameters& parameters, const Problem& folded) {
  std::vector<int> cut;
  if (parameters.kernel == Kernel::copy) {
    if (parameters.block.front() >= 1) return cut;
    throw std::invalid_argument("block must be at least 1 byte of a chunk for 'copy', not " +
                                std::to_string(parameters.block.front()));
  }
  for (std::size_t m = 0; m < parameters.block.size(); ++m) {
    const std::int64_t extent = folded.modes[m].extent;
    if (parameters.block[m] < 1 || parameters.block[m] > extent) {
      throw std::invalid_argument("block along mode " + std::to_string(m) + " must be from 1 to " +
                                  std::to_string(extent) + ", its extent, not " +
                                  std::to_string(parameters.block[m]));
    }
    if (parameters.block[m] < extent) cut.push_back(static_cast<int>(m));
  }
  return cut;
}

std::string list_of(const std::vector<int>& modes) {
  std::string text;
  for (const int mode : modes) {
    if (!text.empty()) text += ", ";
    text += std::to_string(mode);
  }
  return modes.empty() ? "none" : text;
}

void check_parameters(const Parameters& parameters, const Problem& folded) {
  check_threads(parameters.threads);
  if (parameters.streaming && folded.conversion && folded.conversion->map.accumulates) {
    throw std::invalid_argument("what is added to the output reads its lines: no streaming");
  }
  if (parameters.prefetch < 0 || parameters.prefetch > kMaxPrefetchDistance) {
    throw std::invalid_argument("prefetch must be from 0 to " +
                                std::to_string(kMaxPrefetchDistance) + " blocks ahead, not " +
                                std::to_string(parameters.prefetch));
  }
  if (parameters.kernel == Kernel::reference) return;
  const bool copy = parameters.kernel == Kernel::copy;
  if (parameters.block.size() != (copy ? 1 : folded.modes.size())) {
    throw std::invalid_argument("block must have one extent for each of the " +
                                std::to_string(folded.modes.size()) +
                                " modes that are left (bytes of a chunk for 'copy'), not " +
                                std::to_string(parameters.block.size()));
  }
  const std::vector<int> cut = cut_modes(parameters, folded);
  if (!std::ranges::is_permutation(parameters.loop_order, cut)) {
    throw std::invalid_argument(
        "loop_order must name every mode once that is longer than its block (" + list_of(cut) +
        "), not " + list_of(parameters.loop_order));
  }
}

void check_stores(const Plan& plan) {
  const auto& [staged, streaming] = std::pair(plan.parameters.staged, plan.parameters.streaming);
  if (staged && plan.block.staging_bytes > kStagingBytes) {
    throw std::invalid_argument("a staged block may take at most " + std::to_string(kStagingBytes) +
                                " bytes, not " + std::to_string(plan.block.staging_bytes));
  }
  if (plan.conversion && !staged) {
    throw std::invalid_argument(
        "elements are converted as they leave a buffer: staged must be true");
  }
  if (!streaming) return;
  if (plan.out_bytes_of(plan.block.run_bytes) < kMinStreamedRunBytes) {
    throw std::invalid_argument("streaming needs runs of at least " +
                                std::to_string(kMinStreamedRunBytes) + " bytes in the output");
  }
  if (!staged && plan.parameters.kernel == Kernel::shuffle) {
    throw std::invalid_argument("streaming needs staged blocks for the kernel 'shuffle'");
  }
}

// Chunks of whole elements.
void check_chunk(const Parameters& parameters, const Problem& problem) {
  if (problem.moves_bits() || parameters.block.front() % problem.in_bytes == 0) return;
  throw std::invalid_argument(
      "block must be a multiple of the " + std::to_string(problem.in_bytes) +
      " bytes of an element that is converted, not " + std::to_string(parameters.block.front()));
}

void lay_out_copy(Plan& plan) {
  const std::int64_t chunk = plan.parameters.block.front();
  const std::int64_t bytes = plan.problem.elements() * plan.problem.in_bytes;
  plan.loops.push_back({FastDivisor(ceil_div(bytes, chunk)), chunk, chunk});
}

ValueLoop find_value_loop(const Problem& folded, const Parameters& parameters,
                          std::span<const int> loop_of) {
  const int mode = folded.conversion->values.mode;
  const auto m = static_cast<std::size_t>(mode);
  ValueLoop result{.loop = loop_of[m], .block = parameters.block[m]};
  if (result.block == 1) return result;
  result.number = 0;
  for (auto at = folded.perm.begin(); *at != mode; ++at) {
    result.number += parameters.block[static_cast<std::size_t>(*at)] > 1 ? 1 : 0;
  }
  return result;
}

void lay_out_blocks(Plan& plan, const Problem& folded) {
  const Parameters& parameters = plan.parameters;
  std::vector<int> loop_of(folded.modes.size(), -1);
  for (const int m : parameters.loop_order) {
    const Mode& mode = folded.modes[static_cast<std::size_t>(m)];
    const std::int64_t block = parameters.block[static_cast<std::size_t>(m)];
    loop_of[static_cast<std::size_t>(m)] = static_cast<int>(plan.loops.size());
    plan.loops.push_back({FastDivisor(ceil_div(mode.extent, block)), block * mode.in_byte_stride,
                          block * mode.out_byte_stride});
  }
  plan.block = make_block(folded, parameters, loop_of);
  if (plan.conversion && plan.conversion->values.mode >= 0) {
    plan.value_loop = find_value_loop(folded, parameters, loop_of);
  }
  if (parameters.kernel == Kernel::shuffle) {
    plan.movers = make_movers(folded, plan.block, parameters.block);
  }
}

}  // namespace

void check_threads(int threads) {
  if (is_thread_count(threads)) return;
  throw std::invalid_argument("threads must be from 1 to " + std::to_string(kMaxThreads) +
                              ", not " + std::to_string(threads));
}

std::int64_t Plan::blocks() const {
  std::int64_t count = 1;
  for (const Loop& loop : loops) count *= loop.count.divisor();
  return count;
}

Plan assemble(const Request& request, Problem problem, const Problem& folded,
              const Parameters& parameters) {
  check_parameters(parameters, folded);
  Plan plan(request, std::move(problem), parameters);
  plan.element_bytes = folded.element_bytes();
  plan.conversion = folded.conversion;
  if (plan.problem.max_bytes() == 0 || parameters.kernel == Kernel::reference) return plan;
  if (parameters.kernel == Kernel::copy) {
    check_chunk(parameters, plan.problem);
    lay_out_copy(plan);
  } else {
    lay_out_blocks(plan, folded);
    check_stores(plan);
  }
  return plan;
}

Plan build_plan(const Request& request, const Parameters& parameters) {
  Problem problem = make_problem(request);
  const Problem folded = gather_bits(problem);
  check_kernel(parameters.kernel, folded);
  return assemble(request, std::move(problem), folded, parameters);
}

}  // namespace ttlg::cpu
