// Which words of a slice of packed elements a thread moves, see orthogonal_arbitrary_packed.hpp,
// and where they lie in the tensors and in shared memory: what it finds once per block.
#pragma once

#include "cuda/kernels/arbitrary_slices.hpp"
#include "plan/cuda/layout/shared_layout.hpp"

namespace ttlg::cuda {

// A mode of a slice: how far its neighbours lie apart in one of the tensors and in shared memory,
// in bytes.
struct PackedMode {
  FastDivisor32 extent;
  std::int32_t step;
  std::uint32_t slot_step;
};

// One side of a slice: its runs of contiguous bytes, and the modes along which there are several.
struct PackedSide {
  std::uint32_t run;              // bytes, in whole slices
  std::uint32_t last_row_run;     // in the last of the blocked rows,
  std::uint32_t last_column_run;  // and of the blocked columns
  FastDivisor32 words;            // that a run may touch
  std::uint32_t all_words;
  std::uint32_t words_of_thread;
  int modes;
  PackedMode mode[kAxisModes];  // in this side's order
  int column_mode;              // which of them is blocked on the input's side; -1 without one
  int row_mode;                 // which on the output's
  std::uint32_t last_column_extent;
  std::uint32_t last_row_extent;

  TTLG_DEVICE std::uint32_t run_at(const BlockOrigin& origin) const {
    const std::uint32_t of_rows = origin.last_row_block ? last_row_run : run;
    return origin.last_column_block && last_column_run < of_rows ? last_column_run : of_rows;
  }

  // Where runs begin, in the tensor and in shared memory, and which of them a slice has. Uses up
  // their numbers, of which `first` is that of the thread's first word.
  template <std::uint32_t kCount>
  TTLG_DEVICE void find_runs(std::uint32_t (&number)[kCount], std::int32_t* offset,
                             std::uint32_t (&slot)[kCount], std::uint32_t first,
                             Validity& valid) const {
    TTLG_UNROLL_BY(1)
    // [budget: 2 times] Two modes have several runs on either side.
    for (int m = 0; m < modes; ++m) {
      std::uint32_t coordinate[kCount];
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kCount; ++k) {
        const std::uint32_t rest = mode[m].extent.quotient(number[k]);
        coordinate[k] = number[k] - rest * mode[m].extent.divisor();
        number[k] = rest;
        offset[first + k] += static_cast<std::int32_t>(coordinate[k]) * mode[m].step;
        slot[k] += coordinate[k] * mode[m].slot_step;
      }
      if (m == column_mode) {
        TTLG_UNROLL
        for (std::uint32_t k = 0; k < kCount; ++k) {
          if (coordinate[k] >= last_column_extent) valid.leave_out_of_last_columns(first + k);
        }
      }
      if (m == row_mode) {
        TTLG_UNROLL
        for (std::uint32_t k = 0; k < kCount; ++k) {
          if (coordinate[k] >= last_row_extent) valid.leave_out_of_last_rows(first + k);
        }
      }
    }
  }
};

struct PackedArguments {
  Coarsening coarsening;
  PackedSide in;
  PackedSide out;
  int run_modes;                    // of a run of the output, at least one
  PackedMode run_mode[kAxisModes];  // whose `step` is unused
  std::uint32_t run_elements;
  // Whether runs of the output may begin within a word: 1, or 0. A warp's first lane then only
  // fetches what the next one needs.
  std::uint32_t idle_lanes;
  std::uint32_t buffer_bytes;  // of one of two buffers, 0 with a single one
  std::uint32_t all_buffer_bytes;
  // Where the words of a slice end at most, and where the launch's part of the input does, in bytes
  // from their first elements.
  std::int64_t in_reach;
  std::int64_t in_end;
  // What remains of it here are rotations, and padding within runs of the input; `slot_step` has
  // that of other modes.
  SharedLayout layout;
  FastDivisor32 padded_row;  // bytes of the rows that `layout` pads
};

