// The space in which the planner looks for the fastest way to carry a problem out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/cpu/block/runs.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

// The powers of two by which runs of a block are longer than a grain, on either side.
inline constexpr int kMaxInDoublings = 6;
inline constexpr int kMaxOutDoublings = 8;
inline constexpr std::array kPrefetches{1, 0, 2, 4};

// How blocks reach the output.
enum class StorePath : std::uint8_t { cached, staged, direct, cached_staged };

inline constexpr std::array kPaths{StorePath::cached, StorePath::staged, StorePath::direct,
                                   StorePath::cached_staged};

// What the search varies; the parameters follow from it.
struct SearchPoint {
  Kernel kernel = Kernel::reference;
  StorePath path = StorePath::cached;
  int in_doublings = 0;
  int out_doublings = 0;
  int threads = 1;
  int prefetch = kPrefetches.front();
  bool along_input = false;  // the innermost loop: along the input's runs or the output's
};

// Whether a point's blocks are of the space.
constexpr bool is_within(const SearchPoint& point) {
  return point.in_doublings >= 0 && point.in_doublings <= kMaxInDoublings &&
         point.out_doublings >= 0 && point.out_doublings <= kMaxOutDoublings;
}

// Turns points into parameters. Neighbouring points often have the same block.
class SearchSpace {
 public:
  explicit SearchSpace(const Problem& folded);

  // What a point stands for, until the next call; null where its blocks cannot take its path.
  const Parameters* parameters_of(const SearchPoint& point);

  // Runs of a block have this many bytes times a power of two, on either side.
  std::int64_t grain() const { return grain_; }

  // Those of the blocks of the last point.
  const BlockRuns& runs() const { return runs_; }

  // A point that stands for the parameters, if there is one.
  std::optional<SearchPoint> point_of(const Parameters& parameters);

 private:
  // What a block follows from.
  struct Shape {
    int in_doublings;
    int out_doublings;
    bool for_shuffle;

    bool operator==(const Shape&) const = default;
  };

  void set_block(const Shape& shape);
  bool can_take(StorePath path) const;

  const Problem& folded_;
  std::int64_t grain_;
  std::vector<int> ranked_;
  std::vector<std::int64_t> shuffle_tile_;
  Parameters parameters_;
  std::optional<Shape> shape_;  // of the block, which has these runs
  BlockRuns runs_;
};

// The orders of the loops over such blocks that the planner weighs; an empty one where there are no
// loops over modes, as for the chunks of `copy`.
std::vector<std::vector<int>> loop_orders(const Problem& folded,
                                          std::span<const std::int64_t> block);

// The parameters a step away from others: blocks that are the next shorter or longer ones on either
// side, the other loop order, and other prefetches. The way to the output stays.
std::vector<Parameters> neighbors_of(const Problem& folded, const Parameters& parameters);

}  // namespace ttlg::cpu
