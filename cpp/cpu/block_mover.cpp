#include "cpu/block_mover.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ttlg::cpu {

BlockMover::BlockMover(const Plan& plan, const Kernels& table, std::span<const std::byte> read_next)
    : plan_(plan),
      table_(table),
      read_next_(read_next),
      block_(plan.block),
      kernel_(table.block_kernel(plan.parameters, plan.element_bytes)) {}

void BlockMover::shift_to_lines(const std::byte* out) {
  if (block_.shiftable_loop < 0) return;
  const std::int64_t bytes = line_offset(out);
  if (bytes % plan_.element_bytes == 0) shift_ = bytes / plan_.element_bytes;
}

std::int64_t BlockMover::shift_of(const Odometer& at, std::int64_t step) const {
  return shift_ > 0 && at.index(block_.shiftable_loop) > 0 ? shift_ * step : 0;
}

void BlockMover::clip(const Odometer& at) {
  for (std::size_t i = 0; i < block_.modes.size(); ++i) {
    const BlockMode& mode = block_.modes[i];
    extent_[i] = mode.loop < 0
                     ? mode.block
                     : std::min(mode.block, mode.extent - at.index(mode.loop) * mode.block);
  }
  if (shift_ > 0) {
    const auto loop = static_cast<std::size_t>(block_.shiftable_loop);
    const std::int64_t index = at.index(block_.shiftable_loop);
    if (index == 0) extent_[0] -= shift_;
    if (index == plan_.loops[loop].count.divisor() - 1) extent_[0] += shift_;
  }
  run_bytes_ = plan_.element_bytes;
  for (int i = 0; i < block_.run_modes; ++i) run_bytes_ *= extent_[static_cast<std::size_t>(i)];
}

std::int64_t BlockMover::count(const Axis& axis) const {
  std::int64_t result = 1;
  for (const int mode : axis.modes) result *= extent_[static_cast<std::size_t>(mode)];
  return result;
}

void BlockMover::find_neighbors(const Odometer& at) {
  const Axis& axis = block_.rows_adjoin ? block_.in_axis : block_.out_axis;
  if (axis.modes.empty()) return;
  const auto last = static_cast<std::size_t>(axis.modes.back());
  const BlockMode& mode = block_.modes[last];
  if (mode.loop < 0) return;
  const std::int64_t index = at.index(mode.loop);
  const std::int64_t left = std::max<std::int64_t>(mode.extent - (index + 1) * mode.block, 0);
  continued_ = index > 0;
  following_ =
      left * (block_.rows_adjoin ? count(block_.out_axis) : count(block_.out_axis) / extent_[last]);
}

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
  const Window& window = *plan_.movers.window;
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
      const std::int64_t room = stepped.in_step < 0 ? vector - low : high - kLaneBytes - vector;
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

void BlockMover::fill(const std::byte* in, std::byte* to, bool staged) {
  switch (table_.mover_of(plan_.movers, extent_)) {
    case Mover::channels:
      return plan_.movers.channels->takes_all() ? move_channels(in, to, staged)
                                                : move_some_channels(in, to, staged);
    case Mover::vector_tile:
      return move_vector_tiles(in, to, staged);
    case Mover::window:
      return move_windows(in, to, staged);
    case Mover::program:
      return shuffle_tiles(in, to, staged);
    case Mover::block_kernel:
      return move_axes(in, to, staged);
  }
}

