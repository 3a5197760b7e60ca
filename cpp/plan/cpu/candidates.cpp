#include "plan/cpu/candidates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <utility>

#include "plan/cpu/block/grow_block.hpp"
#include "plan/cpu/block/runs.hpp"
#include "plan/cpu/loop_order.hpp"
#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/shuffle.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kMaxBlockBytes = 256 << 10;
// Runs of a block have this many bytes times a power of two, on either side.
constexpr int kMaxInDoublings = 6;
constexpr int kMaxOutDoublings = 8;
constexpr std::size_t kUsualEvaluations = 64;

// How blocks reach the output.
enum class Path : std::uint8_t { cached, cached_staged, staged, direct };

// Those that every kernel of blocks is evaluated with.
constexpr std::array kFirstPaths{Path::cached, Path::staged, Path::direct};

struct Point {
  Kernel kernel = Kernel::reference;
  Path path = Path::cached;
  int in_doublings = 0;
  int out_doublings = 0;
  int threads = 1;
  int prefetch = 1;
  bool along_input = false;  // the innermost loop: along the input's runs or the output's

  bool operator==(const Point&) const = default;
};

// Where a search for better shapes begins.
struct Start {
  Point point;
  double seconds = 0;
};

// What a block follows from.
struct Shape {
  int in_doublings;
  int out_doublings;
  bool for_shuffle;

  bool operator==(const Shape&) const = default;
};

// A caller in a loop finds the other threads watching; those that sleep are woken where it
// pays (cpu/threads/team.hpp). A thread helps if its part takes twice as long as it takes to begin.
int useful_threads(std::int64_t bytes, const Machine& machine, int threads) {
  constexpr double kBytesPerSecond = 2e10;
  constexpr double kTimesAsLong = 2;
  constexpr double kMaxSeconds = 3e-6;  // more was measured beside other work
  const double start = std::min(machine.thread_start_seconds, kMaxSeconds);
  const auto by_start = static_cast<std::int64_t>(kTimesAsLong * start * kBytesPerSecond);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / std::max(kMinBytesPerThread, by_start),
                                                   1, std::clamp(threads, 1, kMaxThreads)));
}

std::int64_t staging_bytes(const SideRuns& runs) {
  return runs.count * (runs.bytes + 2 * kLineBytes);
}

std::uint64_t hash_of(const Parameters& parameters) {
  std::uint64_t order = parameters.loop_order.size();
  for (const int mode : parameters.loop_order) {
    order = std::rotl(order, 6) ^ static_cast<std::uint64_t>(mode);
  }
  std::uint64_t hash = order;
  const auto mix = [&hash](auto word) {
    hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(word);
  };
  mix(parameters.threads * 1024 + parameters.prefetch * 32 +
      static_cast<int>(parameters.kernel) * 4 + parameters.staged * 2 + parameters.streaming);
  for (const std::int64_t extent : parameters.block) mix(extent);
  return hash;
}

// Looks for the fastest candidate: each kernel and path at a few shapes of blocks, then the shapes
// around the best one, one step at a time, and its other parameters: some forty evaluations, where
// all combinations would be thousands.
class Search {
 public:
  Search(const Problem& folded, const Machine& machine, int threads,
         std::vector<Candidate>* visited)
      : folded_(folded),
        machine_(machine),
        threads_(useful_threads(folded.bytes(), machine, threads)),
        grain_(std::max(folded.element_bytes, kLineBytes)),
        ranked_(rank_loops(folded)),
        visited_(visited) {
    seen_.reserve(kUsualEvaluations);
  }

  Candidate run(std::optional<Kernel> forced) {
    for (const Kernel kernel : kKernels) {
      if (forced ? kernel == *forced : is_usable(kernel)) evaluate_kernel(kernel);
    }
    if (best_.parameters.kernel != Kernel::copy && best_.parameters.kernel != Kernel::reference) {
      evaluate_other_shapes();
      improve_starts();
      improve_rest();
      improve_path();
    }
    return std::move(best_);
  }

 private:
  bool is_usable(Kernel kernel) const {
    if (kernel == Kernel::reference) return false;
    return (kernel != Kernel::shuffle || machine_.has_shuffle) && applies(kernel, folded_);
  }

