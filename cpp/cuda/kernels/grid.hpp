// Where a thread block's slice lies, and the offsets inside it: what all kernels share.
#pragma once

#include <type_traits>

#include "cuda/kernels/context.hpp"
#include "plan/cuda/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

struct GridMode {
  FastDivisor32 extent;
  std::int64_t in_step;
  std::int64_t out_step;
};

// The order of the slices along modes 0 and 1: mode 1 is cut into bands, and a band is walked along
// mode 1 first. With bands about as wide as the square root of the blocks that a device holds at
// once, these take a square of slices, which shares the pages of both tensors, where a row of
// slices would touch every page of one of them; Triton orders the programs of a matrix product so.
// Bands of width 1 leave mode 0 the fastest.
struct Bands {
  FastDivisor32 plane;       // the slices along both modes
  FastDivisor32 band;        // those of a band
  FastDivisor32 width;       // of a band along mode 1
  FastDivisor32 last_width;  // the same of the last one
  std::uint32_t last;        // its number
};

// The modes outside a slice, the two blocked ones first: mode 0 counts the blocks on the output's
// side, mode 1 those on the input's. Up to rank 15 the number of modes is rounded up to a
// compile-time constant, so that all indices are (TTLG, section IV-B); above it the loop runs over
// the kernel's parameters, which stay in constant memory.
template <int kModes>
struct Grid {
  static constexpr int kCapacity = kModes;
  int modes;             // at least 2
  std::uint32_t slices;  // the product of their extents
  Bands bands;
  GridMode mode[kModes];
};

// Where a thread block's slice begins, and whether it is cut short.
struct BlockOrigin {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool last_row_block = false;
  bool last_column_block = false;
};

template <int kModes>
TTLG_DEVICE void step_along(const Grid<kModes>& grid, int m, std::uint32_t coordinate,
                            BlockOrigin& origin) {
  const GridMode& mode = grid.mode[m];
  if (m == 0) origin.last_row_block = coordinate + 1 == mode.extent.divisor();
  if (m == 1) origin.last_column_block = coordinate + 1 == mode.extent.divisor();
  origin.in += coordinate * mode.in_step;
  origin.out += coordinate * mode.out_step;
}

// The modes from `first` on.
template <int kModes>
TTLG_DEVICE void step_along_rest(const Grid<kModes>& grid, int first, std::uint32_t index,
                                 BlockOrigin& origin) {
  const auto visit = [&](int m) {
    const std::uint32_t rest = grid.mode[m].extent.quotient(index);
    step_along(grid, m, index - rest * grid.mode[m].extent.divisor(), origin);
    index = rest;
  };
  if constexpr (kModes < 16) {
    TTLG_UNROLL
    for (int m = first; m < kModes; ++m) {
      if (m < grid.modes) visit(m);
    }
  } else {
    for (int m = first; m < grid.modes; ++m) visit(m);
  }
}

// decode and compute_base of Alg. 2.
template <int kModes>
TTLG_DEVICE BlockOrigin decode(const Grid<kModes>& grid, std::uint32_t index) {
  BlockOrigin origin;
  step_along_rest(grid, 0, index, origin);
  return origin;
}

// decode and compute_base where the slices are taken in bands.
template <int kModes>
TTLG_DEVICE BlockOrigin decode_in_bands(const Grid<kModes>& grid, std::uint32_t index) {
  const Bands& bands = grid.bands;
  const std::uint32_t rest = bands.plane.quotient(index);
  index -= rest * bands.plane.divisor();
  const std::uint32_t band = bands.band.quotient(index);
  index -= band * bands.band.divisor();
  const FastDivisor32 width = band == bands.last ? bands.last_width : bands.width;
  const std::uint32_t row_block = width.quotient(index);
  BlockOrigin origin;
  step_along(grid, 0, row_block, origin);
  step_along(grid, 1, band * bands.width.divisor() + index - row_block * width.divisor(), origin);
  step_along_rest(grid, 2, rest, origin);
  return origin;
}

