#include "plan/cpu/block/runs.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

SideRuns side_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::span<const int> order, std::int64_t Mode::* step, std::int64_t gap) {
  SideRuns runs;
  ContiguousRun run(folded.element_bytes(), gap);
  for (const int index : order) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    const std::int64_t stride = std::abs(mode.*step);
    if (stride == 0) continue;  // the same run is read again
    if (run.extend(mode.*step, block[m], mode.extent)) {
      if (block[m] == mode.extent) continue;
      runs.continues = index;
      runs.total *= ceil_div(mode.extent, block[m]);
      runs.alignment = common_power(block[m] * stride, runs.alignment);
      continue;
    }
    runs.total *= mode.extent;
    runs.alignment = common_power(stride, runs.alignment);
    if (block[m] == 1) continue;
    runs.count *= block[m];
    runs.distinct_offsets *= std::min(
        block[m], kPageBytes >> std::countr_zero(
                                    static_cast<std::uint64_t>(common_power(stride, kPageBytes))));
  }
  runs.bytes = run.bytes();
  return runs;
}

BlockRuns block_runs(const Problem& folded, std::span<const std::int64_t> block) {
  std::int64_t blocks = 1;
  for (std::size_t m = 0; m < block.size(); ++m) {
    const std::int64_t extent = folded.modes[m].extent;
    if (block[m] < extent) blocks *= ceil_div(extent, block[m]);
  }
  return {.in = side_runs(folded, block, identity_order(folded.modes.size()), &Mode::in_byte_stride,
                          kInputGap),
          .out = side_runs(folded, block, folded.perm, &Mode::out_byte_stride),
          .blocks = blocks};
}

}  // namespace ttlg::cpu