  void evaluate_kernel(Kernel kernel) {
    if (kernel == Kernel::reference) {
      scratch_ = {.kernel = kernel};
      take(predict(), {.kernel = kernel});
    } else if (kernel == Kernel::copy) {
      evaluate_copies();
    } else {
      if (kernel == Kernel::shuffle) shuffle_tile_ = shuffle_tile(folded_);
      for (const Path path : kFirstPaths) {
        Start& start = starts_[started_++];
        start.point = {.kernel = kernel,
                       .path = path,
                       .in_doublings = 2,
                       .out_doublings = 2,
                       .threads = threads_};
        start.seconds = evaluate(start.point);
      }
    }
  }

  // Blocks of other shapes by every kernel and path that may still be the fastest.
  void evaluate_other_shapes() {
    constexpr double kNearBest = 1.1;
    const double limit = kNearBest * best_.seconds;
    for (const Start& start : std::span(starts_).first(started_)) {
      if (start.seconds > limit) continue;
      for (const auto& [in, out] : {std::pair{0, 4}, {3, 0}}) {
        Point point = start.point;
        point.in_doublings = in;
        point.out_doublings = out;
        evaluate(point);
      }
    }
  }

  // The best shapes differ from path to path: the best path at the first ones may not stay it.
  void improve_starts() {
    constexpr double kNearBest = 1.5;
    const double limit = kNearBest * best_.seconds;
    for (const Start& start : std::span(starts_).first(started_)) {
      if (start.seconds <= limit) improve_shape(start);
    }
    improve_shape(best_start());
  }

  void evaluate_copies() {
    constexpr std::int64_t kChunkBytes = 256 << 10;
    const std::int64_t bytes = folded_.bytes();
    for (const int threads : {1, threads_}) {
      for (const bool streaming : {false, true}) {
        scratch_ = {.kernel = Kernel::copy,
                    .block = {std::clamp<std::int64_t>(bytes, 1, kChunkBytes)},
                    .streaming = streaming,
                    .threads = threads};
        take(predict(), {.kernel = Kernel::copy});
      }
      if (threads_ == 1) break;
    }
  }

  // Steps to neighbouring shapes as long as one of them is faster.
  void improve_shape(Start start) {
    constexpr std::array<std::pair<int, int>, 6> kSteps{
        {{1, -1}, {-1, 1}, {0, 1}, {1, 0}, {0, -1}, {-1, 0}}};
    std::bitset<(kMaxInDoublings + 1) * (kMaxOutDoublings + 1)> seen;
    for (bool moved = true; moved;) {
      moved = false;
      const Point from = start.point;
      for (const auto& [in, out] : kSteps) {
        Point next = from;
        next.in_doublings += in;
        next.out_doublings += out;
        if (next.in_doublings < 0 || next.in_doublings > kMaxInDoublings) continue;
        if (next.out_doublings < 0 || next.out_doublings > kMaxOutDoublings) continue;
        const auto shape = static_cast<std::size_t>(next.in_doublings * (kMaxOutDoublings + 1) +
                                                    next.out_doublings);
        if (seen[shape]) continue;
        seen.set(shape);
        if (const double seconds = evaluate(next); seconds < start.seconds) {
          start = {.point = next, .seconds = seconds};
          moved = true;
        }
      }
    }
  }

  void improve_rest() {
    Point other = point_;
    other.along_input = !other.along_input;
    evaluate(other);
    for (int threads = point_.threads; threads > 1 && threads == point_.threads;) {
      other = point_;
      other.threads = threads /= 2;
      evaluate(other);
    }
    for (const int prefetch : {0, 2, 4}) {
      other = point_;
      other.prefetch = prefetch;
      evaluate(other);
    }
    if (point_.path == Path::cached) {
      other = point_;
      other.path = Path::cached_staged;
      evaluate(other);
    }
  }

  // What suits the best path may suit another one better still, which the first evaluations, at
  // blocks of other shapes, put behind it.
  void improve_path() {
    const Point from = point_;
    for (const Path path : kFirstPaths) {
      Point other = from;
      other.path = path;
      evaluate(other);
    }
    if (point_.path == from.path) return;
    improve_shape(best_start());
    improve_rest();
  }

  Start best_start() const { return {.point = point_, .seconds = best_.seconds}; }

