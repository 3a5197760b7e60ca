#include "plan/cpu/channels.hpp"

#include <cstddef>
#include <cstdlib>

namespace ttlg::cpu {

std::optional<ChannelModes> find_channels(const Problem& folded,
                                          std::span<const std::int64_t> extents) {
  if (folded.modes.size() < 2) return std::nullopt;
  const std::int64_t bytes = folded.element_bytes();
  const std::size_t first_read = 0;
  const auto first_written = static_cast<std::size_t>(folded.perm.front());
  if (first_read == first_written) return std::nullopt;
  for (const bool are_interleaved : {false, true}) {
    const std::size_t c = are_interleaved ? first_written : first_read;
    const std::size_t s = are_interleaved ? first_read : first_written;
    const auto packed = are_interleaved ? &Mode::out_byte_stride : &Mode::in_byte_stride;
    const auto separate = are_interleaved ? &Mode::in_byte_stride : &Mode::out_byte_stride;
    const Mode& channel = folded.modes[c];
    const Mode& structures = folded.modes[s];
    // Of the output, strides of vectors are positive.
    const bool are_reversed = structures.in_byte_stride < 0;
    const auto distance = [&](std::int64_t Mode::* step) { return std::abs(structures.*step); };
    const Channels kind{bytes, distance(packed) / bytes, are_interleaved, are_reversed};
    const bool takes_some = !are_interleaved && channel.extent < kind.count;
    if (is_kind(kind) && extents[c] == channel.extent && channel.*packed == bytes &&
        structures.out_byte_stride > 0 && distance(packed) == kind.count * bytes &&
        (channel.extent == kind.count || takes_some) && distance(separate) == bytes) {
      return ChannelModes{.kind = kind, .taken = channel.extent, .channel = c, .structures = s};
    }
  }
  return std::nullopt;
}

ChannelBlock make_channel_block(const Problem& folded, const ChannelModes& modes,
                                std::span<const std::int64_t> extents) {
  ChannelBlock result{.kind = modes.kind,
                      .taken = modes.taken,
                      .channel_mode = 0,
                      .structure_mode = 0,
                      .others = {}};
  std::size_t number = 0;
  for (const int mode : folded.perm) {
    const auto m = static_cast<std::size_t>(mode);
    if (extents[m] == 1) continue;
    if (m == modes.channel) {
      result.channel_mode = number;
    } else if (m == modes.structures) {
      result.structure_mode = number;
    } else {
      result.others.push_back(static_cast<int>(number));
    }
    ++number;
  }
  return result;
}

}  // namespace ttlg::cpu
