// The dispatch table: what a SIMD level offers for moving a block. The executor knows nothing else
// of a machine; a level is one file that fills one table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/pipeline.hpp"
#include "plan/cpu/mover.hpp"
#include "plan/cpu/parameters.hpp"
#include "plan/cpu/window.hpp"
#include "tensor/element_map.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {

// in_count x out_count elements, each index with its offset in bytes on either side.
struct BlockArguments {
  const std::int64_t* in_by_in;    // input offset of each index of the in axis
  const std::int64_t* in_by_out;   // input offset of each index of the out axis
  const std::int64_t* out_by_in;   // output offset of each index of the in axis
  const std::int64_t* out_by_out;  // output offset of each index of the out axis
  std::int64_t in_count;
  std::int64_t out_count;
  std::int64_t element_bytes;
  // Whether the indices of an axis lie at equal steps, as those of one mode do, on both sides.
  bool in_is_even = false;
  bool out_is_even = false;
  // Whether the out axis goes on from another block, and how many elements of it follow this one:
  // kernels that store past the caches leave the line in which a block begins to the one before it
  // and finish the line in which it ends. The tables reach that far.
  bool continued;
  std::int64_t following;
  // Whether each row of the output begins where the one before ends, so that the same holds of
  // rows: the two above are then said of the block's first row and of its last one.
  bool rows_adjoin = false;
  BlockPipeline* pipeline;
};

// Where a tile begins, or how far it is from another.
struct TileOrigin {
  std::int64_t in;
  std::int64_t out;
};

inline constexpr int kMaxLanes = 4;

// As many tiles at a time as a vector has lanes.
struct TileGroups {
  std::array<TileOrigin, kMaxLanes> lanes;  // of each tile of a group, from the group's origin
  std::span<const TileOrigin> origins;      // of the groups
};

// Some columns of the same rows.
struct SkewArguments {
  const std::int64_t* in_rows;  // offsets, of as many more rows as there are columns
  std::int64_t out_step;        // bytes between rows
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t element_bytes;
  PrefetchQueue* prefetches;
};

using BlockKernel = void (*)(const std::byte* in, std::byte* out, const BlockArguments& block);
using ShuffleKernel = void (*)(const std::byte* in, std::byte* out, const ShuffleTables& program,
                               const std::int64_t* stores, const TileGroups& groups,
                               BlockPipeline& pipeline);
using SkewKernel = void (*)(const std::byte* in, std::byte* out, const SkewArguments& band);
using CopyKernel = void (*)(std::byte* out, const std::byte* in, std::int64_t bytes);

// Takes `count` structures of a kind of channels apart, or puts them together. The channels are
// `pitch` bytes apart on the side where they are separate. `count` is at least `structures`. Where
// they are reversed, what is separate is stepped through backwards.
struct ChannelKernel {
  void (*move)(const std::byte* in, std::byte* out, std::int64_t count,
               std::int64_t pitch) = nullptr;
  std::int64_t structures = 0;
};
using ChannelKernels = std::array<ChannelKernel, kChannelKinds>;  // by number_of_kind

// Moves the tile at each of `count` origins; `in` and `out` say where its vectors lie from there.
using VectorTileKernel = void (*)(const std::byte* from, std::byte* to, const std::int64_t* in,
                                  const std::int64_t* out, const TileOrigin* origins,
                                  std::size_t count);

// Elements that follow one another in the output, along the mode in which windows do.
struct WindowLine {
  std::int64_t count;          // at least a window's
  std::int64_t in_step;        // bytes between them
  std::int64_t last_readable;  // whose window's vector lies within what may be read; -1 if none
};
using WindowKernel = void (*)(const std::byte* in, std::byte* out, const Window& window,
                              const WindowLine& line);

// By which elements are multiplied, and what is added: one value for all, kMaxVectorParts times, or
// one for each.
struct ChunkValues {
  const std::byte* scales;
  const std::byte* offsets;
  bool vary;
};
inline constexpr std::int64_t kMaxVectorParts = 16;

// What becomes of elements, or of the parts of complex ones, that are computed in one type. Of
// types that are not computed in it, there are no kernels. Addresses need no alignment.
struct ConvertKernels {
  using Load = void (*)(const std::byte* in, std::byte* computed, std::int64_t count,
                        bool swaps_bytes);
  // Loads, multiplies and adds at once.
  using LoadScaled = void (*)(const std::byte* in, std::byte* computed, std::int64_t count,
                              const ChunkValues& values);
  using Save = void (*)(const std::byte* computed, std::byte* out, std::int64_t count);
  // By one value, or by as many.
  using Compute = void (*)(std::byte* computed, const std::byte* values, std::int64_t count,
                           bool vary);

