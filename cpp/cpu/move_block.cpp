#include "cpu/move_block.hpp"

#include <algorithm>
#include <bit>

namespace ttlg::cpu {
namespace {

std::size_t width_index(std::int64_t bytes) {
  if (!is_vector_width(bytes)) return 5;
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(bytes)));
}

std::int64_t line_offset(const std::byte* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % kLineBytes);
}

}  // namespace

BlockMover::BlockMover(const Plan& plan, const Kernels& table)
    : plan_(plan), table_(table), block_(plan.block) {
  const std::size_t width = width_index(plan.element_bytes);
  kernel_ = plan.parameters.kernel == Kernel::tile ? table.tile[width] : table.run[width];
}

void BlockMover::clip(const Odometer& at) {
  for (std::size_t i = 0; i < block_.modes.size(); ++i) {
    const BlockMode& mode = block_.modes[i];
    extent_[i] = mode.loop < 0
                     ? mode.block
                     : std::min(mode.block, mode.extent - at.index(mode.loop) * mode.block);
  }
  run_bytes_ = plan_.element_bytes;
  for (int i = 0; i < block_.run_modes; ++i) run_bytes_ *= extent_[static_cast<std::size_t>(i)];
}

std::int64_t BlockMover::count(const Axis& axis) const {
  std::int64_t result = 1;
  for (const int mode : axis.modes) result *= extent_[static_cast<std::size_t>(mode)];
  return result;
}

template <typename Modes, typename Visit>
void BlockMover::for_each(const Modes& modes, const Visit& visit) const {
  std::array<std::int64_t, kMaxRank> index;
  std::fill_n(index.begin(), modes.size(), 0);
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t stage = 0;
  std::size_t k = 0;
  do {
    visit(in, out, stage);
    for (k = 0; k < modes.size(); ++k) {
      const auto m = static_cast<std::size_t>(modes[k]);
      const BlockMode& mode = block_.modes[m];
      in += mode.in_step;
      out += mode.out_step;
      stage += mode.stage_step;
      if (++index[k] < extent_[m]) break;
      in -= index[k] * mode.in_step;
      out -= index[k] * mode.out_step;
      stage -= index[k] * mode.stage_step;
      index[k] = 0;
    }
  } while (k < modes.size());
}

void BlockMover::fill(const std::byte* in, std::byte* to, bool staged) {
  const std::vector<std::int64_t>& tile = plan_.shuffle.tile;
  if (table_.shuffle != nullptr && !tile.empty() &&
      std::ranges::equal(tile, std::span(extent_).first(tile.size()), std::ranges::less_equal{})) {
    shuffle_tiles(in, to, staged);
    return;
  }
  const Axis& in_axis = block_.in_axis;
  const Axis& out_axis = block_.out_axis;
  const Cells cells{
      .in_by_in = in_axis.in.data(),
      .in_by_out = out_axis.in.data(),
      .out_by_in = staged ? in_axis.stage.data() : in_axis.out.data(),
      .out_by_out = staged ? out_axis.stage.data() : out_axis.out.data(),
      .in_count = count(in_axis),
      .out_count = count(out_axis),
      .element_bytes = plan_.element_bytes,
      .ahead = &ahead_,
  };
  for_each(block_.rest, [&](std::int64_t from, std::int64_t out, std::int64_t stage) {
    kernel_(in + from, to + (staged ? stage : out), cells);
  });
}

// Tiles follow one another along the output's fastest mode; the last one of each mode is moved back
// until it fits.
void BlockMover::shuffle_tiles(const std::byte* in, std::byte* to, bool staged) {
  const Shuffle& program = plan_.shuffle;
  const std::int64_t* stores = staged ? program.stage_stores.data() : program.out_stores.data();
  std::array<TileOrigin, 64> origins;
  std::array<std::int64_t, kMaxRank> start;
  std::fill_n(start.begin(), block_.modes.size(), 0);
  const BlockMode& inner = block_.modes.front();
  const std::int64_t inner_in = program.tile.front() * inner.in_step;
  const std::int64_t inner_out = program.tile.front() * (staged ? inner.stage_step : inner.out_step);
  TileOrigin line{0, 0};
  std::size_t pending = 0;
  const auto add = [&](const TileOrigin& origin) {
    origins[pending++] = origin;
    if (pending < origins.size()) return;
    table_.shuffle(in, to, program, stores, origins.data(), std::ssize(origins), &ahead_);
    pending = 0;
  };
  const std::int64_t whole = extent_[0] / program.tile.front();
  const std::int64_t rest = extent_[0] % program.tile.front();
  std::size_t m = 0;
  do {
    TileOrigin origin = line;
    for (std::int64_t i = 0; i < whole; ++i) {
      add(origin);
      origin.in += inner_in;
      origin.out += inner_out;
    }
    if (rest != 0) {
      const std::int64_t back = program.tile.front() - rest;
      add({origin.in - back * inner.in_step,
           origin.out - back * (staged ? inner.stage_step : inner.out_step)});
    }
    for (m = 1; m < block_.modes.size(); ++m) {
      const BlockMode& mode = block_.modes[m];
      const std::int64_t last = extent_[m] - program.tile[m];
      const std::int64_t next = start[m] == last ? 0 : std::min(start[m] + program.tile[m], last);
      line.in += (next - start[m]) * mode.in_step;
      line.out += (next - start[m]) * (staged ? mode.stage_step : mode.out_step);
      start[m] = next;
      if (next != 0) break;
    }
  } while (m < block_.modes.size());
  table_.shuffle(in, to, program, stores, origins.data(), static_cast<std::int64_t>(pending),
                 &ahead_);
}

