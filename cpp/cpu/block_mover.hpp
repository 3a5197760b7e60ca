// Moves the blocks of a plan, one after another: each straight to the output, or through a staging
// buffer from which whole lines are streamed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/convert.hpp"
#include "cpu/kernels.hpp"
#include "cpu/odometer.hpp"
#include "cpu/tile_walk.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

class BlockMover {
 public:
  // What will be read after the last block is prefetched like a block of its own.
  BlockMover(const Plan& plan, const Kernels& table, std::span<const std::byte> read_next = {});

  // Moves blocks begin..end-1, whose elements a `converter` converts in the staging buffer.
  void move(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end,
            RowConverter* converter = nullptr);
  // Those of a plan that converts, by these values.
  void convert(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end,
               const MapValues& values);

 private:
  // Generated code moves about as many, and then the pipeline advances.
  static constexpr std::int64_t kLinesAtOnce = 32;

  // Blocks begin this many elements before their place in the loop along the output's runs, except
  // the first one, and end as many before: where lines of the output do. A line that two blocks
  // write is fetched twice, and by two threads, moves from core to core.
  void shift_to_lines(const std::byte* out);
  std::int64_t shift_of(const Odometer& at, std::int64_t step) const;
  // Extents of one block, which may be clipped at the end of the array.
  void clip(const Odometer& at);
  std::int64_t count(const Axis& axis) const;
  // What lies around the block along its out axis, or along its rows where these adjoin.
  void find_neighbors(const Odometer& at);

  // Calls visit(in, out, staging) with the offsets of all indices of the modes.
  template <typename Visit>
  void for_each(std::span<const int> modes, const Visit& visit) const;

  TileWalk walk(std::span<const std::int64_t> tile, bool staged) const;

  // What is prefetched while block i is moved: a later block, which `ahead` then leaves, or what
  // follows the blocks.
  PrefetchQueue read_ahead(const std::byte* in, Odometer& ahead, std::int64_t i, std::int64_t begin,
                           std::int64_t end) const;
  // The part of what is read next that block i prefetches, the last ones of begin..end-1 having no
  // later blocks to prefetch.
  PrefetchQueue part_of_next(std::int64_t i, std::int64_t begin, std::int64_t end) const;
  void fill(const std::byte* in, std::byte* to, bool staged);
  std::array<TileOrigin, kMaxLanes> lay_out_lanes(bool staged, std::span<std::int64_t> group) const;
  void move_axes(const std::byte* in, std::byte* to, bool staged);
  void move_channels(const std::byte* in, std::byte* to, bool staged);
  void move_some_channels(const std::byte* in, std::byte* to, bool staged);
  void move_windows(const std::byte* in, std::byte* to, bool staged);
  // Converts the runs of a block, from the input that begins at `in` into the output that begins at
  // `out`, each of which is the staging buffer if it is null.
  void convert_runs(std::byte* staging, const std::byte* in, std::byte* out, const Odometer& at,
                    RowConverter& converter);
  void prefetch_to_write(std::byte* out) const;
  bool converts_in_buffer() const;
  void shuffle_tiles(const std::byte* in, std::byte* to, bool staged);
  void move_vector_tiles(const std::byte* in, std::byte* to, bool staged);
  // Lists the runs of the block that the staging buffer holds.
  StoreQueue queue_stores(std::byte* staging, std::byte* out, std::span<StagedRun> staged_runs,
                          bool continued, bool continues) const;

  const Plan& plan_;
  const Kernels& table_;
  const std::span<const std::byte> read_next_;
  const Block& block_;
  const BlockKernel kernel_;
  std::array<std::int64_t, kMaxRank> extent_;  // of the block's modes
  std::int64_t run_bytes_ = 0;
  std::int64_t shift_ = 0;
  bool continued_ = false;  // see BlockArguments
  std::int64_t following_ = 0;
  BlockPipeline pipeline_;
};

template <typename Visit>
void BlockMover::for_each(std::span<const int> modes, const Visit& visit) const {
  std::array<std::int64_t, kMaxRank> index;
  std::fill_n(index.begin(), modes.size(), 0);
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t staging = 0;
  std::size_t k = 0;
  do {
    visit(in, out, staging);
    for (k = 0; k < modes.size(); ++k) {
      const auto m = static_cast<std::size_t>(modes[k]);
      const BlockMode& mode = block_.modes[m];
      in += mode.in_step;
      out += mode.out_step;
      staging += mode.staging_step;
      if (++index[k] < extent_[m]) break;
      in -= index[k] * mode.in_step;
      out -= index[k] * mode.out_step;
      staging -= index[k] * mode.staging_step;
      index[k] = 0;
    }
  } while (k < modes.size());
}

}  // namespace ttlg::cpu
