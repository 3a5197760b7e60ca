// How blocks are converted: gathered into a staging buffer as bits, from which rows leave for the
// output.
#include <algorithm>

#include "cpu/block_mover.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

void BlockMover::convert_runs(const std::byte* staging, std::byte* out, std::int64_t to,
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
           [&](std::int64_t, std::int64_t offset, std::int64_t staging_offset) {
             if (!is_in_runs) {
               const std::int64_t index = first + number++ / inner % indices;
               row.place = index / values.inner % values.extent;
             }
             converter.move(staging + staging_offset, out + plan_.out_bytes_of(to + offset), count,
                            row);
             table_.advance(pipeline_, ceil_div(count * conversion.to_bytes, kLineBytes));
           });
}

void BlockMover::convert(const std::byte* in, std::byte* out, std::int64_t begin, std::int64_t end,
                         const MapValues& values) {
  alignas(kLineBytes) std::array<std::byte, kStagingBytes> staging;
  RowConverter converter(*plan_.conversion, values, table_, plan_.parameters.streaming);
  Odometer at(plan_, begin);
  Odometer ahead(plan_, begin + plan_.parameters.prefetch);
  for (std::int64_t i = begin; i < end; ++i) {
    clip(at);
    pipeline_.prefetches = read_ahead(in, ahead, i, begin, end);
    fill(in + at.in_offset(), staging.data(), true);
    convert_runs(staging.data(), out, at.out_offset(), at, converter);
    table_.advance(pipeline_, INT64_MAX);
    at.step();
  }
  if (plan_.parameters.streaming) table_.fence();
}

}  // namespace ttlg::cpu
