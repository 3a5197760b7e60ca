// Orthogonal-Arbitrary (TTLG, Alg. 4 and 5): the combined fastest modes
// of input and output may overlap. The slice is their union. Its elements, numbered in input order,
// pass through shared memory and leave in output order. It handles every permutation.
//
// Alg. 4's offset arrays are kept where they cost nothing to read: a thread moves the same elements
// of every slice that it repeats (coarsening), so it computes their offsets once and holds them in
// registers, in elements and 32 bits; the moves themselves divide nothing.
//
// Shared memory holds the elements in input order, padded or swizzled as the host chose for this
// slice (see SharedLayout): packed, filling meets no conflict, because a warp's elements share a
// line, but draining, whose strides are any products of extents, may meet many.
#pragma once

#include "cuda/kernels/grid.hpp"
#include "plan/cuda/swizzle.hpp"

namespace ttlg::cuda {

// A mode of the slice: how far its neighbours are apart in the slice and in the output, in
// elements.
struct OutMode {
  FastDivisor32 extent;
  std::uint32_t slice_step;
  std::int32_t out_step;
};

struct ArbitraryArguments {
  Coarsening coarsening;
  SliceExtents shape;  // columns: the input's axis; rows: the slice's other modes (OOS)
  FastDivisor32 row_length;
  AxisSide<std::int32_t> column_in;  // steps in elements
  AxisSide<std::int32_t> row_in;
  int modes;
  OutMode mode[kAxisModes];  // in output order
  int column_mode;           // which of them is blocked on the input's side; -1 without one
  int row_mode;              // which on the output's
  std::uint32_t last_column_extent;
  std::uint32_t last_row_extent;
  std::uint32_t elements;
  SharedLayout layout;
  FastDivisor32 padded_row;  // elements of the rows that `layout` pads
};

inline constexpr int kArbitraryThreads = OrthogonalArbitraryPolicy::kThreads;

template <int kWidth>
TTLG_DEVICE std::uint32_t swizzled_byte(const SharedLayout& layout, std::uint32_t element) {
  return swizzle(layout, kWidth < 4 ? 4 : kWidth, element * kWidth);
}

// What a thread moves in every slice: offsets in elements, slots of shared memory in bytes.
template <int kWidth, typename In, typename Out>
struct ThreadItems {
  static constexpr std::int64_t kElements =
      OrthogonalArbitraryPolicy::max_elements(kWidth, {In::kElements > 1, Out::kElements > 1});
  static constexpr int kReads =
      static_cast<int>(ceil_div(kElements, kArbitraryThreads* In::kElements));
  static constexpr int kWrites =
      static_cast<int>(ceil_div(kElements, kArbitraryThreads* Out::kElements));

  std::int32_t in_offset[kReads];
  std::int32_t out_offset[kWrites];
  // The lower half is where output element j is read, the upper where input access j is written.
  std::uint32_t slot[kWrites * Out::kElements];
  std::uint32_t in_valid = 0;  // a bit for each access
  std::uint32_t out_valid = 0;

