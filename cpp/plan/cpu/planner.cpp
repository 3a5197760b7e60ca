#include "plan/cpu/planner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "plan/cpu/cost.hpp"
#include "tensor/contiguous_run.hpp"

namespace ttlg::cpu {
namespace {

// Below this many bytes per thread, waking a second thread costs more than it saves.
constexpr std::int64_t kMinBytesPerThread = 512 << 10;
constexpr std::int64_t kMinStreamedRunBytes = 3 * kLineBytes;
constexpr std::int64_t kForeseenRunBytes = 4 * kLineBytes;
constexpr std::int64_t kCopyChunkBytes = 256 << 10;

bool is_copy(const Problem& folded) { return folded.modes.empty() || folded.elements() == 0; }

bool is_tile(const Problem& folded) {
  if (is_copy(folded) || folded.perm.front() == 0 || !is_vector_width(folded.element_bytes)) {
    return false;
  }
  const Mode& in_mode = folded.modes.front();
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  return in_mode.in_byte_stride == folded.element_bytes &&
         out_mode.out_byte_stride == folded.element_bytes;
}

bool is_shuffle(const Problem& folded) { return !is_copy(folded) && !shuffle_tile(folded).empty(); }

bool is_strided_copy(const Problem& folded) { return !is_copy(folded); }

bool always(const Problem&) { return true; }

constexpr std::array<Rule, 5> kCascade{{
    {Kernel::copy, is_copy, "all modes fused into one run that is contiguous on both sides"},
    {Kernel::tile, is_tile,
     "elements (runs included) of 1, 2, 4, 8 or 16 bytes, and different fastest modes, each of "
     "unit stride on its side"},
    {Kernel::shuffle, is_shuffle,
     "elements of 1, 2, 4 or 8 bytes that are contiguous for 16 bytes on both sides"},
    {Kernel::strided_copy, is_strided_copy, "at least one mode besides the contiguous run"},
    {Kernel::reference, always, "nothing"},
}};

// Grows a block mode by mode along one side.
class Growth {
 public:
  explicit Growth(const Problem& folded)
      : folded_(folded), block_(folded.modes.size(), 1), bytes_(folded.element_bytes) {}

  // Takes the modes in `order` until a run of `run_bytes` lies in the block, or `limit` bytes in
  // all. The first mode is cut in multiples of `grain`.
  void along(std::span<const int> order, std::int64_t Mode::* step, std::int64_t run_bytes,
             std::int64_t limit, std::int64_t grain) {
    ContiguousRun run(folded_.element_bytes);
    for (const int index : order) {
      const auto m = static_cast<std::size_t>(index);
      const Mode& mode = folded_.modes[m];
      if (!run.is_continued_by(mode.*step)) return;
      const std::int64_t inner = run.bytes();
      const std::int64_t room =
          std::min((run_bytes + inner / 2) / inner, limit / (bytes_ / block_[m]));
      if (room > block_[m]) {
        const std::int64_t extent =
            split(mode.extent, room, inner == folded_.element_bytes ? grain : 1);
        bytes_ = bytes_ / block_[m] * extent;
        block_[m] = extent;
      }
      run.extend(mode.*step, block_[m], mode.extent);
    }
  }

  void at_least(std::span<const std::int64_t> tile) {
    for (std::size_t m = 0; m < tile.size(); ++m) block_[m] = std::max(block_[m], tile[m]);
  }

  std::vector<std::int64_t> take() { return std::move(block_); }

 private:
  // About equal pieces of at most `room`, in whole grains.
  static std::int64_t split(std::int64_t extent, std::int64_t room, std::int64_t grain) {
    if (extent <= room) return extent;
    const std::int64_t piece = even_piece(extent, room, grain);
    return piece <= room ? piece : std::max(room / grain * grain, std::min(room, grain));
  }

  const Problem& folded_;
  std::vector<std::int64_t> block_;
  std::int64_t bytes_;
};

// A block that holds the tile, with runs of `in_run` bytes on the input's side and of what that
// leaves of `limit` bytes on the output's.
std::vector<std::int64_t> grow_block(const Problem& folded, std::span<const std::int64_t> tile,
                                     std::int64_t in_run, std::int64_t limit) {
  const std::span<const int> in_order = identity_order(folded.modes.size());
  const std::int64_t grain = std::max<std::int64_t>(kLineBytes / folded.element_bytes, 1);
  Growth growth(folded);
  growth.along(in_order, &Mode::in_byte_stride, in_run, limit, grain);
  growth.along(folded.perm, &Mode::out_byte_stride, limit, limit, grain);
  growth.along(in_order, &Mode::in_byte_stride, limit, limit, grain);
  growth.at_least(tile);
  return growth.take();
}

// Loop order by cost (requirement M-01, weights as COMET has them): an index weighs 2^p for its
// place in the input and 1.01 * 2^p for its place in the output, where p is largest for the fastest
// one; the heaviest goes innermost. Summed over all orders this is the cheapest, so none are
// enumerated.
std::vector<int> choose_loop_order(const Problem& folded, std::span<const std::int64_t> block) {
  std::vector<double> weight(folded.modes.size(), 0.0);
  for (std::size_t place = 0; place < folded.perm.size(); ++place) {
    const int falling = -static_cast<int>(place);
    weight[place] += std::ldexp(1.0, falling);
    weight[static_cast<std::size_t>(folded.perm[place])] += std::ldexp(1.01, falling);
  }
  std::vector<int> order;
  for (std::size_t m = 0; m < block.size(); ++m) {
    if (block[m] < folded.modes[m].extent) order.push_back(static_cast<int>(m));
  }
  std::ranges::stable_sort(order, {}, [&](int m) { return weight[static_cast<std::size_t>(m)]; });
  return order;
}

// Blocks that continue one another's output follow one another, so that their partial lines meet in
// the staging buffer.
void continue_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::vector<int>& order) {
  ContiguousRun run(folded.element_bytes);
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    if (!run.extend(mode.out_byte_stride, block[m], mode.extent)) return;
    if (block[m] < mode.extent) {
      const auto found = std::ranges::find(order, index);
      std::rotate(found, found + 1, order.end());
      return;
    }
  }
}

