// How blocks of the kernel `shuffle` are moved: by generated code, in windows, or by the program.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cpu/block_mover.hpp"

namespace ttlg::cpu {

void BlockMover::move_channels(const std::byte* in, std::byte* to, bool staged) {
  const ChannelBlock& channels = *plan_.movers.channels;
  const ChannelKernel& kernel = table_.channel_kernel(channels.kind);
  const auto [element_bytes, count, are_interleaved, are_reversed] = channels.kind;
  const BlockMode& channel = block_.modes[channels.channel_mode];
  const BlockMode& structures = block_.modes[channels.structure_mode];
  const std::int64_t all = extent_[channels.structure_mode];
  const std::int64_t structure_bytes = count * element_bytes;
  const std::int64_t passes = kLinesAtOnce * kLineBytes / (kernel.structures * structure_bytes);
  const std::int64_t part = kernel.structures * std::max<std::int64_t>(passes, 1);
  const std::int64_t out_step = staged ? structures.staging_step : structures.out_step;
  const std::int64_t pitch = are_interleaved ? channel.in_step
                             : staged        ? channel.staging_step
                                             : channel.out_step;
  for_each(channels.others, [&](std::int64_t from, std::int64_t out, std::int64_t staging) {
    out = staged ? staging : out;
    for (std::int64_t at = 0; at < all; at += part) {
      const std::int64_t taken = std::min(part, all - at);
      const std::int64_t first = std::min(at, all - std::max(taken, kernel.structures));
      // Structures that are taken apart in reverse are read forwards, from the last one on.
      const std::int64_t start = are_reversed && !are_interleaved ? at + taken - 1 : first;
      kernel.move(in + from + start * structures.in_step, to + out + start * out_step,
                  at + taken - first, pitch);
      table_.advance(pipeline_, ceil_div(taken * structure_bytes, kLineBytes));
    }
  });
}

// All channels are taken apart into a buffer, from which those that are wanted go on. The structure
// that lies last in memory is moved for itself: what follows its last channel is not the input's.
void BlockMover::move_some_channels(const std::byte* in, std::byte* to, bool staged) {
  constexpr std::int64_t kRowBytes = 1024;
  alignas(kLineBytes) std::array<std::byte, kMaxChannels * kRowBytes> rows;
  const ChannelBlock& channels = *plan_.movers.channels;
  const ChannelKernel& kernel = table_.channel_kernel(channels.kind);
  const std::int64_t bytes = channels.kind.element_bytes;
  const BlockMode& channel = block_.modes[channels.channel_mode];
  const std::int64_t in_step = block_.modes[channels.structure_mode].in_step;
  const std::int64_t pitch = staged ? channel.staging_step : channel.out_step;
  const std::int64_t all = extent_[channels.structure_mode];
  const bool are_reversed = channels.kind.are_reversed;
  const std::int64_t alone = are_reversed ? 0 : all - 1;
  const std::int64_t end = are_reversed ? all : all - 1;
  const std::int64_t part = kRowBytes / bytes;
  for_each(channels.others, [&](std::int64_t from, std::int64_t out, std::int64_t staging) {
    const std::byte* const source = in + from;
    std::byte* const target = to + (staged ? staging : out);
    for (std::int64_t c = 0; c < channels.taken; ++c) {
      std::memcpy(target + c * pitch + alone * bytes, source + alone * in_step + c * bytes,
                  static_cast<std::size_t>(bytes));
    }
    for (std::int64_t at = end - all + 1; at < end; at += part) {
      const std::int64_t first =
          std::min(at, end - std::max(std::min(part, end - at), kernel.structures));
      const std::int64_t count = std::min(at + part, end) - first;
      const std::int64_t start = are_reversed ? count - 1 : 0;
      kernel.move(source + (first + start) * in_step, rows.data() + start * bytes, count,
                  kRowBytes);
      for (std::int64_t c = 0; c < channels.taken; ++c) {
        table_.copy(target + c * pitch + first * bytes, rows.data() + c * kRowBytes, count * bytes);
      }
      table_.advance(pipeline_, ceil_div(count * channels.taken * bytes, kLineBytes));
    }
  });
}

void BlockMover::move_windows(const std::byte* in, std::byte* to, bool staged) {
  const Window& window = *plan_.movers.window(extent_, table_.lanes);
  const BlockMode& stepped = block_.modes[window.stepped_mode];
  const std::int64_t all = extent_[window.stepped_mode];
  const bool is_idle = plan_.parameters.prefetch == 0 && !staged && read_next_.empty();
  const std::int64_t part =
      is_idle ? all : window.elements * (kLinesAtOnce * kLineBytes / window.out_bytes);
  // What the block spans in the input.
  std::int64_t low = 0;
  std::int64_t high = plan_.element_bytes;
  for (std::size_t m = 0; m < block_.modes.size(); ++m) {
    const std::int64_t reach = (extent_[m] - 1) * block_.modes[m].in_step;
    (reach < 0 ? low : high) += reach;
  }
  for_each(window.others, [&](std::int64_t from, std::int64_t out, std::int64_t staging) {
    out = staged ? staging : out;
    for (std::int64_t at = 0; at < all; at += part) {
      const std::int64_t taken = std::min(part, all - at);
      const std::int64_t first = std::min(at, all - std::max(taken, window.elements));
      const std::int64_t in_offset = from + first * stepped.in_step;
      const std::int64_t vector = in_offset + window.load;
      const std::int64_t room =
          stepped.in_step < 0 ? vector - low : high - window.vector_bytes - vector;
      WindowLine line{.count = at + taken - first, .in_step = stepped.in_step, .last_readable = 0};
      line.last_readable = line.count;
      if (const std::int64_t step = std::abs(line.in_step); room < line.count * step) {
        line.last_readable = room < 0 ? -1 : room / step;
      }
      table_.move_windows(in + in_offset, to + out + first * window.element_bytes, window, line);
      table_.advance(pipeline_, ceil_div(taken * window.element_bytes, kLineBytes));
    }
  });
}

// Where the tiles of a group lie, and how many elements of each mode a group takes. A tile that
// does not fit is moved back until it does.
std::array<TileOrigin, kMaxLanes> BlockMover::lay_out_lanes(bool staged,
                                                            std::span<std::int64_t> group) const {
  const ShuffleTables& program = plan_.movers.program;
  const auto [first, second] = program.lane_modes;
  std::array<TileOrigin, kMaxLanes> lanes{};
  std::ranges::copy(program.tile, group.begin());
  for (int l = 1; l < table_.lanes; ++l) {
    const auto shift = [&](std::size_t m, std::int64_t tiles) {
      const BlockMode& mode = block_.modes[m];
      const std::int64_t at = std::min(tiles * program.tile[m], extent_[m] - program.tile[m]);
      group[m] = std::max(group[m], at + program.tile[m]);
      TileOrigin& lane = lanes[static_cast<std::size_t>(l)];
      lane.in += at * mode.in_step;
      lane.out += at * (staged ? mode.staging_step : mode.out_step);
    };
    shift(first, first == second ? l : l % 2);
    shift(second, first == second ? 0 : l / 2);
  }
  return lanes;
}

// Tiles follow one another as the input does: rows of arrays that NumPy allocates begin 16 bytes
// into a line, and so the next tile reads the line in which this one's rows end, while L1 has it.
TileWalk BlockMover::walk(std::span<const std::int64_t> tile, bool staged) const {
  std::array<TiledMode, kMaxRank> modes;
  std::size_t next = 0;
  for (const int number : block_.in_order) {
    const auto m = static_cast<std::size_t>(number);
    const BlockMode& mode = block_.modes[m];
    modes[next++] = {.extent = extent_[m],
                     .tile = tile[m],
                     .in_step = mode.in_step,
                     .out_step = staged ? mode.staging_step : mode.out_step};
  }
  return TileWalk(std::span<const TiledMode>(modes).first(block_.modes.size()));
}

void BlockMover::shuffle_tiles(const std::byte* in, std::byte* to, bool staged) {
  std::array<std::int64_t, kMaxRank> group;
  TileGroups groups{.lanes = lay_out_lanes(staged, group), .origins = {}};
  const ShuffleTables& program = plan_.movers.program;
  const std::int64_t* const stores = (staged ? program.staging_stores : program.out_stores).data();
  walk(group, staged).for_each_part([&](const TileOrigin& part, std::span<const TileOrigin> all) {
    groups.origins = all;
    table_.shuffle(in + part.in, to + part.out, program, stores, groups, pipeline_);
  });
}

void BlockMover::move_vector_tiles(const std::byte* in, std::byte* to, bool staged) {
  const VectorTile& tile = *plan_.movers.vector_tile(table_.lanes);
  const VectorTileKernel kernel = table_.vector_tile_kernel(tile.map, plan_.element_bytes);
  const std::int64_t* const stores = (staged ? tile.staging_stores : tile.out_stores).data();
  const std::int64_t tile_bytes = std::ssize(tile.loads) * table_.lanes * kLaneBytes;
  const std::int64_t few = std::max<std::int64_t>(kLinesAtOnce * kLineBytes / tile_bytes, 1);
  walk(tile.tile, staged)
      .for_each_part([&](const TileOrigin& part, std::span<const TileOrigin> origins) {
        while (!origins.empty()) {
          const std::int64_t count = std::min<std::int64_t>(std::ssize(origins), few);
          kernel(in + part.in, to + part.out, tile.loads.data(), stores, origins.data(),
                 static_cast<std::size_t>(count));
          table_.advance(pipeline_, ceil_div(count * tile_bytes, kLineBytes));
          origins = origins.subspan(static_cast<std::size_t>(count));
        }
      });
}

}  // namespace ttlg::cpu