// offset += index * step, which may wrap: no kernel uses the offsets of indices beyond a slice, and
// those may be more than a Step holds.
template <typename Step>
TTLG_DEVICE void advance(Step& offset, std::uint32_t index, Step step) {
  using Unsigned = std::make_unsigned_t<Step>;
  offset = static_cast<Step>(static_cast<Unsigned>(offset) +
                             static_cast<Unsigned>(index) * static_cast<Unsigned>(step));
}

// One side of a combined index: where its i-th element lies in one of the tensors. The last mode
// stands apart, so that an index of a single mode, the common case, costs one multiplication.
template <typename Step>
struct AxisSide {
  int inner_modes;
  FastDivisor32 extent[kAxisModes - 1];
  Step step[kAxisModes - 1];
  Step last_step;

  // Whether the elements, of this many of the units in which steps are counted, leave no gaps.
  TTLG_DEVICE bool is_contiguous(Step element) const {
    return inner_modes == 0 && last_step == element;
  }

  TTLG_DEVICE Step offset(std::uint32_t index) const {
    Step result = 0;
    TTLG_UNROLL_BY(1)
    // [budget: once] A line of two modes; what lies along it is fused.
    for (int m = 0; m < inner_modes; ++m) {
      const std::uint32_t rest = extent[m].quotient(index);
      advance(result, index - rest * extent[m].divisor(), step[m]);
      index = rest;
    }
    advance(result, index, last_step);
    return result;
  }

  // Adds the offsets of several indices, which are used up, to `offsets`. Mode by mode, so that its
  // numbers are read once for all.
  template <std::uint32_t kCount>
  TTLG_DEVICE void add_offsets(std::uint32_t (&index)[kCount], Step (&offsets)[kCount]) const {
    TTLG_UNROLL_BY(1)
    // [budget: once] A line of two modes; what lies along it is fused.
    for (int m = 0; m < inner_modes; ++m) {
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kCount; ++k) {
        const std::uint32_t rest = extent[m].quotient(index[k]);
        advance(offsets[k], index[k] - rest * extent[m].divisor(), step[m]);
        index[k] = rest;
      }
    }
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kCount; ++k) {
      advance(offsets[k], index[k], last_step);
    }
  }
};

// Extents of a slice along the input's axis (columns) and across it (rows): the slices at the
// tensor's edges are smaller.
struct SliceExtents {
  std::uint32_t columns;
  std::uint32_t last_columns;
  std::uint32_t rows;
  std::uint32_t last_rows;

  TTLG_DEVICE std::uint32_t columns_at(const BlockOrigin& origin) const {
    return origin.last_column_block ? last_columns : columns;
  }
  TTLG_DEVICE std::uint32_t rows_at(const BlockOrigin& origin) const {
    return origin.last_row_block ? last_rows : rows;
  }
};

// Thread coarsening (TTLG, section IV-A): a block repeats its slice along one mode and decodes its
// index once.
struct Coarsening {
  std::uint32_t count;
  std::int64_t in_step;
  std::int64_t out_step;
};

// A slice of a thread block, which takes every blocks()-th of the grid and repeats each along the
// coarsened mode. There are as many blocks as a device holds at once, so that what a block finds
// out for one slice serves many.
template <int kModes>
class SliceCursor {
 public:
  template <typename Context>
  TTLG_DEVICE SliceCursor(const Grid<kModes>& grid, const Coarsening& coarsening,
                          const Context& context)
      : grid_(grid), coarsening_(coarsening), index_(context.block()), left_(coarsening.count) {}

  TTLG_DEVICE bool exists() const { return index_ < grid_.slices; }

  // Both decode the slice again: where it lies would take registers in between.
  TTLG_DEVICE BlockOrigin at() const { return repeated(decode(grid_, index_)); }
  TTLG_DEVICE BlockOrigin at_in_bands() const { return repeated(decode_in_bands(grid_, index_)); }

  template <typename Context>
  TTLG_DEVICE void advance(const Context& context) {
    if (--left_ > 0) return;
    left_ = coarsening_.count;
    index_ += context.blocks();
  }

 private:
  TTLG_DEVICE BlockOrigin repeated(BlockOrigin origin) const {
    const std::int64_t before = coarsening_.count - left_;
    origin.in += before * coarsening_.in_step;
    origin.out += before * coarsening_.out_step;
    return origin;
  }