std::int64_t stage_bytes(const Pieces& runs) { return runs.count * (runs.bytes + 2 * kLineBytes); }

// Whether the block's runs are long enough to be streamed and the staging buffer holds them.
bool can_stream(const Problem& folded, const Pieces& runs) {
  if (folded.element_bytes >= kDirectRunBytes) return true;
  return runs.bytes >= kMinStreamedRunBytes && stage_bytes(runs) <= kStagingBytes;
}

// Whether powers of two in their strides put more runs into the same sets of L1 than those hold.
bool crowds_sets(const Pieces& runs) {
  constexpr std::int64_t kWays = 12;
  return runs.count > kWays * runs.places;
}

Kernel choose_kernel(const Problem& folded) {
  return std::ranges::find_if(kCascade, [&](const Rule& rule) { return rule.applies(folded); })
      ->kernel;
}

// How long the shorter side of a tiled block is.
std::int64_t shorter_axis_bytes(const Block& block, std::int64_t element_bytes) {
  return static_cast<std::int64_t>(std::min(block.in_axis.in.size(), block.out_axis.in.size())) *
         element_bytes;
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
// through the staging buffer where the output exceeds the caches, since then nothing is evicted for
// it, and whole lines are not read before they are overwritten. Runs too short for that are left to
// the caches.
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
  // Long runs that are in the caches already are foreseen by the hardware.
  const bool foreseen = folded.element_bytes >= kForeseenRunBytes && !beyond_caches;
  parameters.prefetch = bytes > machine.l2_cache_bytes / 4 && !foreseen;
  std::vector<std::int64_t> tile;
  if (kernel == Kernel::shuffle) tile = shuffle_tile(folded);
  const auto add = [&](std::int64_t in_run, std::int64_t limit, bool streaming) {
    parameters.block = grow_block(folded, tile, in_run, limit);
    const Pieces runs = pieces_of(folded, parameters.block, folded.perm, &Mode::out_byte_stride);
    if (streaming && !can_stream(folded, runs)) return;
    parameters.loop_order = choose_loop_order(folded, parameters.block);
    if (streaming) continue_runs(folded, parameters.block, parameters.loop_order);
    parameters.streaming = streaming;
    parameters.staged = !streaming && crowds_sets(runs) && stage_bytes(runs) <= kStagingBytes;
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

std::span<const Rule> cascade() { return kCascade; }

void check_kernel(Kernel kernel, const Problem& folded) {
  const Rule& rule = *std::ranges::find(kCascade, kernel, &Rule::kernel);
  if (!rule.applies(folded)) {
    throw std::invalid_argument("kernel '" + std::string(kernel_name(kernel)) +
                                "' does not apply: it needs " + std::string(rule.requirement));
  }
}

Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced) {
  const Problem problem = make_problem(request);
  const Problem folded = fold_run(problem);
  if (forced) check_kernel(*forced, folded);
  const auto plan_for = [&](Kernel kernel) {
    std::optional<Candidate> best;
    for_each_candidate(folded, kernel, machine, threads,
                       [&](const Parameters& parameters, double cost) {
                         if (!best || cost < best->cost) best = {parameters, cost};
                       });
    return assemble(request, problem, folded, best->parameters);
  };
  const Kernel kernel = forced ? *forced : choose_kernel(folded);
  Plan plan = plan_for(kernel);
  if (forced || kernel != Kernel::tile) return plan;
  // Tiles that hang over their block's edge are moved back and do part of the work twice; a block
  // of few rows leaves them no room at all.
  const std::int64_t side = shorter_axis_bytes(plan.block, plan.element_bytes);
  if (side >= 4 * kLaneBytes || (side >= 2 * kLaneBytes && side % kLaneBytes == 0)) return plan;
  if (machine.has_shuffle && is_shuffle(folded)) return plan_for(Kernel::shuffle);
  return side >= kLaneBytes ? plan : plan_for(Kernel::strided_copy);
}

std::vector<Candidate> candidates(const Request& request, const Machine& machine, int threads) {
  const Problem folded = fold_run(make_problem(request));
  std::vector<Candidate> result;
  for (const Rule& rule : kCascade) {
    if (!rule.applies(folded) || rule.kernel == Kernel::reference) continue;
    if (rule.kernel == Kernel::shuffle && !machine.has_shuffle) continue;
    for_each_candidate(
        folded, rule.kernel, machine, threads, [&](const Parameters& parameters, double cost) {
          const bool seen =
              std::ranges::find(result, parameters, &Candidate::parameters) != result.end();
          if (!seen) result.push_back({parameters, cost});
        });
  }
  std::ranges::stable_sort(result, {}, &Candidate::cost);
  return result;
}

}  // namespace ttlg::cpu