  // Predicts what a point stands for; infinity where that cannot be done.
  double evaluate(const Point& point) {
    set_block({.in_doublings = point.in_doublings,
               .out_doublings = point.out_doublings,
               .for_shuffle = point.kernel == Kernel::shuffle});
    scratch_.kernel = point.kernel;
    if (!can_take(point.path, runs_.out)) return HUGE_VAL;
    choose_loop_order(folded_, scratch_.block, ranked_, scratch_.loop_order);
    if (point.along_input) {
      continue_runs(folded_, scratch_.block, identity_order(folded_.modes.size()),
                    &Mode::in_byte_stride, scratch_.loop_order);
    } else {
      continue_runs(folded_, scratch_.block, folded_.perm, &Mode::out_byte_stride,
                    scratch_.loop_order);
    }
    scratch_.streaming = point.path == Path::staged || point.path == Path::direct;
    scratch_.staged = point.path == Path::staged || point.path == Path::cached_staged;
    scratch_.prefetch = point.prefetch;
    scratch_.threads = static_cast<int>(std::min<std::int64_t>(point.threads, runs_.blocks));
    // Neighbouring shapes often make the same block. Two candidates of one hash would only mean
    // that the second is taken for the first.
    const std::uint64_t hash = hash_of(scratch_);
    const auto seen = std::ranges::find(seen_, hash, &Seen::hash);
    if (seen != seen_.end()) return seen->seconds;
    const double seconds = predict(&runs_);
    seen_.push_back({.hash = hash, .seconds = seconds});
    take(seconds, point);
    return seconds;
  }

  // The block of one evaluation is often that of the next.
  void set_block(const Shape& shape) {
    if (shape == shape_) return;
    shape_ = shape;
    const std::span<const std::int64_t> tile =
        shape.for_shuffle ? std::span(shuffle_tile_) : std::span<std::int64_t>();
    grow_block(folded_, tile, grain_ << shape.in_doublings, grain_ << shape.out_doublings,
               kMaxBlockBytes, scratch_.block);
    runs_ = block_runs(folded_, scratch_.block);
  }

  // Whether the scratch block's runs can reach the output in this way.
  bool can_take(Path path, const SideRuns& runs) const {
    if (path == Path::cached) return true;
    const bool streaming = path != Path::cached_staged;
    if (streaming && runs.bytes < kMinStreamedRunBytes) return false;
    return path == Path::direct ? scratch_.kernel != Kernel::shuffle
                                : staging_bytes(runs) <= kStagingBytes;
  }

  double predict(const BlockRuns* runs = nullptr) const {
    return predicted_seconds(count_terms(folded_, scratch_, machine_, false, runs), machine_.model);
  }

  void take(double seconds, const Point& point) {
    if (visited_ != nullptr) visited_->push_back({scratch_, seconds});
    if (best_.seconds >= 0 && seconds >= best_.seconds) return;
    best_.parameters = scratch_;
    best_.seconds = seconds;
    point_ = point;
  }

  const Problem& folded_;
  const Machine& machine_;
  int threads_;
  std::int64_t grain_;
  std::vector<int> ranked_;
  std::vector<Candidate>* visited_;
  std::vector<std::int64_t> shuffle_tile_;
  std::array<Start, kKernels.size() * kFirstPaths.size()> starts_;
  std::size_t started_ = 0;
  Parameters scratch_;
  std::optional<Shape> shape_;  // of the scratch block, which these are the runs of
  BlockRuns runs_;
  struct Seen {
    std::uint64_t hash;
    double seconds;
  };
  std::vector<Seen> seen_;  // what was predicted
  Point point_;
  Candidate best_{.parameters = {}, .seconds = -1};
};

}  // namespace

Candidate best_candidate(const Problem& folded, const Machine& machine, int threads,
                         std::optional<Kernel> forced) {
  return Search(folded, machine, threads, nullptr).run(forced);
}

std::vector<Candidate> candidates_of(const Problem& folded, const Machine& machine, int threads) {
  std::vector<Candidate> visited;
  Search(folded, machine, threads, &visited).run(std::nullopt);
  std::ranges::stable_sort(visited, {}, &Candidate::seconds);
  return visited;
}

}  // namespace ttlg::cpu