  const Grid<kModes>& grid_;
  const Coarsening& coarsening_;
  std::uint32_t index_;
  std::uint32_t left_;  // repetitions, this one included
};

// What a block's first warp finds out for all of them, in entries of 32 bytes at the beginning of
// shared memory: where the next slice lies takes as many instructions to find out as a warp's share
// of moving it. An entry may be read once it is written and a barrier has passed since; the two
// written last are kept.
inline constexpr std::uint32_t kRingBytes = kSharedLineBytes;

struct RingEntry {
  Word16 origins;  // of a slice, in the input and in the output
  Word16 rest;
};

TTLG_DEVICE Word16 origins_word(std::int64_t in, std::int64_t out) {
  return {{static_cast<std::uint32_t>(in), static_cast<std::uint32_t>(in >> 32),
           static_cast<std::uint32_t>(out), static_cast<std::uint32_t>(out >> 32)}};
}
TTLG_DEVICE std::int64_t origin_of(const Word16& origins, int side) {
  return static_cast<std::int64_t>(origins.part[2 * side] |
                                   std::uint64_t{origins.part[2 * side + 1]} << 32);
}

template <typename Context>
TTLG_DEVICE bool writes_ring(const Context& context) {
  return context.thread() < kWarpSize;
}
inline constexpr std::uint32_t kRingEntries = kRingBytes / 32;

template <typename Context>
TTLG_DEVICE void write_ring(const Context& context, std::uint32_t i, const RingEntry& entry) {
  const std::uint32_t at = i % kRingEntries * 32;
  context.shared_store(context.thread() == 0, at, entry.origins);
  context.shared_store(context.thread() == 0, at + 16, entry.rest);
}
template <typename Context>
TTLG_DEVICE RingEntry read_ring(const Context& context, std::uint32_t i) {
  const std::uint32_t at = i % kRingEntries * 32;
  return {context.template shared_load<Word16>(true, at),
          context.template shared_load<Word16>(true, at + 16)};
}

// The slices of a thread block, announced through the ring.
template <int kModes, typename Context>
class SharedWalk {
 public:
  TTLG_DEVICE SharedWalk(const Grid<kModes>& grid, const Coarsening& coarsening,
                         const Context& context)
      : cursor_(grid, coarsening, context), context_(context) {
    // [budget: first warp]
    announce(0);
  }

  // Slice number `i`, the one after that announced last.
  TTLG_DEVICE void announce(std::uint32_t i) {
    if (!writes_ring(context_)) return;
    const BlockOrigin at = cursor_.at();
    write_ring(context_, i,
               {origins_word(at.in, at.out),
                {{cursor_.exists(), at.last_row_block, at.last_column_block, 0}}});
    cursor_.advance(context_);
  }

  TTLG_DEVICE bool exists(std::uint32_t i) const {
    return read_ring(context_, i).rest.part[0] != 0;
  }
  TTLG_DEVICE BlockOrigin at(std::uint32_t i) const {
    const auto [origins, rest] = read_ring(context_, i);
    return {origin_of(origins, 0), origin_of(origins, 1), rest.part[1] != 0, rest.part[2] != 0};
  }

 private:
  SliceCursor<kModes> cursor_;
  const Context& context_;
};

// How a warp's lanes lie on a line of one side: vector accesses put 8 lanes on 128 bytes and 4
// lines side by side, element accesses 32 lanes on one line.
template <int kWidth, bool kVector>
struct Lanes {
  static constexpr int kElements = kVector ? 16 / kWidth : 1;  // of one access
  static constexpr int kAlong = kVector ? 8 : 32;
  static constexpr int kAcross = kWarpSize / kAlong;
  static constexpr int kChunk = kAlong * kElements;
  using Access = Word<kVector ? 16 : kWidth>;

  // Offset along the line. Where vectors of several elements fit, its elements are contiguous.
  static TTLG_DEVICE std::int64_t along(const AxisSide<std::int64_t>& axis, std::uint32_t index) {
    return kElements > 1 ? std::int64_t{index} * kWidth : axis.offset(index);
  }
};

}  // namespace ttlg::cuda
