#include "plan/cpu/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "plan/cpu/cost.hpp"
#include "plan/cpu/grow_block.hpp"
#include "plan/cpu/loop_order.hpp"
#include "plan/cpu/shuffle.hpp"

namespace ttlg::cpu {
namespace {

// Below this many bytes per thread, waking a second thread costs more than it saves.
constexpr std::int64_t kMinBytesPerThread = 512 << 10;
constexpr std::int64_t kMinStreamedRunBytes = 3 * kLineBytes;
constexpr std::int64_t kHardwarePrefetchedRunBytes = 4 * kLineBytes;
constexpr std::int64_t kCopyChunkBytes = 256 << 10;

std::int64_t stage_bytes(const Pieces& runs) { return runs.count * (runs.bytes + 2 * kLineBytes); }

// Whether the block's runs are long enough to be streamed and the staging buffer holds them.
bool can_stream(const Problem& folded, const Pieces& runs) {
  if (folded.element_bytes >= kDirectRunBytes) return true;
  return runs.bytes >= kMinStreamedRunBytes && stage_bytes(runs) <= kStagingBytes;
}

// Whether powers of two in their strides map more runs to the same sets of L1 than those hold.
bool has_set_conflicts(const Pieces& runs) {
  constexpr std::int64_t kWays = 12;
  return runs.count > kWays * runs.distinct_offsets;
}

int choose_threads(std::int64_t bytes, int threads) {
  return static_cast<int>(
      std::clamp<std::int64_t>(bytes / kMinBytesPerThread, 1, std::clamp(threads, 1, kMaxThreads)));
}

// Whether input and output together leave no room in the caches.
bool exceeds_caches(const Problem& folded, const Machine& machine) {
  return folded.bytes() > machine.last_level_cache_bytes / 8 * 3;
}

// Calls visit(parameters, cost) for all that a kernel may try: blocks of several shapes, streamed
// through the staging buffer where the output exceeds the caches: streaming evicts nothing, and
// whole lines are not read before they are overwritten. Runs too short for that are left to the
// caches.
template <typename Visit>
void for_each_candidate(const Problem& folded, Kernel kernel, const Machine& machine, int threads,
                        const Visit& visit) {
  Parameters parameters{.kernel = kernel};
  if (kernel == Kernel::reference) return visit(parameters, HUGE_VAL);
  const std::int64_t bytes = folded.bytes();
  const bool beyond_caches = exceeds_caches(folded, machine);
  parameters.threads = choose_threads(bytes, threads);
  if (kernel == Kernel::copy) {
    parameters.block = {std::clamp<std::int64_t>(bytes, 1, kCopyChunkBytes)};
    parameters.streaming = beyond_caches;
    return visit(parameters, 1.0);
  }
  // The hardware prefetches long runs that are in the caches already.
  const bool hardware_prefetches =
      folded.element_bytes >= kHardwarePrefetchedRunBytes && !beyond_caches;
  parameters.prefetch = bytes > machine.l2_cache_bytes / 4 && !hardware_prefetches;
  std::vector<std::int64_t> tile;
  if (kernel == Kernel::shuffle) tile = shuffle_tile(folded);
  const auto add = [&](std::int64_t in_run, std::int64_t limit, bool streaming) {
    parameters.block = grow_block(folded, tile, in_run, limit);
    const Pieces runs = pieces_of(folded, parameters.block, folded.perm, &Mode::out_byte_stride);
    if (streaming && !can_stream(folded, runs)) return;
    parameters.loop_order = choose_loop_order(folded, parameters.block);
    if (streaming) continue_runs(folded, parameters.block, parameters.loop_order);
    parameters.streaming = streaming;
    parameters.staged = streaming ? folded.element_bytes < kDirectRunBytes
                                  : has_set_conflicts(runs) && stage_bytes(runs) <= kStagingBytes;
    visit(parameters, block_cost(folded, parameters.block, parameters.loop_order, runs, streaming));
  };
  if (beyond_caches) {
    for (const std::int64_t limit : {kStagingBytes / 4, kStagingBytes * 3 / 4}) {
      for (const std::int64_t in_run : {64, 128, 256, 512, 1024, 1 << 20}) {
        add(in_run, limit, true);
      }
    }
  }
  std::int64_t square = kLineBytes;
  const std::int64_t limit = machine.l1_cache_bytes / 2;
  while (2 * square * square <= limit * std::min(folded.element_bytes, limit)) square *= 2;
  add(square, limit, false);
}

}  // namespace

Parameters best_parameters(const Problem& folded, Kernel kernel, const Machine& machine,
                           int threads) {
  std::optional<Candidate> best;
  for_each_candidate(folded, kernel, machine, threads,
                     [&](const Parameters& parameters, double cost) {
                       if (!best || cost < best->cost) best = {parameters, cost};
                     });
  return std::move(best->parameters);
}

std::vector<Candidate> candidates_of(const Problem& folded, Kernel kernel, const Machine& machine,
                                     int threads) {
  std::vector<Candidate> result;
  for_each_candidate(
      folded, kernel, machine, threads, [&](const Parameters& parameters, double cost) {
        const bool seen =
            std::ranges::find(result, parameters, &Candidate::parameters) != result.end();
        if (!seen) result.push_back({parameters, cost});
      });
  std::ranges::stable_sort(result, {}, &Candidate::cost);
  return result;
}

}  // namespace ttlg::cpu
