// Orthogonal-Arbitrary (TTLG, Alg. 4 and 5): the combined fastest modes of input and output may
// overlap. The slice is their union. Its elements, numbered in input order, pass through shared
// memory and leave in output order. It handles every permutation, here of elements of 4 bytes or
// more; orthogonal_arbitrary_packed.hpp has the narrower ones.
//
// Alg. 4's offset arrays are kept where they cost nothing to read: a thread moves the same elements
// of every slice of its block, so it computes their offsets once and holds them in registers, in
// elements and 32 bits; the moves themselves divide nothing. With two stages the next slice is on
// its way to shared memory while this one is written to the output.
//
// Shared memory holds the elements in input order, padded or swizzled as the host chose for this
// slice (see SharedLayout): packed, filling meets no conflict, because a warp's elements share a
// line, but draining, whose strides are any products of extents, may meet many.
#pragma once

#include "cuda/kernels/arbitrary_slices.hpp"
#include "plan/cuda/layout/shared_layout.hpp"

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
  std::uint32_t buffer_bytes;  // of one of two buffers, 0 with a single one
  SharedLayout layout;
  FastDivisor32 padded_row;  // elements of the rows that `layout` pads
};

template <int kWidth>
TTLG_DEVICE std::uint32_t swizzled_byte(const SharedLayout& layout, std::uint32_t element) {
  return swizzle(layout, kWidth, element * kWidth);
}

// What a thread moves in every slice: offsets in elements, slots of shared memory in bytes.
template <int kWidth, bool kVectorIn, bool kVectorOut>
struct ThreadItems {
  using Policy = OrthogonalArbitraryPolicy;
  static constexpr int kBytes = kWidth;  // of an element
  static constexpr std::uint32_t kInBytes = kVectorIn ? kMaxAccessBytes : kWidth;
  static constexpr std::uint32_t kOutBytes = kVectorOut ? kMaxAccessBytes : kWidth;
  // Elements of an access.
  static constexpr std::uint32_t kInElements = kInBytes / kWidth;
  static constexpr std::uint32_t kOutElements = kOutBytes / kWidth;
  static constexpr std::uint32_t kElements = Policy::max_elements(kWidth);
  static constexpr std::uint32_t kReads =
      ceil_div(kElements, std::int64_t{kArbitraryThreads} * kInElements);
  static constexpr std::uint32_t kWrites =
      ceil_div(kElements, std::int64_t{kArbitraryThreads} * kOutElements);
  static constexpr std::uint32_t kSlots = kWrites * kOutElements + kReads;

  std::int32_t in_offset[kReads];
  std::int32_t out_offset[kWrites];
  // Two in a register: where the elements of output accesses are read, then where input accesses
  // are written.
  std::uint32_t slots[(kSlots + 1) / 2];
  Validity in_valid;
  Validity out_valid;

  // Holds all in registers: the compiler would compute some again for every slice.
  TTLG_DEVICE void keep() {
    in_valid.keep();
    out_valid.keep();
    TTLG_UNROLL
    for (std::int32_t& offset : in_offset) offset = opaque(offset);
    TTLG_UNROLL
    for (std::int32_t& offset : out_offset) offset = opaque(offset);
    TTLG_UNROLL
    for (std::uint32_t& pair : slots) pair = opaque(pair);
  }

  TTLG_DEVICE void set_slot(std::uint32_t i, std::uint32_t byte) {
    slots[i / 2] |= byte << (i % 2 * 16);
  }
  TTLG_DEVICE std::uint32_t slot(std::uint32_t i) const {
    return i % 2 == 0 ? opaque(slots[i / 2]) & 0xffff : opaque(slots[i / 2]) >> 16;
  }
  // Numbers of slots.
  static TTLG_DEVICE std::uint32_t of_write(std::uint32_t k, std::uint32_t e) {
    return k * kOutElements + e;
  }
  static TTLG_DEVICE std::uint32_t of_read(std::uint32_t k) { return kWrites * kOutElements + k; }
};

