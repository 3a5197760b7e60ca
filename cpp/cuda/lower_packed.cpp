#include <algorithm>
#include <stdexcept>

#include "cuda/lower.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/layout/choose_layout.hpp"
#include "plan/cuda/slice/packed_slice.hpp"

namespace ttlg::cuda {
namespace {

constexpr std::int64_t kThreads = OrthogonalArbitraryPolicy::kThreads;

// The modes that the slice cuts, each of which a side may have in its runs or across them: that of
// the columns and that of the rows, or -1.
struct CutModes {
  int column = -1;
  int row = -1;
};

// One side of the slice, whose modes are `order`, the fastest first, for `lanes` of a block.
PackedSide packed_side(const SlicedProblem& sliced, const PackedRuns& runs, std::int64_t lanes,
                       std::span<const SliceMode> order, const CutModes& cut,
                       std::int64_t Mode::* stride) {
  const auto of_run = order.first(static_cast<std::size_t>(runs.modes));
  const auto across = order.subspan(of_run.size());
  PackedSide side{.run = narrow32(runs.bytes),
                  .last_row_run = narrow32(runs.bytes),
                  .last_column_run = narrow32(runs.bytes),
                  .words = FastDivisor32(runs.words),
                  .all_words = narrow32(runs.all_words),
                  .words_of_thread = narrow32(ceil_div(runs.all_words, lanes)),
                  .modes = 0,
                  .mode = {},
                  .column_mode = -1,
                  .row_mode = -1,
                  .last_column_extent = 0,
                  .last_row_extent = 0};
  for (const SliceMode& mode : of_run) {
    const std::int64_t last = runs.bytes / mode.extent * last_extent(sliced, mode.mode);
    if (mode.mode == cut.column) side.last_column_run = narrow32(last);
    if (mode.mode == cut.row) side.last_row_run = narrow32(last);
  }
  if (across.size() > kAxisModes) throw std::invalid_argument("a slice combines too many modes");
  for (const SliceMode& mode : across) {
    const std::uint32_t last = narrow32(last_extent(sliced, mode.mode));
    if (mode.mode == cut.column) {
      side.column_mode = side.modes;
      side.last_column_extent = last;
    }
    if (mode.mode == cut.row) {
      side.row_mode = side.modes;
      side.last_row_extent = last;
    }
    side.mode[side.modes++] = {.extent = FastDivisor32(mode.extent),
                               .step = static_cast<std::int32_t>(sliced.mode(mode.mode).*stride),
                               .slot_step = narrow32(mode.step * sliced.problem.element_bytes())};
  }
  return side;
}

// Where the launch's part of the input ends.
std::int64_t in_end(const Problem& problem, const LaunchGrid& grid) {
  std::int64_t end = problem.element_bytes();
  for (const Mode& mode : problem.modes) {
    end += (mode.extent - 1) * std::max<std::int64_t>(mode.in_byte_stride, 0);
  }
  for (const GridLoop& loop : grid.outer_loops) {
    end -= (loop.count - 1) * std::max<std::int64_t>(loop.in_byte_step, 0);
  }
  return end;
}

// Where the last word of a slice that begins at offset 0 ends at most.
std::int64_t in_reach(const SlicedProblem& sliced, const PackedRuns& runs) {
  std::int64_t last = runs.words * kBankBytes;
  for (std::size_t m = 0; m < sliced.problem.modes.size(); ++m) {
    const std::int64_t stride = sliced.problem.modes[m].in_byte_stride;
    last += (sliced.extents()[m] - 1) * std::max<std::int64_t>(stride, 0);
  }
  return last;
}

}  // namespace

Launch lower_arbitrary_packed(const SlicedProblem& sliced, const SharedLayout& layout,
                              const LaunchGrid& grid) {
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  const PackedSlice slice = packed_slice(sliced);
  SliceModes out_order = slice_in_output_order(sliced);
  const std::int64_t row_length = padded_row_length(out_order);
  std::int64_t span = 1;
  for (SliceMode& mode : out_order) {
    mode.step += mode.step / row_length * layout.row_padding;
    span += (mode.extent - 1) * mode.step;
  }
  const auto rows = rows_of(sliced);
  const CutModes cut{.column = sliced.in_axis().back(), .row = rows.empty() ? -1 : rows.back()};
  // The last word of the last run may lie three bytes further than if that began at a word.
  const std::int64_t bytes =
      in_shared_lines(span * element_bytes - slice.in.bytes + slice.in.words * kBankBytes + 3);
  const int stages = sliced.parameters.stages;
  PackedArguments p{
      .coarsening = coarsening_steps(sliced),
      .in = packed_side(sliced, slice.in, kThreads, in_input_order(out_order), cut,
                        &Mode::in_byte_stride),
      .out = packed_side(sliced, slice.out, kThreads - kThreads / kWarpSize * slice.idle_lanes(),
                         out_order, cut, &Mode::out_byte_stride),
      .run_modes = std::max(slice.out.modes, 1),
      .run_mode = {{.extent = FastDivisor32(1), .step = 0, .slot_step = 0}},
      .run_elements = narrow32(slice.out.bytes / element_bytes),
      .idle_lanes = static_cast<std::uint32_t>(slice.idle_lanes()),
      .buffer_bytes = stages > 1 ? narrow32(bytes) : 0,
      .all_buffer_bytes = narrow32(stages * bytes),
      .in_reach = in_reach(sliced, slice.in),
      .in_end = in_end(sliced.problem, grid),
      .layout = layout,
      .padded_row = FastDivisor32(row_length * element_bytes)};
  for (int m = 0; m < slice.out.modes; ++m) {
    const SliceMode& mode = out_order[static_cast<std::size_t>(m)];
    p.run_mode[m] = {.extent = FastDivisor32(mode.extent),
                     .step = 0,
                     .slot_step = narrow32(mode.step * element_bytes)};
  }
  return {.word_bytes = static_cast<int>(element_bytes),
          .access = slice.access(),
          .blocks = narrow32(grid.size),
          .threads = kThreads,
          .shared_bytes = static_cast<int>(kRingBytes + stages * bytes),
          .arguments = p};
}

}  // namespace ttlg::cuda
