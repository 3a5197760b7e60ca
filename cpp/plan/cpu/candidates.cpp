#include "plan/cpu/candidates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cmath>
#include <span>
#include <utility>

#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/search_space.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::size_t kUsualEvaluations = 64;

// The paths that every kernel of blocks is evaluated with; what is converted leaves a buffer.
constexpr std::array kFirstPaths{StorePath::cached, StorePath::staged, StorePath::direct};
constexpr std::array kConvertingPaths{StorePath::staged, StorePath::cached_staged};

std::span<const StorePath> first_paths(const Problem& folded) {
  if (folded.conversion) return kConvertingPaths;
  return kFirstPaths;
}

// A point with its predicted seconds, from which the search steps to better shapes.
struct EvaluatedPoint {
  SearchPoint point;
  double seconds = 0;
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
        space_(folded),
        visited_(visited) {
    seen_.reserve(kUsualEvaluations);
  }

  // All points, of which run() visits some.
  void run_over_all() {
    for (const Kernel kernel : kKernels) {
      if (!is_usable(kernel)) continue;
      if (kernel == Kernel::copy) {
        evaluate_copies();
        continue;
      }
      for (int in = 0; in <= kMaxInDoublings; ++in) {
        for (int out = 0; out <= kMaxOutDoublings; ++out) evaluate_shape(kernel, in, out);
      }
    }
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

  void evaluate_shape(Kernel kernel, int in_doublings, int out_doublings) {
    for (const StorePath path : kPaths) {
      for (const int prefetch : kPrefetches) {
        for (const bool along_input : {false, true}) {
          evaluate({.kernel = kernel,
                    .path = path,
                    .in_doublings = in_doublings,
                    .out_doublings = out_doublings,
                    .threads = threads_,
                    .prefetch = prefetch,
                    .along_input = along_input});
        }
      }
    }
  }

  void evaluate_kernel(Kernel kernel) {
    if (kernel == Kernel::reference) {
      take({.kernel = kernel}, nullptr, {.kernel = kernel});
    } else if (kernel == Kernel::copy) {
      evaluate_copies();
    } else {
      for (const StorePath path : first_paths(folded_)) {
        EvaluatedPoint& start = starts_[started_++];
        start.point = {.kernel = kernel,
                       .path = path,
                       .in_doublings = 2,
                       .out_doublings = first_out_doublings(path),
                       .threads = threads_};
        start.seconds = evaluate(start.point);
      }
    }
  }

  // Where both sides follow the same mode there are no columns, and runs begin long; those that are
  // streamed directly within a row, as only parts of rows are reversed in registers.
  int first_out_doublings(StorePath path) const {
    constexpr int kLongRun = 6;
    if (!folded_.keeps_fastest_mode()) return 2;
    if (path != StorePath::direct) return kLongRun;
    const std::int64_t row = folded_.modes.front().extent * folded_.element_bytes();
    const auto grains = static_cast<std::uint64_t>(row / space_.grain());
    return std::clamp(static_cast<int>(std::bit_width(grains)) - 1, 0, kLongRun);
  }

  // Blocks of other shapes by every kernel and path that may still be the fastest.
  void evaluate_other_shapes() {
    constexpr double kNearBest = 1.1;
    const double limit = kNearBest * best_.seconds;
    for (const EvaluatedPoint& start : std::span(starts_).first(started_)) {
      if (start.seconds > limit) continue;
      for (const auto& [in, out] : {std::pair{0, 4}, {3, 0}}) {
        SearchPoint point = start.point;
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
    for (const EvaluatedPoint& start : std::span(starts_).first(started_)) {
      if (start.seconds <= limit) improve_shape(start);
    }
    improve_shape(best_start());
  }

  void evaluate_copies() {
    constexpr std::int64_t kChunkBytes = 256 << 10;
    const std::int64_t bytes = folded_.bytes();
    const bool must_read = folded_.conversion && folded_.conversion->map.accumulates;
    for (const int threads : {1, threads_}) {
      for (const bool streaming : {false, true}) {
        if (streaming && must_read) continue;
        take({.kernel = Kernel::copy,
              .block = {std::clamp<std::int64_t>(bytes, 1, kChunkBytes)},
              .streaming = streaming,
              .threads = threads},
             nullptr, {.kernel = Kernel::copy});
      }
      if (threads_ == 1) break;
    }
  }

  // Steps to neighbouring shapes as long as one of them is faster; passes over those that make the
  // same block.
  void improve_shape(EvaluatedPoint start) {
    constexpr std::array<std::pair<int, int>, 6> kSteps{
        {{1, -1}, {-1, 1}, {0, 1}, {1, 0}, {0, -1}, {-1, 0}}};
    std::bitset<(kMaxInDoublings + 1) * (kMaxOutDoublings + 1)> seen;
    for (bool moved = true; moved;) {
      moved = false;
      const EvaluatedPoint from = start;
      for (const auto& [in, out] : kSteps) {
        SearchPoint next = from.point;
        for (double seconds = from.seconds; seconds == from.seconds;) {
          next.in_doublings += in;
          next.out_doublings += out;
          if (!is_within(next)) break;
          const auto shape = static_cast<std::size_t>(next.in_doublings * (kMaxOutDoublings + 1) +
                                                      next.out_doublings);
          if (seen[shape]) break;
          seen.set(shape);
          seconds = evaluate(next);
          if (seconds >= start.seconds) continue;
          start = {.point = next, .seconds = seconds};
          moved = true;
        }
      }
    }
  }

  void improve_rest() {
    SearchPoint other = point_;
    other.along_input = !other.along_input;
    improve_shape({.point = other, .seconds = evaluate(other)});
    for (int threads = point_.threads; threads > 1 && threads == point_.threads;) {
      other = point_;
      other.threads = threads /= 2;
      evaluate(other);
    }
    for (const int prefetch : std::span(kPrefetches).subspan(1)) {
      other = point_;
      other.prefetch = prefetch;
      evaluate(other);
    }
    if (point_.path == StorePath::cached) {
      other = point_;
      other.path = StorePath::cached_staged;
      evaluate(other);
    }
  }

  // What suits the best path may suit another one better still, which the first evaluations, at
  // blocks of other shapes, put behind it.
  void improve_path() {
    const SearchPoint from = point_;
    for (const StorePath path : first_paths(folded_)) {
      for (const int prefetch : {from.prefetch, 0}) {
        SearchPoint other = from;
        other.path = path;
        other.prefetch = prefetch;
        evaluate(other);
      }
    }
    if (point_.path == from.path) return;
    improve_shape(best_start());
    improve_rest();
  }

  EvaluatedPoint best_start() const { return {.point = point_, .seconds = best_.seconds}; }

  // Predicts what a point stands for; infinity where that cannot be done.
  double evaluate(const SearchPoint& point) {
    const Parameters* const parameters = space_.parameters_of(point);
    if (parameters == nullptr) return HUGE_VAL;
    // Neighbouring shapes often make the same block. Two candidates of one hash would only mean
    // that the second is taken for the first.
    const std::uint64_t hash = hash_of(*parameters);
    const auto seen = std::ranges::find(seen_, hash, &Seen::hash);
    if (seen != seen_.end()) return seen->seconds;
    const double seconds = take(*parameters, &space_.runs(), point);
    seen_.push_back({.hash = hash, .seconds = seconds});
    return seconds;
  }

  // Predicts a candidate, and keeps it if it is the fastest so far.
  double take(const Parameters& parameters, const BlockRuns* runs, const SearchPoint& point) {
    const double seconds =
        predicted_seconds(count_terms(folded_, parameters, machine_, false, runs), machine_.model);
    if (visited_ != nullptr) visited_->push_back({parameters, seconds});
    if (best_.seconds >= 0 && seconds >= best_.seconds) return seconds;
    best_.parameters = parameters;
    best_.seconds = seconds;
    point_ = point;
    return seconds;
  }

  const Problem& folded_;
  const Machine& machine_;
  int threads_;
  SearchSpace space_;
  std::vector<Candidate>* visited_;
  std::array<EvaluatedPoint, kKernels.size() * kFirstPaths.size()> starts_;
  std::size_t started_ = 0;
  struct Seen {
    std::uint64_t hash;
    double seconds;
  };
  std::vector<Seen> seen_;  // what was predicted
  SearchPoint point_;
  Candidate best_{.parameters = {}, .seconds = -1};
};

}  // namespace

Candidate best_candidate(const Problem& folded, const Machine& machine, int threads,
                         std::optional<Kernel> forced) {
  return Search(folded, machine, threads, nullptr).run(forced);
}

std::vector<Candidate> candidates_of(const Problem& folded, const Machine& machine, int threads,
                                     CandidateSet set) {
  std::vector<Candidate> visited;
  Search search(folded, machine, threads, &visited);
  if (set == CandidateSet::searched) search.run(std::nullopt);
  if (set == CandidateSet::all) search.run_over_all();
  std::ranges::stable_sort(visited, {}, &Candidate::seconds);
  return visited;
}

}  // namespace ttlg::cpu
