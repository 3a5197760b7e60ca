// How blocks are converted: gathered into a staging buffer as bits, from which rows leave for the
// output.
#include <algorithm>

#include "cpu/block_mover.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

void BlockMover::convert_runs(std::byte* staging, const std::byte* in, std::byte* out,
                              const Odometer& at, RowConverter& converter) {
  const Conversion& conversion = *plan_.conversion;
  const std::int64_t count = run_bytes_ / conversion.from_bytes;
  const ValueIndex& values = conversion.values;
  const ValueLoop& along = plan_.value_loop;
  const std::int64_t first = along.loop < 0 ? 0 : at.index(along.loop) * along.block;
  // Of the values' mode in the block: indices, and how many elements of a run or runs have the
  // same.
  std::int64_t inner = plan_.element_bytes / conversion.from_bytes;
  std::int64_t indices = 1;
  const bool is_in_runs = values.mode < 0 || (along.number >= 0 && along.number < block_.run_modes);
  if (values.mode >= 0 && is_in_runs) {
    for (int m = 0; m < along.number; ++m) inner *= extent_[static_cast<std::size_t>(m)];
  } else if (along.number >= 0) {
    inner = 1;
    for (int m = block_.run_modes; m < along.number; ++m) {
      inner *= extent_[static_cast<std::size_t>(m)];
    }
    indices = extent_[static_cast<std::size_t>(along.number)];
  }
  RowValues row;
  if (conversion.map.varies() && is_in_runs) {
    const std::int64_t whole = values.mode < 0 ? 1 : inner;
    row = {.place = first * whole, .inner = values.inner * whole};
  }
  std::int64_t number = 0;
  for_each(identity_order(block_.modes.size()).subspan(static_cast<std::size_t>(block_.run_modes)),
           [&](std::int64_t in_offset, std::int64_t offset, std::int64_t staging_offset) {
             if (!is_in_runs) {
               const std::int64_t index = first + number++ / inner % indices;
               row.place = index / values.inner % values.extent;
             }
             const std::byte* const from =
                 in == nullptr ? staging + staging_offset : in + in_offset;
             std::byte* const to =
                 out == nullptr ? staging + staging_offset : out + plan_.out_bytes_of(offset);
             converter.move(from, to, count, row);
             table_.advance(pipeline_, ceil_div(count * conversion.to_bytes, kLineBytes));
           });
}

// The lines that a block's elements are added to.
void BlockMover::prefetch_to_write(std::byte* out) const {
  const std::int64_t bytes = plan_.out_bytes_of(run_bytes_);
  for_each(identity_order(block_.modes.size()).subspan(static_cast<std::size_t>(block_.run_modes)),
           [&](std::int64_t, std::int64_t offset, std::int64_t) {
             std::byte* const run = out + plan_.out_bytes_of(offset);
             for (std::int64_t i = 0; i < bytes; i += kLineBytes) __builtin_prefetch(run + i, 1);
             __builtin_prefetch(run + bytes - 1, 1);
           });
}

// Whether blocks are converted in the staging buffer, from which they leave like those that are
// moved: while the next one is read, and in whole lines where they meet. Longer runs or whole lines
// leave it sooner as they are converted, and what takes more bytes than before has no room there.
bool BlockMover::converts_in_buffer() const {
  constexpr std::int64_t kShortRun = 20 * kLineBytes;
  const Conversion& conversion = *plan_.conversion;
  if (!plan_.parameters.streaming || conversion.to_bytes > conversion.from_bytes) return false;
  if (plan_.out_bytes_of(block_.run_bytes) > kShortRun) return false;
  const auto is_lines = [&](std::int64_t step) {
    return plan_.out_bytes_of(step) % kLineBytes == 0;
  };
  const std::span rows =
      std::span(block_.modes).subspan(static_cast<std::size_t>(block_.run_modes));
  return !std::ranges::all_of(plan_.loops, is_lines, &Loop::out_byte_step) ||
         !std::ranges::all_of(rows, is_lines, &BlockMode::out_step);
}

void BlockMover::convert(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end,
                         const MapValues& values) {
  const bool streaming = plan_.parameters.streaming;
  // Long runs that lie in one piece on both sides need no buffer.
  constexpr std::int64_t kLongRun = 4 * kLineBytes;
  const bool is_direct = block_.run_modes == 0 && plan_.element_bytes >= kLongRun;
  const bool in_buffer = !is_direct && converts_in_buffer();
  RowConverter converter(*plan_.conversion, values, table_, streaming && !in_buffer);
  if (in_buffer) return move(in, out, begin, end, &converter);
  alignas(kLineBytes) std::array<std::byte, kStagingBytes> staging;
  Odometer at(plan_, begin);
  Odometer ahead(plan_, begin + plan_.parameters.prefetch);
  for (std::int64_t i = begin; i < end; ++i) {
    std::byte* const to = out + plan_.out_bytes_of(at.out_offset());
    clip(at);
    if (plan_.conversion->map.accumulates) prefetch_to_write(to);
    pipeline_.prefetches = read_ahead(in, ahead, i, begin, end);
    const std::byte* const from = in + at.in_offset();
    if (!is_direct) fill(from, staging.data(), true);
    convert_runs(staging.data(), is_direct ? from : nullptr, to, at, converter);
    table_.advance(pipeline_, INT64_MAX);
    at.step();
  }
  if (streaming) table_.fence();
}

}  // namespace ttlg::cpu
