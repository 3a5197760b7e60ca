// Structures of 2 to 4 elements, such as pixels of that many channels, which a shuffle takes apart
// or puts together. The most frequent programs of all, for which the library has code that is
// generated when it is built.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

struct Channels {
  std::int64_t element_bytes;
  std::int64_t count;         // of a structure
  bool are_interleaved;       // in the output, instead of in the input
  bool are_reversed = false;  // structures, of which the output has the last one first

  bool operator==(const Channels&) const = default;
};

inline constexpr std::int64_t kMinChannels = 2;
inline constexpr std::int64_t kMaxChannels = 4;
inline constexpr std::int64_t kMaxChannelBytes = 8;  // of an element
inline constexpr std::size_t kChannelKinds = 48;

constexpr bool is_kind(const Channels& channels) {
  return channels.count >= kMinChannels && channels.count <= kMaxChannels &&
         channels.element_bytes <= kMaxChannelBytes &&
         std::has_single_bit(static_cast<std::uint64_t>(channels.element_bytes));
}

// All kinds are numbered.
constexpr std::size_t number_of_kind(const Channels& channels) {
  const auto width = static_cast<std::size_t>(
      std::countr_zero(static_cast<std::uint64_t>(channels.element_bytes)));
  return (width * 3 + static_cast<std::size_t>(channels.count - kMinChannels)) * 4 +
         static_cast<std::size_t>(channels.are_interleaved) * 2 +
         static_cast<std::size_t>(channels.are_reversed);
}

// The modes of a folded problem that have the channels and the structures.
struct ChannelModes {
  Channels kind;
  std::int64_t taken;  // channels, the first ones of a structure that is taken apart
  std::size_t channel;
  std::size_t structures;
};

// Those that blocks of these extents have, if they are structures of a kind.
std::optional<ChannelModes> find_channels(const Problem& folded,
                                          std::span<const std::int64_t> extents);

// A block that is structures on one side and separate channels on the other; numbers of its modes.
struct ChannelBlock {
  Channels kind;
  std::int64_t taken;
  std::size_t channel_mode;
  std::size_t structure_mode;
  std::vector<int> others;  // the other modes

  bool takes_all() const { return taken == kind.count; }
};

ChannelBlock make_channel_block(const Problem& folded, const ChannelModes& modes,
                                std::span<const std::int64_t> extents);

}  // namespace ttlg::cpu
