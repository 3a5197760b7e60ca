#include "plan/cpu/block/grow_block.hpp"

#include <algorithm>
#include <cstdlib>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/memory_units.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Grows a block mode by mode along one side.
class Growth {
 public:
  Growth(const Problem& folded, std::vector<std::int64_t>& block)
      : folded_(folded), block_(block), bytes_(folded.element_bytes()) {
    block_.assign(folded.modes.size(), 1);
  }

  // Takes the modes in `order` until a run of `run_bytes` lies in the block, or `limit` bytes in
  // all. The first mode is cut in multiples of `grain`.
  void along(std::span<const int> order, std::int64_t Mode::* step, ContiguousRun run,
             std::int64_t run_bytes, std::int64_t limit, std::int64_t grain) {
    for (const int index : order) {
      const auto m = static_cast<std::size_t>(index);
      const Mode& mode = folded_.modes[m];
      if (!run.is_continued_by(mode.*step)) return;
      const std::int64_t stride = std::abs(mode.*step);
      const std::int64_t inner = run.bytes();
      const std::int64_t wanted = run_bytes + inner / 2;
      const std::int64_t others = block_[m] == 1 ? bytes_ : bytes_ / block_[m];
      // Most modes fit whole or not at all, which takes no division.
      if (inner + (mode.extent - 1) * stride <= wanted && mode.extent * others <= limit) {
        block_[m] = mode.extent;
      } else if (inner + stride <= wanted && 2 * others <= limit) {
        const std::int64_t room =
            std::min(1 + (wanted - inner) / std::max<std::int64_t>(stride, 1), limit / others);
        if (room > block_[m]) {
          block_[m] = split(mode.extent, room, inner == folded_.element_bytes() ? grain : 1);
        }
      }
      bytes_ = others * block_[m];
      run.extend(mode.*step, block_[m], mode.extent);
    }
  }

  void at_least(std::span<const std::int64_t> tile) {
    for (std::size_t m = 0; m < tile.size(); ++m) block_[m] = std::max(block_[m], tile[m]);
  }

 private:
  // About equal chunks of at most `room`, in whole grains.
  static std::int64_t split(std::int64_t extent, std::int64_t room, std::int64_t grain) {
    if (extent <= room) return extent;
    if (grain == 1) return even_chunk(extent, room);
    const std::int64_t chunk = even_chunk(extent, room, grain);
    return chunk <= room ? chunk : std::max(room / grain * grain, std::min(room, grain));
  }

  const Problem& folded_;
  std::vector<std::int64_t>& block_;
  std::int64_t bytes_;
};

}  // namespace

void grow_block(const Problem& folded, std::span<const std::int64_t> tile, std::int64_t in_run,
                std::int64_t out_run, std::int64_t limit, std::vector<std::int64_t>& block) {
  const std::span<const int> in_order = identity_order(folded.modes.size());
  const std::int64_t grain = std::max<std::int64_t>(kLineBytes / folded.element_bytes(), 1);
  Growth growth(folded, block);
  growth.along(in_order, &Mode::in_byte_stride, ContiguousRun(folded.element_bytes(), kInputGap),
               in_run, limit, grain);
  growth.along(folded.perm, &Mode::out_byte_stride, ContiguousRun(folded.element_bytes()), out_run,
               limit, grain);
  growth.at_least(tile);
}

}  // namespace ttlg::cpu