// What a thread moves in every slice: offsets in the tensors and slots of shared memory, in bytes.
template <int kWidth, bool kIsAligned>
struct PackedItems {
  static constexpr bool kAligned = kIsAligned;  // whether all runs begin and end at words
  static constexpr std::uint32_t kWordBytes = kBankBytes;
  static constexpr std::uint32_t kWords = OrthogonalArbitraryPolicy::kOffsetsPerThread;
  static constexpr std::uint32_t kElements = kWordBytes / kWidth;  // of a word
  static constexpr std::uint32_t kSlots = kWords * kElements;

  std::int32_t in_offset[kWords];
  std::int32_t out_offset[kWords];
  // Two in a register: of the words of the input, and of the elements of those of the output.
  std::uint32_t in_slots[kWords / 2];
  std::uint32_t out_slots[kSlots / 2];
  Validity in_valid;
  Validity out_valid;  // marked are the words that lie within whole runs wherever these begin

  // Words that runs end in are cut when they are moved, others with their runs.
  static TTLG_DEVICE void add_valid(Validity& valid, std::uint32_t k, bool exists,
                                    const PackedSide& side, std::uint32_t within) {
    valid.add(k, exists, !kAligned || within < side.last_row_run,
              !kAligned || within < side.last_column_run);
  }

  // Holds all in registers: the compiler would compute some again for every slice.
  TTLG_DEVICE void keep() {
    in_valid.keep();
    out_valid.keep();
    const auto keep_all = [](auto& values) {
      TTLG_UNROLL
      for (auto& value : values) value = opaque(value);
    };
    keep_all(in_offset);
    keep_all(out_offset);
    keep_all(in_slots);
    keep_all(out_slots);
  }
};

TTLG_DEVICE void set_slot(std::uint32_t* slots, std::uint32_t i, std::uint32_t byte) {
  slots[i / 2] |= byte << (i % 2 * 16);
}
TTLG_DEVICE std::uint32_t slot_of(const std::uint32_t* slots, std::uint32_t i) {
  const std::uint32_t pair = opaque(slots[i / 2]);
  return i % 2 == 0 ? pair & 0xffff : pair >> 16;
}

// A word of one side of a slice: its run, and how many bytes it lies within that.
struct PackedWord {
  std::uint32_t run;
  std::uint32_t within;
};

TTLG_DEVICE PackedWord word_at(const PackedSide& side, std::uint32_t number) {
  const std::uint32_t run = side.words.quotient(number);
  return {run, (number - run * side.words.divisor()) * 4};
}

template <typename Context>
TTLG_DEVICE std::uint32_t in_number(const Context& context, std::uint32_t k) {
  return k * kArbitraryThreads + context.thread();
}

// Of a lane that is not idle; before the first word, a large number.
template <typename Context>
TTLG_DEVICE std::uint32_t out_number(const PackedArguments& p, const Context& context,
                                     std::uint32_t k) {
  const std::uint32_t warp = context.thread() / kWarpSize + k * (kArbitraryThreads / kWarpSize);
  return warp * (kWarpSize - p.idle_lanes) + context.thread() % kWarpSize - p.idle_lanes;
}

// A few words at once, so that their numbers do not take all registers.
template <int kWidth, typename Items, typename Context>
TTLG_DEVICE void find_in_words(const PackedArguments& p, const Context& context, Items& items) {
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWords; first += kGroup) {
    std::uint32_t run[kGroup];
    std::uint32_t slot[kGroup];
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) {
      const std::uint32_t number = in_number(context, first + k);
      const PackedWord word = word_at(p.in, number);
      run[k] = word.run;
      const std::uint32_t rows = p.padded_row.quotient(word.within);
      slot[k] = word.within + rows * p.layout.row_padding * kWidth;
      items.in_offset[first + k] = static_cast<std::int32_t>(word.within);
      items.add_valid(items.in_valid, first + k, number < p.in.all_words, p.in, word.within);
    }
    p.in.find_runs(run, items.in_offset, slot, first, items.in_valid);
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) set_slot(items.in_slots, first + k, slot[k]);
  }
}

// Where two neighbouring lines, along the fastest mode, of a run of the output lie, counted from
// the run's beginning.
struct LinePair {
  std::uint32_t slot = 0;
  std::uint32_t next_slot = 0;
};

