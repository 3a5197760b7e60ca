#include <span>
#include <stdexcept>

#include "cuda/dispatch.hpp"
#include "cuda/lower.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/layout/choose_layout.hpp"
#include "plan/cuda/slice/access_width.hpp"

namespace ttlg::cuda {
namespace {

std::int64_t volume(const SlicedProblem& sliced, std::span<const int> modes) {
  std::int64_t product = 1;
  for (const int m : modes) product *= sliced.extent(m);
  return product;
}

// The volume in the last slice, which the last mode of an axis cuts.
std::int64_t last_volume(const SlicedProblem& sliced, std::span<const int> modes) {
  if (modes.empty()) return 1;
  return volume(sliced, modes.first(modes.size() - 1)) * last_extent(sliced, modes.back());
}

// One side of the axis in units of `unit` bytes, modes that are contiguous there fused.
template <typename Step>
AxisSide<Step> side(const SlicedProblem& sliced, std::span<const int> modes,
                    std::int64_t Mode::* stride, std::int64_t unit) {
  AxisSide<Step> result{};
  std::int64_t extent = 1;  // of the fused modes that are not yet in the result
  std::int64_t step = 0;
  for (const int m : modes) {
    if (sliced.extent(m) == 1) continue;
    const std::int64_t next_step = sliced.mode(m).*stride / unit;
    if (extent > 1 && next_step == extent * step) {
      extent *= sliced.extent(m);
      continue;
    }
    if (extent > 1) {
      if (result.inner_modes == kAxisModes - 1) {
        throw std::invalid_argument("a slice combines too many modes");
      }
      result.extent[result.inner_modes] = FastDivisor32(extent);
      result.step[result.inner_modes++] = static_cast<Step>(step);
    }
    extent = sliced.extent(m);
    step = next_step;
  }
  result.last_step = static_cast<Step>(step);
  return result;
}

SliceExtents shape_of(const SlicedProblem& sliced, std::span<const int> columns,
                      std::span<const int> rows) {
  return {.columns = narrow32(volume(sliced, columns)),
          .last_columns = narrow32(last_volume(sliced, columns)),
          .rows = narrow32(volume(sliced, rows)),
          .last_rows = narrow32(last_volume(sliced, rows))};
}

// The slice's modes in output order, into the kernel's arguments.
void set_modes(ArbitraryArguments& p, const SlicedProblem& sliced,
               std::span<const SliceMode> out_order, std::span<const int> columns,
               std::span<const int> rows) {
  const std::int64_t row_length = p.padded_row.divisor();
  for (const auto& [m, slice_extent, step] : out_order) {
    if (p.modes == kAxisModes) throw std::invalid_argument("a slice combines too many modes");
    const std::int64_t out_step = sliced.mode(m).out_byte_stride / sliced.problem.element_bytes();
    p.mode[p.modes] = {.extent = FastDivisor32(slice_extent),
                       .slice_step = narrow32(step + step / row_length * p.layout.row_padding),
                       .out_step = static_cast<std::int32_t>(out_step)};
    if (m == columns.back()) {
      p.column_mode = p.modes;
      p.last_column_extent = narrow32(last_extent(sliced, m));
    }
    if (!rows.empty() && m == rows.back()) {
      p.row_mode = p.modes;
      p.last_row_extent = narrow32(last_extent(sliced, m));
    }
    ++p.modes;
  }
}

}  // namespace

Launch lower_distinct(const SlicedProblem& sliced, std::int64_t blocks) {
  const auto columns = sliced.in_axis();
  const auto rows = sliced.out_axis();
  Launch launch{.word_bytes = static_cast<int>(sliced.problem.element_bytes()),
                .access = vector_runs(sliced),
                .blocks = narrow32(blocks),
                .threads = OrthogonalDistinctPolicy::kThreads};
  const int stages = sliced.parameters.stages;
  const int buffer_bytes = OrthogonalDistinctPolicy(launch.word_bytes).buffer_bytes;
  launch.shared_bytes = static_cast<int>(kRingBytes) + stages * buffer_bytes;
  launch.arguments = DistinctArguments{
      .coarsening = coarsening_steps(sliced),
      .shape = shape_of(sliced, columns, rows),
      .column_in = side<std::int64_t>(sliced, columns, &Mode::in_byte_stride, 1),
      .column_out = side<std::int64_t>(sliced, columns, &Mode::out_byte_stride, 1),
      .row_in = side<std::int64_t>(sliced, rows, &Mode::in_byte_stride, 1),
      .row_out = side<std::int64_t>(sliced, rows, &Mode::out_byte_stride, 1),
      .second_buffer = stages > 1 ? narrow32(buffer_bytes) : 0};
  return launch;
}

Launch lower_arbitrary(const SlicedProblem& sliced, const SharedLayout& layout,
                       std::int64_t blocks) {
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  const auto columns = sliced.in_axis();
  const auto rows = rows_of(sliced);
  const std::int64_t elements = volume(sliced, columns) * volume(sliced, rows);
  const SliceModes order = slice_in_output_order(sliced);
  const std::int64_t padded_row = padded_row_length(order);
  VectorAccess access = vector_runs(sliced);
  // The layout may be one for elements, or made for pointers that are aligned worse.
  access.vector_in &= keeps_vectors(layout, padded_row, element_bytes);
  const std::int64_t packed_bytes =
      (elements + elements / padded_row * layout.row_padding) * element_bytes;
  const std::int64_t bytes = in_shared_lines(packed_bytes);
  const int stages = sliced.parameters.stages;
  ArbitraryArguments p{
      .coarsening = coarsening_steps(sliced),
      .shape = shape_of(sliced, columns, rows),
      .row_length = FastDivisor32(volume(sliced, columns)),
      .column_in = side<std::int32_t>(sliced, columns, &Mode::in_byte_stride, element_bytes),
      .row_in = side<std::int32_t>(sliced, rows, &Mode::in_byte_stride, element_bytes),
      .modes = 0,
      .mode = {},
      .column_mode = -1,
      .row_mode = -1,
      .last_column_extent = 0,
      .last_row_extent = 0,
      .elements = narrow32(elements),
      .buffer_bytes = stages > 1 ? narrow32(bytes) : 0,
      .layout = layout,
      .padded_row = FastDivisor32(padded_row)};
  set_modes(p, sliced, order, columns, rows);
  return {.word_bytes = static_cast<int>(element_bytes),
          .access = access,
          .blocks = narrow32(blocks),
          .threads = OrthogonalArbitraryPolicy::kThreads,
          .shared_bytes = static_cast<int>(kRingBytes + stages * bytes),
          .arguments = p};
}

}  // namespace ttlg::cuda
