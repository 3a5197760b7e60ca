#include "plan/cuda/slice/sliced_problem.hpp"

#include <algorithm>
#include <cstdlib>

#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// Allocations begin at multiples of it (bytes), and nothing here asks for more.
constexpr std::int64_t kLargestAlignment = 256;

// The run of memory at the beginning of a side: the modes in `order` as long as they are adjacent
// and the slice holds them whole.
void measure_run(const SlicedProblem& sliced, std::int64_t elements, std::span<const int> order,
                 std::int64_t Mode::* stride, SideGeometry& side) {
  const std::int64_t element = sliced.problem.element_bytes();
  ContiguousRun run(element);
  std::int64_t uncut = 1;  // elements of the modes of the run, taken whole
  std::int64_t bits = 0;
  for (const int m : order) {
    const Mode& mode = sliced.mode(m);
    if (!run.extend(mode.*stride, sliced.extent(m), mode.extent)) {
      bits |= mode.*stride;
      continue;
    }
    uncut *= mode.extent;
    if (sliced.extent(m) < mode.extent) {
      side.runs = ceil_div(mode.extent, sliced.extent(m));
      side.run_mode = m;
      bits |= run.bytes();
    }
  }
  side.run = run.bytes() / element;
  side.runs *= elements / uncut;
  side.run_alignment = common_power(bits | element * uncut, kLargestAlignment);
}

// `elements` are the problem's; `order` has all its modes, and `axis` is the beginning of that.
SideGeometry measure_side(const SlicedProblem& sliced, std::int64_t elements,
                          std::span<const int> order, std::span<const int> axis,
                          std::int64_t Mode::* stride) {
  SideGeometry side;
  std::int64_t inner = 1;  // elements of the modes before the last of the axis
  for (const int m : axis.first(axis.size() - 1)) inner *= sliced.mode(m).extent;
  const std::int64_t extent = sliced.mode(axis.back()).extent;
  const std::int64_t block = sliced.extent(axis.back());
  side.length = inner * block;
  side.whole = extent / block;
  side.rest = inner * (extent % block);
  side.rows = elements / (inner * extent);
  measure_run(sliced, elements, order, stride, side);
  return side;
}

}  // namespace

int axis_modes(const Problem& problem, const Slice& slice) {
  int modes = slice.in_modes;
  for (const int m : std::span(problem.perm).first(static_cast<std::size_t>(slice.out_modes))) {
    modes += m >= slice.in_modes;
  }
  return modes;
}

SlicedProblem::SlicedProblem(const Problem& of_problem, const Parameters& chosen,
                             std::int64_t of_alignment)
    : problem(of_problem), parameters(chosen), alignment(of_alignment) {
  std::fill_n(extents_.begin(), problem.modes.size(), 1);
  const auto add = [&](std::span<const int> axis, std::int64_t block) {
    for (const int& m : axis) {
      std::int64_t& extent = extents_[static_cast<std::size_t>(m)];
      extent = std::max(extent, &m == &axis.back() ? block : mode(m).extent);
    }
  };
  add(in_axis(), parameters.slice.in_block);
  add(out_axis(), parameters.slice.out_block);
}

std::int64_t SlicedProblem::max_distance() const {
  std::int64_t in = 0;
  std::int64_t out = 0;
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    in += (extents_[m] - 1) * std::abs(problem.modes[m].in_byte_stride);
    out += (extents_[m] - 1) * std::abs(problem.modes[m].out_byte_stride);
  }
  return std::max(in, out) / problem.element_bytes();
}

SliceGeometry geometry_of(const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  const std::int64_t elements = problem.elements();
  SliceGeometry shape;
  shape.in = measure_side(sliced, elements, identity_order(problem.modes.size()), sliced.in_axis(),
                          &Mode::in_byte_stride);
  shape.out =
      measure_side(sliced, elements, problem.perm, sliced.out_axis(), &Mode::out_byte_stride);
  shape.is_cut_once = sliced.in_axis().back() == sliced.out_axis().back();
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    shape.volume *= sliced.extents()[m];
    shape.slices *= ceil_div(problem.modes[m].extent, sliced.extents()[m]);
  }
  return shape;
}

}  // namespace ttlg::cuda