TTLG_DEVICE LinePair find_lines(const PackedArguments& p, std::uint32_t line) {
  LinePair lines;
  std::uint32_t next = line + 1;
  TTLG_UNROLL_BY(1)
  // [budget: once] A run of the output has two modes.
  for (int m = 1; m < p.run_modes; ++m) {
    const PackedMode& mode = p.run_mode[m];
    const std::uint32_t rest = mode.extent.quotient(line);
    const std::uint32_t next_rest = mode.extent.quotient(next);
    lines.slot += (line - rest * mode.extent.divisor()) * mode.slot_step;
    lines.next_slot += (next - next_rest * mode.extent.divisor()) * mode.slot_step;
    line = rest;
    next = next_rest;
  }
  return lines;
}

// Where the elements of a word lie, of which `first` is the first: since that is a multiple of
// their number, they lie on two lines at most. Where the run ends, the first stands for those
// missing.
template <typename Items>
TTLG_DEVICE void find_slots(const PackedArguments& p, std::uint32_t k, std::uint32_t run_slot,
                            std::uint32_t first, Items& items) {
  const PackedMode& fastest = p.run_mode[0];
  const std::uint32_t line = fastest.extent.quotient(first);
  const std::uint32_t along = first - line * fastest.extent.divisor();
  const LinePair lines = find_lines(p, line);
  const std::uint32_t slot = run_slot + lines.slot + along * fastest.slot_step;
  const std::uint32_t next_slot =
      run_slot + lines.next_slot + (along - fastest.extent.divisor()) * fastest.slot_step;
  TTLG_UNROLL
  for (std::uint32_t e = 0; e < Items::kElements; ++e) {
    const bool is_next = along + e >= fastest.extent.divisor();
    const std::uint32_t at = (is_next ? next_slot : slot) + e * fastest.slot_step;
    set_slot(items.out_slots, k * Items::kElements + e, first + e < p.run_elements ? at : slot);
  }
  TTLG_UNROLL
  for (std::uint32_t e = 0; e < Items::kElements; e += 2) {
    std::uint32_t& pair = items.out_slots[(k * Items::kElements + e) / 2];
    pair = opaque(pair);
  }
}

template <int kWidth, typename Items, typename Context>
TTLG_DEVICE void find_out_words(const PackedArguments& p, const Context& context, Items& items) {
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWords; first += kGroup) {
    std::uint32_t run[kGroup];
    std::uint32_t slot[kGroup];
    std::uint32_t element[kGroup];  // of its run, a word's first
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) {
      const std::uint32_t number = out_number(p, context, first + k);
      const bool exists = number < p.out.all_words;
      const PackedWord word = word_at(p.out, exists ? number : 0);
      run[k] = word.run;
      slot[k] = 0;
      // The word behind a run that ends with one is of use for the one before only.
      element[k] = word.within < p.out.run ? word.within / kWidth : 0;
      items.out_offset[first + k] = static_cast<std::int32_t>(word.within);
      const bool is_idle = context.thread() % kWarpSize < p.idle_lanes;
      items.add_valid(items.out_valid, first + k, exists && !is_idle, p.out, word.within);
      const bool begins_inside = word.within > 0 || p.idle_lanes == 0;
      items.out_valid.mark(first + k, begins_inside && word.within + 4 <= p.out.run);
    }
    p.out.find_runs(run, items.out_offset, slot, first, items.out_valid);
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) {
      // One after the other, so that their numbers do not take all registers.
      find_slots(p, first + k, opaque(slot[k]), opaque(element[k]), items);
    }
  }
}

template <std::uint32_t kCount>
TTLG_DEVICE void swizzle_all(const SharedLayout& layout, std::uint32_t (&slots)[kCount]) {
  TTLG_UNROLL
  for (std::uint32_t& pair : slots) {
    pair = swizzle(layout, 4, pair & 0xffff) | swizzle(layout, 4, pair >> 16) << 16;
  }
}

}  // namespace ttlg::cuda