// Runs so long that they go straight from the input to memory.
void BlockMover::stream_runs(const std::byte* in, std::byte* out) {
  std::array<int, kMaxRank> every;
  for (std::size_t i = 0; i < block_.modes.size(); ++i) every[i] = static_cast<int>(i);
  for_each(std::span(every).first(block_.modes.size()),
           [&](std::int64_t from, std::int64_t to, std::int64_t) {
             table_.stream(out + to, in + from, plan_.element_bytes);
             ahead_.request(ceil_div(plan_.element_bytes, kLineBytes));
           });
}

// Streams the staged block's whole lines. A partial line at the end of a run waits in the buffer,
// where the run will go on, if the next block continues it; the first line is whole if this block
// continued the one before.
void BlockMover::empty_stage(std::byte* stage, std::byte* out, const std::byte* next_out,
                             bool continued, bool continues) {
  std::byte* const base = stage + line_offset(out);
  std::byte* const next_base = stage + line_offset(next_out);
  std::array<int, kMaxRank> outer;
  const std::size_t outer_modes = block_.modes.size() - static_cast<std::size_t>(block_.run_modes);
  for (std::size_t i = 0; i < outer_modes; ++i) {
    outer[i] = block_.run_modes + static_cast<int>(i);
  }
  for_each(std::span(outer).first(outer_modes),
           [&](std::int64_t, std::int64_t out_offset, std::int64_t stage_offset) {
             const std::int64_t head = line_offset(out + out_offset);
             std::byte* const to = out + out_offset - head;
             std::byte* const from = base + stage_offset - head;
             const std::int64_t end = head + run_bytes_;
             std::int64_t line = 0;
             if (head > 0 && !continued) {
               table_.stream(to + head, from + head, std::min(kLineBytes, end) - head);
               line = kLineBytes;
             }
             for (; line + kLineBytes <= end; line += kLineBytes) {
               table_.stream_line(to + line, from + line);
               ahead_.request(1);
             }
             if (line >= end) return;
             if (continues) {
               std::byte* const slot = next_base + stage_offset;
               table_.copy(slot - line_offset(slot), from + line, kLineBytes);
             } else {
               table_.stream(to + line, from + line, end - line);
             }
           });
}

void BlockMover::move(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end) {
  alignas(kLineBytes) std::array<std::byte, kStagingBytes + kLineBytes> stage;
  const bool staged = plan_.is_staged();
  // Blocks continue one another where the innermost loop steps from the end of a run to the next.
  const bool may_continue = staged && !plan_.loops.empty() &&
                            plan_.loops.back().out_byte_step == block_.run_bytes;
  const int innermost = static_cast<int>(plan_.loops.size()) - 1;
  bool continued = false;
  Odometer at(plan_, begin);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::byte* from = in + at.in_offset();
    std::byte* to = out + at.out_offset();
    clip(at);
    at.step();
    const bool last = i + 1 == end;
    if (plan_.parameters.prefetch && !last) ahead_ = LineRequests(in + at.in_offset(), block_);
    if (staged) {
      fill(from, stage.data() + line_offset(to), true);
      const bool continues = may_continue && !last && at.index(innermost) > 0;
      empty_stage(stage.data(), to, out + at.out_offset(), continued, continues);
      continued = continues;
    } else if (plan_.parameters.streaming) {
      stream_runs(from, to);
    } else {
      fill(from, to, false);
    }
    ahead_.request_all();
  }
  if (plan_.parameters.streaming) table_.fence();
}

}  // namespace ttlg::cpu
