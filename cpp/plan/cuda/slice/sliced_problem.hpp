// A recast problem cut into slices: the one value from which features, times, grids, layouts,
// checks and kernel arguments follow. It is made for every candidate of the slice search, so
// neither it nor what is computed from it there allocates.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "plan/cuda/parameters.hpp"
#include "plan/cuda/policy.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// How many modes the axes of both sides have together.
int axis_modes(const Problem& problem, const Slice& slice);

// What the layout of Orthogonal-Arbitrary's slice in shared memory costs; nothing before one is
// chosen.
struct LayoutCost {
  // Extra cycles of a fill and a drain together, for every warp's access to an element of each
  // thread.
  double conflicts = 0;
  bool splits_vectors = false;  // so that elements of wide accesses are put down one by one

  bool operator==(const LayoutCost&) const = default;
};

class SlicedProblem {
 public:
  // The slice's modes must be modes of the problem, which must outlive this view of it.
  // `of_alignment` is that of element (0, ..., 0) on both sides.
  SlicedProblem(const Problem& of_problem, const Parameters& chosen,
                std::int64_t of_alignment = kMaxAccessBytes);

  const Problem& problem;
  // Other names for the same slice may be put here: `extents` stay.
  Parameters parameters;
  std::int64_t alignment;
  LayoutCost layout_cost{};

  const Mode& mode(int m) const { return problem.modes[static_cast<std::size_t>(m)]; }

  // Elements of the slice along each mode; 1 outside it. Where a mode belongs to both sides it is
  // the larger of the two.
  std::span<const std::int64_t> extents() const {
    return std::span(extents_).first(problem.modes.size());
  }
  std::int64_t extent(int m) const { return extents_[static_cast<std::size_t>(m)]; }

  // The modes of the slice on either side, fastest first.
  std::span<const int> in_axis() const {
    return identity_order(static_cast<std::size_t>(parameters.slice.in_modes));
  }
  std::span<const int> out_axis() const {
    return std::span(problem.perm).first(static_cast<std::size_t>(parameters.slice.out_modes));
  }

  // The furthest that two elements of the slice lie apart on either side, in elements.
  std::int64_t max_distance() const;

  // How often a thread block repeats its slice: the extent of the coarsened mode, or 1.
  std::int64_t repeats() const {
    return parameters.coarsened_mode < 0 ? 1 : mode(parameters.coarsened_mode).extent;
  }

 private:
  std::array<std::int64_t, kMaxRank> extents_;
};

// One side of the slices. Its axis is what Table I calls i_0..i_x or o_0..o_y, the last mode cut.
struct SideGeometry {
  std::int64_t length = 1;  // elements of the axis in a whole slice
  std::int64_t rest = 0;    // the same at the end of the cut mode, 0 where the block divides it
  std::int64_t whole = 1;   // slices along the cut mode that are whole
  std::int64_t rows = 1;    // how often the whole axis occurs in the tensor
  std::int64_t run = 1;     // elements of a whole slice that are contiguous in memory
  std::int64_t runs = 1;    // of those in the tensor, taken slice by slice
  std::int64_t run_alignment = 1;  // bytes, a power of two: where runs begin and end
  // The mode along which the next slice goes on where a run ends; -1 where no slice does.
  int run_mode = -1;

  std::int64_t slices() const { return whole + (rest > 0); }
};

struct SliceGeometry {
  SideGeometry in;
  SideGeometry out;
  std::int64_t volume = 1;  // elements of a whole slice
  std::int64_t slices = 1;
  bool is_cut_once = false;  // both sides cut the same mode
};

SliceGeometry geometry_of(const SlicedProblem& sliced);

}  // namespace ttlg::cuda
