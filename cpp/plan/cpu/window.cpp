#include "plan/cpu/window.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Fewer are moved as fast one by one, and so is a single element of a width.
constexpr std::int64_t kMinWindowBytes = 4;
constexpr std::int64_t kMinWindows = 4;  // of a line, as the last one is stored in parts

std::optional<WindowTile> window_of_vectors(const Problem& folded,
                                            std::span<const std::int64_t> extents,
                                            std::int64_t vector_bytes) {
  const std::int64_t unit = vector_bytes > kLaneBytes ? kWordBytes : 1;
  if (folded.element_bytes() % unit != 0) return std::nullopt;
  WindowTile result{.vector_bytes = vector_bytes,
                    .tile = std::vector<std::int64_t>(extents.size(), 1),
                    .stepped = 0,
                    .out_bytes = folded.element_bytes()};
  std::int64_t& out_bytes = result.out_bytes;
  std::int64_t in_bytes = out_bytes;
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = folded.modes[m];
    const std::int64_t step = std::abs(mode.in_byte_stride);
    if (mode.out_byte_stride != out_bytes) return std::nullopt;
    const std::int64_t fitting = step == 0 ? mode.extent : (vector_bytes - in_bytes) / step + 1;
    const bool is_permuted = step % unit == 0;
    const std::int64_t count =
        is_permuted ? std::min({kMaxWindowVectors * vector_bytes / out_bytes, fitting, extents[m]})
                    : 1;
    result.tile[m] = count;
    out_bytes *= count;
    in_bytes += (count - 1) * step;
    if (count == mode.extent) continue;
    result.stepped = m;
    const bool is_line = step != 0 && extents[m] >= kMinWindows * count;
    const bool holds_some = out_bytes > folded.element_bytes() || 2 * out_bytes > vector_bytes;
    return is_line && holds_some && out_bytes >= kMinWindowBytes ? std::optional(result)
                                                                 : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WindowTile> find_window(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes) {
  std::optional<WindowTile> result;
  if (folded.element_bytes() >= kLaneBytes) return result;
  const bool has_others = reads_runs(folded);
  for (std::int64_t bytes = kLaneBytes; bytes <= vector_bytes; bytes *= 2) {
    auto window = window_of_vectors(folded, extents, bytes);
    if (!window || (has_others && window->out_bytes <= bytes)) continue;
    if (!result || window->out_bytes > result->out_bytes) result = std::move(window);
  }
  return result;
}

Window make_window(const Problem& folded, const WindowTile& tile,
                   std::span<const std::int64_t> extents) {
  Window result{};
  // Where the elements lie in the input, in the output's order.
  std::vector<std::int64_t> offsets{0};
  std::size_t number = 0;
  for (const int index : folded.perm) {
    const auto m = static_cast<std::size_t>(index);
    if (extents[m] == 1) continue;
    const std::size_t inner = offsets.size();
    offsets.resize(inner * static_cast<std::size_t>(tile.tile[m]));
    for (std::size_t i = inner; i < offsets.size(); ++i) {
      offsets[i] = offsets[i - inner] + folded.modes[m].in_byte_stride;
    }
    if (m == tile.stepped) {
      result.stepped_mode = number;
      result.elements = tile.tile[m];
    } else if (tile.tile[m] == 1) {
      result.others.push_back(static_cast<int>(number));
    }
    ++number;
  }
  const std::int64_t size = folded.element_bytes();
  result.vector_bytes = tile.vector_bytes;
  result.element_bytes = std::ssize(offsets) * size / result.elements;
  result.vectors = tile.vectors();
  result.written_elements = ceil_div(result.vectors * tile.vector_bytes, result.element_bytes);
  const auto [first, last] = std::ranges::minmax(offsets);
  result.out_bytes = std::ssize(offsets) * size;
  result.begin = first;
  result.in_bytes = last + size - first;
  // Beyond the window lies the next one: a vector reaches there, and not back.
  result.load =
      folded.modes[tile.stepped].in_byte_stride < 0 ? last + size - tile.vector_bytes : first;
  for (ByteIndices& each : result.bytes) each.fill(kNoByte);
  for (std::int64_t i = 0; i < result.out_bytes; ++i) {
    const std::int64_t from = offsets[static_cast<std::size_t>(i / size)] + i % size - result.load;
    const auto vector = static_cast<std::size_t>(i / tile.vector_bytes);
    const std::int64_t byte = i % tile.vector_bytes;
    if (tile.vector_bytes == kLaneBytes) {
      result.bytes[vector][static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(from);
    } else if (byte % kWordBytes == 0) {
      result.words[vector][static_cast<std::size_t>(byte / kWordBytes)] =
          static_cast<std::uint32_t>(from / kWordBytes);
    }
  }
  return result;
}

}  // namespace ttlg::cpu
