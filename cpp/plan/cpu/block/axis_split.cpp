#include "plan/cpu/block/axis_split.hpp"

#include <bitset>

#include "plan/cpu/memory_units.hpp"

namespace ttlg::cpu {

BlockModes::BlockModes(const Problem& folded, std::span<const std::int64_t> extents) {
  std::array<int, kMaxRank> number_of;
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    number_of[m] = extents[m] > 1 ? static_cast<int>(rank_) : -1;
    if (extents[m] == 1) continue;
    const Mode& mode = folded.modes[m];
    modes_[rank_++] = {.extent = mode.extent,
                       .block = extents[m],
                       .in_step = mode.in_byte_stride,
                       .out_step = mode.out_byte_stride,
                       .staging_step = 0,
                       .loop = extents[m] < mode.extent ? 0 : -1};
  }
  std::size_t next = 0;
  for (std::size_t m = 0; m < folded.modes.size(); ++m) {
    if (number_of[m] >= 0) in_order_[next++] = number_of[m];
  }
}

namespace {

bool rows_adjoin(std::span<const BlockMode> modes, const AxisModes& axes,
                 std::int64_t element_bytes) {
  if (axes.in.list().size() != 1) return false;
  std::int64_t bytes = element_bytes;
  for (const std::uint8_t m : axes.out.list()) {
    if (modes[m].loop >= 0 || modes[m].out_step != bytes) return false;
    bytes *= modes[m].block;
  }
  const BlockMode& rows = modes[axes.in.list().front()];
  return rows.in_step == element_bytes && rows.out_step == bytes && bytes % kLineBytes == 0;
}

}  // namespace

AxisModes split_axes(std::span<const BlockMode> modes, std::span<const int> in_order,
                     std::int64_t element_bytes, AxisSplit split) {
  constexpr std::int64_t kInBytes = 4 * kLineBytes;
  constexpr std::int64_t kOutBytes = 8 * kLineBytes;
  AxisModes axes;
  std::bitset<kMaxRank> taken;
  const auto count = static_cast<int>(modes.size());
  const auto mode_at = [&](int number) -> const BlockMode& {
    return modes[static_cast<std::size_t>(number)];
  };
  const auto can_take = [&](int number, std::int64_t BlockMode::* step, std::int64_t bytes) {
    if (taken[static_cast<std::size_t>(number)]) return false;
    return split == AxisSplit::strided || mode_at(number).*step == bytes;
  };
  const auto take = [&](ModeNumbers& axis, int number, std::int64_t& bytes) {
    taken.set(static_cast<std::size_t>(number));
    axis.add(number);
    bytes *= mode_at(number).block;
    return mode_at(number).loop < 0;  // a cut mode ends its axis
  };
  std::int64_t in_bytes = element_bytes;
  std::int64_t out_bytes = element_bytes;
  if (split == AxisSplit::runs) {
    for (int number = 0; number < count; ++number) {
      const bool continues = out_bytes == mode_at(number).out_step && out_bytes > 0;
      (continues ? axes.out : axes.rest).add(number);
      out_bytes = continues ? out_bytes * mode_at(number).block : 0;
    }
    return axes;
  }
  std::size_t in_next = 0;
  int out_next = 0;
  bool in_open = split != AxisSplit::none;
  bool out_open = in_open;
  while (in_open || out_open) {
    in_open = in_open && in_bytes < kInBytes && in_next < in_order.size() &&
              can_take(in_order[in_next], &BlockMode::in_step, in_bytes);
    // Long elements, too, are moved many at a call.
    out_open = out_open && (out_bytes < kOutBytes || out_next == 0) && out_next < count &&
               can_take(out_next, &BlockMode::out_step, out_bytes);
    if (out_open && (!in_open || out_bytes <= in_bytes)) {
      out_open = take(axes.out, out_next++, out_bytes);
    } else if (in_open) {
      in_open = take(axes.in, in_order[in_next++], in_bytes);
    }
  }
  for (int number = 0; number < count; ++number) {
    if (!taken[static_cast<std::size_t>(number)]) axes.rest.add(number);
  }
  axes.rows_adjoin = split == AxisSplit::contiguous && rows_adjoin(modes, axes, element_bytes);
  return axes;
}

}  // namespace ttlg::cpu