  std::array<Load, kTypes> load{};
  std::array<LoadScaled, kTypes> load_scaled{};
  std::array<Save, kTypes> save{};
  std::array<Save, kTypes> save_saturated{};
  Compute scale = nullptr;
  Compute scale_complex = nullptr;  // `count` numbers of two parts each
  Compute add = nullptr;
  // Of elements that have the type: value * scale + offset + beta * that of the output.
  void (*accumulate)(const std::byte* in, std::byte* out, std::int64_t count,
                     const ChunkValues& values, const std::byte* beta) = nullptr;
  // Complex numbers: their real parts, which may take their place; those of which these are the
  // real parts; in place, their conjugates.
  Save take_real = nullptr;
  Save make_complex = nullptr;
  void (*conjugate)(std::byte* computed, std::int64_t count) = nullptr;
};

// Converts elements of one type to another's, integers within their limits: value * scale + offset.
// Their number is a multiple of that below; what is streamed begins at a vector's alignment.
inline constexpr std::int64_t kFusedElements = 32;
using FusedKernel = void (*)(const std::byte* in, std::byte* out, std::int64_t count,
                             const ChunkValues& values, bool streams);
using FusedKernels =
    std::array<std::array<FusedKernel, kTypes>, kTypes>;  // null where there is none

// The place of a type in which elements are computed among the kernels.
inline constexpr std::size_t kComputedTypes = 4;
constexpr std::size_t number_of_computed(Type type) {
  switch (type) {
    case Type::int32:
      return 0;
    case Type::int64:
      return 1;
    case Type::float32:
      return 2;
    default:
      return 3;
  }
}

// The kernels that are generated while the library is built.
struct GeneratedKernels {
  ChannelKernels channels{};
  // Of elements of 4 and of 8 bytes; by number_of_map.
  std::array<std::span<const VectorTileKernel>, 2> vector_tiles{};
};

struct Kernels {
  const char* name;
  // Transposes elements that follow one another along the in axis on the input's side and along the
  // out axis on the output's; indexed as width_index does.
  std::array<BlockKernel, kWidths.size()> tile;
  // Tiles as above, stored around the caches.
  std::array<BlockKernel, kWidths.size()> tile_streaming;
  // Moves elements of the same widths between any places; the last entry takes any width.
  std::array<BlockKernel, kWidths.size() + 1> strided_copy;
  // Elements of any width that follow one another along the out axis on the output's side, around
  // the caches.
  BlockKernel strided_copy_streaming;
  // Element j of the output's row i is that of the input's row i + j; indexed as strided_copy. Fast
  // for skew_columns.
  std::array<SkewKernel, kWidths.size() + 1> skew;
  std::array<int, kWidths.size() + 1> skew_columns;
  // Carries a shuffle program out on every tile; null where no instruction permutes bytes.
  ShuffleKernel shuffle;
  WindowKernel move_windows;  // null where that is
  int lanes;                  // 16-byte lanes of its vectors
  GeneratedKernels generated;
  // Copies with ordinary stores, and with stores that bypass the caches for whole lines.
  CopyKernel copy;
  CopyKernel stream;
  std::array<ConvertKernels, kComputedTypes> convert;  // by number_of_computed
  FusedKernels convert_fused;                          // from one type to another
  // Prefetches up to this many lines, and flushes as many.
  void (*advance)(BlockPipeline& pipeline, std::int64_t lines);
  // Orders what was streamed before whatever this thread signals next.
  void (*fence)();

  const ChannelKernel& channel_kernel(const Channels& kind) const {
    return generated.channels[number_of_kind(kind)];
  }
  VectorTileKernel vector_tile_kernel(const LaneMap& map, std::int64_t element_bytes) const {
    return generated.vector_tiles[element_bytes == 8][number_of_map(map)];
  }

  // What moves a block of a plan that has these extents.
  Mover mover_of(const Movers& movers, std::span<const std::int64_t> extents) const {
    if (shuffle == nullptr || movers.program.tile.empty()) return Mover::block_kernel;
    std::int64_t least = 0;  // beside one that is moved alone, where not all channels are taken
    if (const auto& channels = movers.channels) {
      least = channel_kernel(channels->kind).structures + (channels->takes_all() ? 0 : 1);
    }
    return movers.choose(extents, lanes, least);
  }

  // The plan's block kernel; null where it cuts no blocks.
  BlockKernel block_kernel(const Parameters& parameters, std::int64_t element_bytes) const {
    const std::size_t width = width_index(element_bytes);
    const bool direct = parameters.streams_directly();
    switch (parameters.kernel) {
      case Kernel::tile:
        return (direct ? tile_streaming : tile)[width];
      case Kernel::shuffle:  // of blocks that its tile does not fit in
      case Kernel::strided_copy:
        return direct ? strided_copy_streaming : strided_copy[width];
      case Kernel::copy:
      case Kernel::reference:
        break;
    }
    return nullptr;
  }
};

}  // namespace ttlg::cpu
