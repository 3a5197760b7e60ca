#include "plan/cpu/block/block.hpp"

#include <algorithm>
#include <cstdlib>

#include "plan/cpu/block/axis_split.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Lays the runs out in the staging buffer so that every byte lies at the same place in its line as
// in the output, whatever the output's alignment, and no two runs touch the same line: what leaves
// the buffer then leaves in whole lines, and the last, partial line of a run can wait in the buffer
// for the block that continues it.
void lay_out_staging(Block& block, std::int64_t element_bytes) {
  constexpr std::int64_t kApart = kLineBytes - 1;
  std::int64_t span = element_bytes;
  ContiguousRun run(element_bytes);
  for (BlockMode& mode : block.modes) {
    if (run.extend(mode.out_step, mode.block)) {
      mode.staging_step = mode.out_step;
      ++block.run_modes;
    } else {
      const std::int64_t min_step = span + kApart;
      const std::int64_t shift = (mode.out_step - min_step) % kLineBytes;
      mode.staging_step = min_step + (shift + kLineBytes) % kLineBytes;
    }
    span = checked_add(checked_mul(mode.block - 1, mode.staging_step), span);
  }
  block.run_bytes = run.bytes();
  block.staging_bytes = checked_add(span, kApart);
}

// Elements of an axis that make a line whole at its end, and by which the last block that is
// shifted may be longer.
std::size_t elements_following(std::int64_t element_bytes) {
  return static_cast<std::size_t>(ceil_div(kLineBytes, element_bytes));
}

// Lengthens the tables to this number of entries by repeating them along a mode.
void repeat(Axis& axis, const BlockMode& mode, std::size_t entries) {
  const auto repeat_table = [entries](std::vector<std::int64_t>& table, std::int64_t step) {
    const std::size_t inner = table.size();
    table.resize(entries);
    for (std::size_t i = inner; i < entries; ++i) table[i] = table[i - inner] + step;
  };
  repeat_table(axis.in, mode.in_step);
  repeat_table(axis.out, mode.out_step);
  repeat_table(axis.staging, mode.staging_step);
}

void extend(Axis& axis, const Block& block, int index, std::int64_t element_bytes) {
  const BlockMode& mode = block.modes[static_cast<std::size_t>(index)];
  const std::size_t following = mode.loop < 0 ? 0 : elements_following(element_bytes);
  axis.modes.push_back(index);
  repeat(axis, mode, axis.in.size() * (static_cast<std::size_t>(mode.block) + following));
}

// A mode of which a block reads more than its own elements.
struct Longer {
  int mode = -1;
  std::int64_t elements = 0;
};

// Tiles that are streamed directly are read until the line is whole in which they end. Along the
// innermost loop these elements are the next block's, which is prefetched meanwhile.
Longer read_on(const Block& block, const Parameters& parameters, std::int64_t element_bytes) {
  if (parameters.kernel != Kernel::tile || !parameters.streams_directly()) return {};
  if (block.out_axis.modes.empty()) return {};
  const int last = block.out_axis.modes.back();
  const int loop = block.modes[static_cast<std::size_t>(last)].loop;
  if (loop < 0 || loop + 1 == std::ssize(parameters.loop_order)) return {};
  std::int64_t bytes = element_bytes;
  for (const int mode : block.out_axis.modes) {
    if (mode != last) bytes *= block.modes[static_cast<std::size_t>(mode)].block;
  }
  return {.mode = last, .elements = ceil_div(kLineBytes, bytes)};
}

// The input's contiguous ranges, or nearly so.
void list_ranges(Block& block, std::int64_t element_bytes, const Longer& longer) {
  block.range_bytes = element_bytes;
  block.ranges = {0};
  for (const int index : block.in_order) {
    const BlockMode& mode = block.modes[static_cast<std::size_t>(index)];
    const std::int64_t count = mode.block + (index == longer.mode ? longer.elements : 0);
    const std::int64_t reach = (count - 1) * mode.in_step;
    if (reach < 0) {
      for (std::int64_t& range : block.ranges) range += reach;
    }
    const std::int64_t step = std::abs(mode.in_step);
    if (block.ranges.size() == 1 && step <= block.range_bytes + kInputGap) {
      block.range_bytes += std::abs(reach);
      continue;
    }
    const std::size_t inner = block.ranges.size();
    block.ranges.resize(inner * static_cast<std::size_t>(step == 0 ? 1 : count));
    for (std::size_t i = inner; i < block.ranges.size(); ++i) {
      block.ranges[i] = block.ranges[i - inner] + step;
    }
  }
}

}  // namespace

bool can_begin_at_lines(const Problem& folded, std::span<const std::int64_t> extents) {
  if (folded.perm.empty()) return false;
  const auto fastest = static_cast<std::size_t>(folded.perm.front());
  const std::int64_t bytes = extents[fastest] * folded.element_bytes();
  // The first block is up to a line shorter than the others, and should not become narrow.
  if (extents[fastest] == folded.modes[fastest].extent || bytes < 2 * kLineBytes) return false;
  if (bytes % kLineBytes != 0 || folded.element_bytes() > kLineBytes) return false;
  if (folded.modes[fastest].out_byte_stride != folded.element_bytes()) return false;
  return std::ranges::all_of(std::span(folded.perm).subspan(1), [&](int mode) {
    return folded.modes[static_cast<std::size_t>(mode)].out_byte_stride % kLineBytes == 0;
  });
}

Block make_block(const Problem& folded, const Parameters& parameters, std::span<const int> loops) {
  const std::span<const std::int64_t> extents = parameters.block;
  Block block;
  std::vector<int> number_of(folded.modes.size(), -1);  // of each problem mode among the block's
  for (const int m : folded.perm) {
    const auto i = static_cast<std::size_t>(m);
    if (extents[i] <= 1) continue;
    number_of[i] = static_cast<int>(block.modes.size());
    const Mode& mode = folded.modes[i];
    block.modes.push_back({.extent = mode.extent,
                           .block = extents[i],
                           .in_step = mode.in_byte_stride,
                           .out_step = mode.out_byte_stride,
                           .staging_step = 0,
                           .loop = loops[i]});
  }
  for (const int index : number_of) {
    if (index >= 0) block.in_order.push_back(index);
  }
  lay_out_staging(block, folded.element_bytes());
  if (can_begin_at_lines(folded, extents)) block.shiftable_loop = block.modes.front().loop;
  for (Axis* axis : {&block.in_axis, &block.out_axis}) axis->in = axis->out = axis->staging = {0};
  const AxisModes axes =
      split_axes(block.modes, block.in_order, folded.element_bytes(), axis_split_of(parameters));
  for (const int mode : axes.in.list()) extend(block.in_axis, block, mode, folded.element_bytes());
  for (const int mode : axes.out.list())
    extend(block.out_axis, block, mode, folded.element_bytes());
  block.rows_adjoin = axes.rows_adjoin;
  if (axes.rows_adjoin) {
    repeat(block.out_axis, block.modes[axes.in.list().front()],
           block.out_axis.in.size() + elements_following(folded.element_bytes()));
  }
  block.rest.assign(axes.rest.list().begin(), axes.rest.list().end());
  list_ranges(block, folded.element_bytes(), read_on(block, parameters, folded.element_bytes()));
  return block;
}

}  // namespace ttlg::cpu