void BlockMover::move_axes(const std::byte* in, std::byte* to, bool staged) {
  const Axis& in_axis = block_.in_axis;
  const Axis& out_axis = block_.out_axis;
  const BlockArguments arguments{
      .in_by_in = in_axis.in.data(),
      .in_by_out = out_axis.in.data(),
      .out_by_in = staged ? in_axis.staging.data() : in_axis.out.data(),
      .out_by_out = staged ? out_axis.staging.data() : out_axis.out.data(),
      .in_count = count(in_axis),
      .out_count = count(out_axis),
      .element_bytes = plan_.element_bytes,
      .in_is_even = in_axis.modes.size() == 1,
      .out_is_even = out_axis.modes.size() == 1,
      .continued = continued_,
      .following = following_,
      .rows_adjoin = block_.rows_adjoin,
      .pipeline = &pipeline_,
  };
  for_each(block_.rest, [&](std::int64_t from, std::int64_t out, std::int64_t staging) {
    kernel_(in + from, to + (staged ? staging : out), arguments);
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

StoreQueue BlockMover::queue_stores(std::byte* staging, std::byte* out,
                                    std::span<StagedRun> staged_runs, bool continued,
                                    bool continues) const {
  std::size_t runs = 0;
  for_each(identity_order(block_.modes.size()).subspan(static_cast<std::size_t>(block_.run_modes)),
           [&](std::int64_t, std::int64_t out_offset, std::int64_t staging_offset) {
             staged_runs[runs++] = {.staging = staging_offset, .out = out_offset};
             // Lines that are partly written must be read first. Ordered early, they are there in
             // time; stores that wait for them would hold up all stores behind them.
             if (!plan_.parameters.streaming) return;
             if (!continued) __builtin_prefetch(out + out_offset, 1);
             if (!continues) __builtin_prefetch(out + out_offset + run_bytes_ - 1, 1);
           });
  return {.staging = staging,
          .out = out,
          .runs = staged_runs.first(runs),
          .run_bytes = run_bytes_,
          .streaming = plan_.parameters.streaming,
          .continued = continued};
}

PrefetchQueue BlockMover::part_of_next(std::int64_t i, std::int64_t begin, std::int64_t end) const {
  static constexpr std::array<std::int64_t, 1> kOneRange{0};
  if (read_next_.empty()) return {};
  const std::int64_t blocks = end - begin;
  const std::int64_t distance = plan_.parameters.prefetch;
  const std::int64_t parts = distance > 0 ? std::min(distance, blocks) : blocks;
  const std::int64_t part = i - (end - parts);
  const std::int64_t first = std::ssize(read_next_) * part / parts;
  const std::int64_t last = std::ssize(read_next_) * (part + 1) / parts;
  return {.next = read_next_.data() + first, .ranges = kOneRange, .range_bytes = last - first};
}

void BlockMover::move(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end) {
  struct StagingBuffer {
    alignas(kLineBytes) std::array<std::byte, kStagingBytes + kLineBytes> bytes;
    std::array<StagedRun, kStagingBytes / kLineBytes> runs;
  };
  std::array<StagingBuffer, 2> buffers;
  const bool staged = plan_.parameters.staged;
  const std::int64_t distance = plan_.parameters.prefetch;
  // Blocks continue one another where the innermost loop steps from the end of a run to the next.
  const bool may_continue = staged && plan_.parameters.streaming && !plan_.loops.empty() &&
                            plan_.loops.back().out_byte_step == block_.run_bytes;
  const int innermost = static_cast<int>(plan_.loops.size()) - 1;
  shift_to_lines(out);
  const std::int64_t in_shift = shift_ > 0 ? block_.modes.front().in_step : 0;
  Odometer at(plan_, begin);
  Odometer ahead(plan_, begin + distance);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::byte* from = in + at.in_offset() - shift_of(at, in_shift);
    std::byte* to = out + at.out_offset() - shift_of(at, plan_.element_bytes);
    clip(at);
    find_neighbors(at);
    const bool continued = may_continue && i > begin && at.index(innermost) > 0;
    at.step();
    if (distance > 0 && i + distance < end) {
      pipeline_.prefetches = {.next = in + ahead.in_offset() - shift_of(ahead, in_shift),
                              .ranges = block_.ranges,
                              .range_bytes = block_.range_bytes};
      ahead.step();
    } else {
      pipeline_.prefetches = part_of_next(i, begin, end);
    }
    if (staged) {
      StagingBuffer& staging = buffers[static_cast<std::size_t>(i & 1)];
      std::byte* const base = staging.bytes.data() + line_offset(to);
      if (continued) pipeline_.stores.continues_at = base;
      fill(from, base, true);
      table_.advance(pipeline_, INT64_MAX);
      const bool continues = may_continue && i + 1 < end && at.index(innermost) > 0;
      pipeline_.stores = queue_stores(base, to, staging.runs, continued, continues);
      continue;
    }
    fill(from, to, false);
    table_.advance(pipeline_, INT64_MAX);
  }
  table_.advance(pipeline_, INT64_MAX);
  if (plan_.parameters.streaming) table_.fence();
}

}  // namespace ttlg::cpu
