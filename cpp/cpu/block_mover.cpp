#include "cpu/block_mover.hpp"

#include <algorithm>

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

StoreQueue BlockMover::queue_stores(std::byte* staging, std::byte* out,
                                    std::span<StagedRun> staged_runs, bool continued,
                                    bool continues) const {
  std::size_t runs = 0;
  const std::int64_t run_bytes = plan_.out_bytes_of(run_bytes_);
  for_each(identity_order(block_.modes.size()).subspan(static_cast<std::size_t>(block_.run_modes)),
           [&](std::int64_t, std::int64_t offset, std::int64_t staging_offset) {
             const std::int64_t out_offset = plan_.out_bytes_of(offset);
             staged_runs[runs++] = {.staging = staging_offset, .out = out_offset};
             // Lines that are partly written must be read first. Ordered early, they are there in
             // time; stores that wait for them would hold up all stores behind them.
             if (!plan_.parameters.streaming) return;
             if (!continued) __builtin_prefetch(out + out_offset, 1);
             if (!continues) __builtin_prefetch(out + out_offset + run_bytes - 1, 1);
           });
  return {.staging = staging,
          .out = out,
          .runs = staged_runs.first(runs),
          .run_bytes = run_bytes,
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

PrefetchQueue BlockMover::read_ahead(const std::byte* in, Odometer& ahead, std::int64_t i,
                                     std::int64_t begin, std::int64_t end) const {
  const std::int64_t distance = plan_.parameters.prefetch;
  if (distance == 0 || i + distance >= end) return part_of_next(i, begin, end);
  const std::int64_t shift = shift_ > 0 ? shift_of(ahead, block_.modes.front().in_step) : 0;
  const std::byte* const next = in + ahead.in_offset() - shift;
  ahead.step();
  return {.next = next, .ranges = block_.ranges, .range_bytes = block_.range_bytes};
}

void BlockMover::move(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end,
                      RowConverter* converter) {
  struct StagingBuffer {
    alignas(kLineBytes) std::array<std::byte, kStagingBytes + kLineBytes> bytes;
    std::array<StagedRun, kStagingBytes / kLineBytes> runs;
  };
  std::array<StagingBuffer, 2> buffers;
  const bool staged = plan_.parameters.staged;
  // Blocks continue one another where the innermost loop steps from the end of a run to the next.
  const bool may_continue = staged && plan_.parameters.streaming && !plan_.loops.empty() &&
                            plan_.loops.back().out_byte_step == block_.run_bytes;
  const int innermost = static_cast<int>(plan_.loops.size()) - 1;
  if (converter == nullptr) shift_to_lines(out);
  const std::int64_t in_shift = shift_ > 0 ? block_.modes.front().in_step : 0;
  Odometer at(plan_, begin);
  Odometer ahead(plan_, begin + plan_.parameters.prefetch);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::byte* from = in + at.in_offset() - shift_of(at, in_shift);
    std::byte* to = out + plan_.out_bytes_of(at.out_offset()) - shift_of(at, plan_.element_bytes);
    clip(at);
    find_neighbors(at);
    const bool continued = may_continue && i > begin && at.index(innermost) > 0;
    pipeline_.prefetches = read_ahead(in, ahead, i, begin, end);
    if (staged) {
      StagingBuffer& staging = buffers[static_cast<std::size_t>(i & 1)];
      std::byte* const base = staging.bytes.data() + line_offset(to);
      if (continued) pipeline_.stores.continues_at = base;
      fill(from, base, true);
      table_.advance(pipeline_, INT64_MAX);
      if (converter != nullptr) convert_runs(base, nullptr, nullptr, at, *converter);
      at.step();
      const bool continues = may_continue && i + 1 < end && at.index(innermost) > 0;
      pipeline_.stores = queue_stores(base, to, staging.runs, continued, continues);
      continue;
    }
    fill(from, to, false);
    table_.advance(pipeline_, INT64_MAX);
    at.step();
  }
  table_.advance(pipeline_, INT64_MAX);
  if (plan_.parameters.streaming) table_.fence();
}

}  // namespace ttlg::cpu
