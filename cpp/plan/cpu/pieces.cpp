#include "plan/cpu/pieces.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

Pieces pieces_of(const Problem& folded, std::span<const std::int64_t> block,
                 std::span<const int> order, std::int64_t Mode::* step, std::int64_t gap) {
  Pieces pieces;
  ContiguousRun run(folded.element_bytes, gap);
  for (const int index : order) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    const std::int64_t stride = std::abs(mode.*step);
    if (run.extend(stride, block[m], mode.extent)) {
      if (block[m] == mode.extent) continue;
      pieces.continues = index;
      pieces.total *= ceil_div(mode.extent, block[m]);
      pieces.alignment = common_power(block[m] * stride, pieces.alignment);
      continue;
    }
    pieces.total *= mode.extent;
    pieces.alignment = common_power(stride, pieces.alignment);
    if (block[m] == 1) continue;
    pieces.count *= block[m];
    pieces.distinct_offsets *= std::min(
        block[m], kPageBytes >> std::countr_zero(
                                    static_cast<std::uint64_t>(common_power(stride, kPageBytes))));
    if (stride >= kPageBytes) pieces.pages *= block[m];
  }
  pieces.bytes = run.bytes();
  return pieces;
}

BlockPieces block_pieces(const Problem& folded, std::span<const std::int64_t> block) {
  std::int64_t blocks = 1;
  for (std::size_t m = 0; m < block.size(); ++m) {
    const std::int64_t extent = folded.modes[m].extent;
    if (block[m] < extent) blocks *= ceil_div(extent, block[m]);
  }
  return {.in = pieces_of(folded, block, identity_order(folded.modes.size()), &Mode::in_byte_stride,
                          kInputGap),
          .out = pieces_of(folded, block, folded.perm, &Mode::out_byte_stride),
          .blocks = blocks};
}

}  // namespace ttlg::cpu