template <typename Items, typename Context>
TTLG_DEVICE void find_input(const ArbitraryArguments& p, const Context& context, Items& items) {
  std::uint32_t row[Items::kReads];
  std::uint32_t column[Items::kReads];
  TTLG_UNROLL
  for (std::uint32_t k = 0; k < Items::kReads; ++k) {
    const std::uint32_t element = (k * kArbitraryThreads + context.thread()) * Items::kInElements;
    row[k] = p.row_length.quotient(element);
    column[k] = element - row[k] * p.row_length.divisor();
    items.in_valid.add(k, element < p.elements, row[k] < p.shape.last_rows,
                       column[k] < p.shape.last_columns);
    const std::uint32_t apart = p.padded_row.quotient(element) * p.layout.row_padding;
    items.set_slot(Items::of_read(k), swizzled_byte<Items::kBytes>(p.layout, element + apart));
  }
  p.column_in.add_offsets(column, items.in_offset);
  p.row_in.add_offsets(row, items.in_offset);
}

// Where the slice's element of this number in output order lies in the slice.
TTLG_DEVICE std::uint32_t element_at(const ArbitraryArguments& p, std::uint32_t index) {
  std::uint32_t element = 0;
  TTLG_UNROLL_BY(1)
  // [budget: 4 times] A slice of four modes.
  for (int m = 0; m < p.modes; ++m) {
    const std::uint32_t rest = p.mode[m].extent.quotient(index);
    element += (index - rest * p.mode[m].extent.divisor()) * p.mode[m].slice_step;
    index = rest;
  }
  return element;
}

template <typename Items, typename Context>
TTLG_DEVICE void find_output(const ArbitraryArguments& p, const Context& context, Items& items) {
  constexpr std::uint32_t kVector = Items::kOutElements;
  const auto first_index = [&](std::uint32_t k) {
    return (k * kArbitraryThreads + context.thread()) * kVector;
  };
  std::uint32_t index[Items::kWrites];
  std::uint32_t element[Items::kWrites];
  TTLG_UNROLL
  for (std::uint32_t k = 0; k < Items::kWrites; ++k) {
    index[k] = first_index(k);
    element[k] = 0;
    items.out_offset[k] = 0;
    items.out_valid.add(k, index[k] < p.elements, true, true);
  }
  // Mode by mode, so that its numbers are read once for all of a thread's accesses.
  TTLG_UNROLL_BY(1)
  // [budget: 4 times] A slice of four modes.
  for (int m = 0; m < p.modes; ++m) {
    const OutMode& mode = p.mode[m];
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < Items::kWrites; ++k) {
      const std::uint32_t rest = mode.extent.quotient(index[k]);
      const std::uint32_t coordinate = index[k] - rest * mode.extent.divisor();
      index[k] = rest;
      element[k] += coordinate * mode.slice_step;
      items.out_offset[k] += static_cast<std::int32_t>(coordinate) * mode.out_step;
      if (m == p.column_mode && coordinate >= p.last_column_extent) {
        items.out_valid.leave_out_of_last_columns(k);
      }
      if (m == p.row_mode && coordinate >= p.last_row_extent) {
        items.out_valid.leave_out_of_last_rows(k);
      }
    }
  }
  // Vectors that end where the first mode does are evenly spread over the slice.
  const bool is_even = p.mode[0].extent.divisor() % kVector == 0;
  TTLG_UNROLL
  for (std::uint32_t k = 0; k < Items::kWrites; ++k) {
    TTLG_UNROLL
    for (std::uint32_t e = 0; e < kVector; ++e) {
      const std::uint32_t at = e == 0 || is_even ? element[k] + e * p.mode[0].slice_step
                                                 // [budget: rare] Vectors across two runs.
                                                 : element_at(p, first_index(k) + e);
      items.set_slot(Items::of_write(k, e), swizzled_byte<Items::kBytes>(p.layout, at));
    }
  }
}