  TTLG_DEVICE bool reads(std::uint32_t k) const { return (opaque(in_valid) >> k & 1) != 0; }
  TTLG_DEVICE bool writes(std::uint32_t k) const { return (opaque(out_valid) >> k & 1) != 0; }
};

template <int kWidth, typename Side, typename Items, typename Context>
TTLG_DEVICE void find_input(const ArbitraryArguments& p, const Context& context,
                            const BlockOrigin& origin, Items& items) {
  TTLG_UNROLL
  for (std::uint32_t k = 0; k < Items::kReads; ++k) {
    const std::uint32_t element = (k * kArbitraryThreads + context.thread()) * Side::kElements;
    const std::uint32_t row = p.row_length.quotient(element);
    const std::uint32_t column = element - row * p.row_length.divisor();
    const bool valid = row < p.shape.rows_at(origin) && column < p.shape.columns_at(origin);
    items.in_valid |= std::uint32_t{valid} << k;
    items.in_offset[k] = p.column_in.offset(column) + p.row_in.offset(row);
    const std::uint32_t apart = p.padded_row.quotient(element) * p.layout.row_padding;
    items.slot[k] |= swizzled_byte<kWidth>(p.layout, element + apart) << 16;
  }
}

// Where the slice's i-th element in output order lies: in the slice, and from the output's origin.
struct Located {
  std::uint32_t element = 0;
  std::int32_t offset = 0;
  bool valid = true;
};
TTLG_DEVICE Located locate(const ArbitraryArguments& p, const BlockOrigin& origin,
                           std::uint32_t index) {
  const std::uint32_t column_limit = origin.last_column_block ? p.last_column_extent : ~0u;
  const std::uint32_t row_limit = origin.last_row_block ? p.last_row_extent : ~0u;
  Located located;
  TTLG_UNROLL_BY(1)
  for (int m = 0; m < p.modes; ++m) {
    const OutMode& mode = p.mode[m];
    const std::uint32_t rest = mode.extent.quotient(index);
    const std::uint32_t coordinate = index - rest * mode.extent.divisor();
    index = rest;
    located.element += coordinate * mode.slice_step;
    located.offset += static_cast<std::int32_t>(coordinate) * mode.out_step;
    located.valid &= coordinate < (m == p.column_mode ? column_limit : ~0u) &&
                     coordinate < (m == p.row_mode ? row_limit : ~0u);
  }
  return located;
}

template <int kWidth, typename Side, typename Items, typename Context>
TTLG_DEVICE void find_output(const ArbitraryArguments& p, const Context& context,
                             const BlockOrigin& origin, Items& items) {
  // Vectors that end where the first mode does are evenly spread over the slice.
  const bool is_even = p.mode[0].extent.divisor() % Side::kElements == 0;
  TTLG_UNROLL
  for (std::uint32_t k = 0; k < Items::kWrites; ++k) {
    const std::uint32_t index = (k * kArbitraryThreads + context.thread()) * Side::kElements;
    const Located first = locate(p, origin, index);
    items.out_valid |= std::uint32_t{first.valid && index < p.elements} << k;
    items.out_offset[k] = first.offset;
    TTLG_UNROLL
    for (std::uint32_t e = 0; e < Side::kElements; ++e) {
      std::uint32_t element = first.element;
      if (e > 0) {
        element =
            is_even ? element + e * p.mode[0].slice_step : locate(p, origin, index + e).element;
      }
      items.slot[k * Side::kElements + e] |= swizzled_byte<kWidth>(p.layout, element);
    }
  }
}

// One access of the input into shared memory: at once where the layout allows, else bank by bank.
template <int kWidth, typename Access, typename Context>
TTLG_DEVICE void put_into_slice(const SharedLayout& layout, const Context& context, bool valid,
                                std::uint32_t to, const Access& value) {
  const auto next = [&](std::uint32_t bytes) {
    return to / kSharedLineBytes * kSharedLineBytes + (to + bytes) % kSharedLineBytes;
  };
  if constexpr (sizeof(Access) == kWidth) {
    context.shared_store(valid, to, value);
  } else if (keeps_vectors(layout, kWidth < 4 ? 4 : kWidth)) {
    context.shared_store(valid, to, value);
  } else if constexpr (kWidth == 8) {
    context.shared_store(valid, to, value.part[0] | std::uint64_t{value.part[1]} << 32);
    context.shared_store(valid, next(8), value.part[2] | std::uint64_t{value.part[3]} << 32);
  } else {
    TTLG_UNROLL
    for (std::uint32_t q = 0; q < 4; ++q) {
      context.shared_store(valid, next(4 * q), value.part[q]);
    }
  }
}

// One access of the output, gathered element by element.
template <int kWidth, typename Access, typename Context>
TTLG_DEVICE Access take_from_slice(const Context& context, bool valid, const std::uint32_t* slot) {
  const auto take = [&](int e) {
    return context.template shared_load<Word<kWidth>>(valid, slot[e] & 0xffff);
  };
  if constexpr (sizeof(Access) == kWidth) {
    return take(0);
  } else {
    constexpr int kPerPart = kWidth < 4 ? 4 / kWidth : 1;
    Access result{};
    TTLG_UNROLL
    for (int e = 0; e < 16 / kWidth; ++e) {
      const auto element = take(e);
      if constexpr (kWidth == 8) {
        result.part[2 * e] = static_cast<std::uint32_t>(element);
        result.part[2 * e + 1] = static_cast<std::uint32_t>(element >> 32);
      } else {
        result.part[e / kPerPart] |= std::uint32_t{element} << (8 * kWidth * (e % kPerPart));
      }
    }
    return result;
  }
}

template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes, typename Context>
TTLG_DEVICE void orthogonal_arbitrary(const Grid<kModes>& grid, const ArbitraryArguments& p,
                                      const Context& context) {
  using In = Lanes<kWidth, kVectorIn>;
  using Out = Lanes<kWidth, kVectorOut>;
  using Items = ThreadItems<kWidth, In, Out>;
  // Loads in flight.
  constexpr std::uint32_t kBatch = OrthogonalArbitraryPolicy::batch(sizeof(typename In::Access));
  constexpr std::uint32_t kHeld = kBatch < Items::kReads ? kBatch : Items::kReads;
  const BlockOrigin origin = decode(grid, context.block());
  Items items{};
  find_output<kWidth, Out>(p, context, origin, items);
  find_input<kWidth, In>(p, context, origin, items);
  // How many of a thread's accesses lie in the slice at all, whichever thread it is.
  const std::uint32_t reads =
      (p.elements + kArbitraryThreads * In::kElements - 1) / (kArbitraryThreads * In::kElements);
  const std::uint32_t writes =
      (p.elements + kArbitraryThreads * Out::kElements - 1) / (kArbitraryThreads * Out::kElements);
  // Decoded once more: the offsets would take registers while the items are found.
  const BlockOrigin base = decode(grid, opaque(context.block()));
  std::int64_t in = base.in;
  std::int64_t out = base.out;
  for (std::uint32_t s = 0; s < p.coarsening.count; ++s) {
    if (s > 0) context.barrier();
    TTLG_UNROLL
    for (std::uint32_t first = 0; first < Items::kReads; first += kHeld) {
      if (first >= reads) break;
      typename In::Access held[kHeld];
      TTLG_UNROLL
      for (std::uint32_t b = 0; b < kHeld; ++b) {
        held[b] = context.template load<typename In::Access>(
            items.reads(first + b), in + std::int64_t{opaque(items.in_offset[first + b])} * kWidth);
      }
      TTLG_UNROLL
      for (std::uint32_t b = 0; b < kHeld; ++b) {
        put_into_slice<kWidth>(p.layout, context, items.reads(first + b),
                               items.slot[first + b] >> 16, held[b]);
      }
    }
    context.barrier();
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < Items::kWrites; ++k) {
      if (k >= writes) break;
      const bool valid = items.writes(k);
      context.store(valid, out + std::int64_t{opaque(items.out_offset[k])} * kWidth,
                    take_from_slice<kWidth, typename Out::Access>(context, valid,
                                                                  &items.slot[k * Out::kElements]));
    }
    in += p.coarsening.in_step;
    out += p.coarsening.out_step;
  }
}

}  // namespace ttlg::cuda