TTLG_DEVICE std::uint32_t accesses_of(const ArbitraryArguments& p, std::uint32_t elements) {
  return (p.elements + kArbitraryThreads * elements - 1) / (kArbitraryThreads * elements);
}

// Brings a slice of the input into shared memory.
template <typename Items, typename Context>
TTLG_DEVICE void fill_slice(const ArbitraryArguments& p, const Context& context, const Items& items,
                            const BlockOrigin& from) {
  constexpr std::uint32_t kHeld = kGroup < Items::kReads ? kGroup : Items::kReads;
  const Context source = context.at(from.in, 0);
  const std::uint32_t valid = items.in_valid.at(from);
  const std::uint32_t reads = accesses_of(p, Items::kInElements);
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kReads; first += kHeld) {
    if (first >= reads) break;
    TTLG_UNROLL
    for (std::uint32_t k = first; k < first + kHeld; ++k) {
      source.template copy_async<Items::kInBytes>(
          has_bit(valid, k), items.slot(Items::of_read(k)),
          std::int64_t{opaque(items.in_offset[k])} * Items::kBytes);
    }
  }
  context.commit_copies();
}

// One access of the output, gathered element by element.
template <typename Items, typename Context>
TTLG_DEVICE auto take_from_slice(const Context& context, bool valid, const Items& items,
                                 std::uint32_t k) {
  constexpr int kBytes = Items::kBytes;
  constexpr std::uint32_t kVector = Items::kOutElements;
  const auto take = [&](std::uint32_t e) {
    return context.template shared_load<Word<kBytes>>(valid, items.slot(Items::of_write(k, e)));
  };
  if constexpr (kVector == 1) {
    return take(0);
  } else {
    Word16 result{};
    TTLG_UNROLL
    for (std::uint32_t e = 0; e < kVector; ++e) {
      const auto element = take(e);
      if constexpr (kBytes == 8) {
        result.part[2 * e] = static_cast<std::uint32_t>(element);
        result.part[2 * e + 1] = static_cast<std::uint32_t>(element >> 32);
      } else {
        result.part[e] = element;
      }
    }
    return result;
  }
}

// Writes a slice in shared memory to the output.
template <typename Items, typename Context>
TTLG_DEVICE void drain_slice(const ArbitraryArguments& p, const Context& context,
                             const Items& items, const BlockOrigin& to) {
  constexpr std::uint32_t kHeld = kGroup < Items::kWrites ? kGroup : Items::kWrites;
  const Context target = context.at(0, to.out);
  const std::uint32_t valid = items.out_valid.at(to);
  const std::uint32_t writes = accesses_of(p, Items::kOutElements);
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWrites; first += kHeld) {
    if (first >= writes) break;
    TTLG_UNROLL
    for (std::uint32_t k = first; k < first + kHeld; ++k) {
      target.store(has_bit(valid, k), std::int64_t{opaque(items.out_offset[k])} * Items::kBytes,
                   take_from_slice(target, has_bit(valid, k), items, k));
    }
  }
}

template <int kWidth, bool kVectorIn, bool kVectorOut, int kModes, typename Context>
TTLG_DEVICE void orthogonal_arbitrary(const Grid<kModes>& grid, const ArbitraryArguments& p,
                                      const Context& context) {
  using Items = ThreadItems<kWidth, kVectorIn, kVectorOut>;
  Items items{};
  find_output(p, context, items);
  find_input(p, context, items);
  items.keep();
  SharedWalk walk(grid, p.coarsening, context);
  move_slices(
      walk, context, p.buffer_bytes,
      [&](const Context& empty, std::uint32_t i) { fill_slice(p, empty, items, walk.at(i)); },
      [&](const Context& full, std::uint32_t i) { drain_slice(p, full, items, walk.at(i)); });
}

}  // namespace ttlg::cuda
