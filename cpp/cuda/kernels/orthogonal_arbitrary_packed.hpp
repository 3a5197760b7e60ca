// Orthogonal-Arbitrary (TTLG, Alg. 4 and 5) for elements that are narrower than a bank of shared
// memory. Threads move aligned words of 4 bytes, wherever the runs of contiguous bytes begin: what
// a run's first and last word have beside it is read and dropped on the way in, and left alone on
// the way out.
//
// In shared memory a run begins as many bytes beyond a word as in the input, so that words are
// copied as they are. How many these are differs from slice to slice by the same number for all
// runs, as long as the distances of runs in shared memory are, modulo 4, those in the input; the
// host chooses them so, and far enough for words not to overlap. So an element of the slice lies at
// a slot that a thread finds once per block, and a slice's shift is added to all of them at once.
// On the way out a thread gathers the elements of a word as it would lie if its run began at one,
// and cuts the word that it stores out of its own and the one before, its neighbour's.
#pragma once

#include "cuda/kernels/orthogonal_arbitrary.hpp"

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

  // Holds all in registers: the compiler would find some anew for every slice.
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

// Where the element of this number of a run of the output lies, counted from the run's.
TTLG_DEVICE std::uint32_t slot_in_run(const PackedArguments& p, std::uint32_t element, int first) {
  std::uint32_t slot = 0;
  TTLG_UNROLL_BY(1)
  for (int m = first; m < p.run_modes; ++m) {
    const std::uint32_t rest = p.run_mode[m].extent.quotient(element);
    slot += (element - rest * p.run_mode[m].extent.divisor()) * p.run_mode[m].slot_step;
    element = rest;
  }
  return slot;
}

// Where the elements of a word lie, of which `first` is the first. Where the run ends, the first
// stands for those that are missing.
template <typename Items>
TTLG_DEVICE void find_slots(const PackedArguments& p, std::uint32_t k, std::uint32_t run_slot,
                            std::uint32_t first, Items& items) {
  const PackedMode& fastest = p.run_mode[0];
  const std::uint32_t line = fastest.extent.quotient(first);
  const std::uint32_t along = first - line * fastest.extent.divisor();
  const std::uint32_t slot = run_slot + slot_in_run(p, line, 1) + along * fastest.slot_step;
  const std::uint32_t next_slot = run_slot + slot_in_run(p, line + 1, 1) +
                                  (along - fastest.extent.divisor()) * fastest.slot_step;
  TTLG_UNROLL
  for (std::uint32_t e = 0; e < Items::kElements; ++e) {
    const bool is_next = along + e >= fastest.extent.divisor();
    const std::uint32_t at = (is_next ? next_slot : slot) + e * fastest.slot_step;
    set_slot(items.out_slots, k * Items::kElements + e, first + e < p.run_elements ? at : slot);
  }
}

// The same where a word may have elements of more than two lines.
template <typename Items>
TTLG_DEVICE void find_slots_of_short_lines(const PackedArguments& p, std::uint32_t k,
                                           std::uint32_t run_slot, std::uint32_t first,
                                           Items& items) {
  TTLG_UNROLL
  for (std::uint32_t e = 0; e < Items::kElements; ++e) {
    const std::uint32_t element = first + e < p.run_elements ? first + e : first;
    set_slot(items.out_slots, k * Items::kElements + e, run_slot + slot_in_run(p, element, 0));
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
    if (p.run_mode[0].extent.divisor() < Items::kElements) {
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kGroup; ++k) {
        find_slots_of_short_lines(p, first + k, slot[k], element[k], items);
      }
    } else {
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kGroup; ++k) {
        find_slots(p, first + k, slot[k], element[k], items);
      }
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

// Gathering a word may read what the last slices lack.
template <typename Context>
TTLG_DEVICE void clear_buffers(const Context& context, std::uint32_t bytes) {
  TTLG_UNROLL_BY(1)
  for (std::uint32_t begin = 0; begin < bytes; begin += kArbitraryThreads * sizeof(Word16)) {
    const auto at = static_cast<std::uint32_t>(begin + context.thread() * sizeof(Word16));
    context.shared_store(at < bytes, kRingBytes + at, Word16{});
  }
}

// Where the word begins that has this byte.
template <typename Items>
TTLG_DEVICE std::int32_t word_begin(std::uint32_t byte) {
  return static_cast<std::int32_t>(Items::kAligned ? byte : byte & ~3u);
}

// Brings a slice of the input into shared memory, in whole words, or only the bytes of its runs.
template <bool kWhole, typename Items, typename Context>
TTLG_DEVICE void fill_words(const PackedArguments& p, const Context& context, const Items& items,
                            const BlockOrigin& from) {
  const std::uint32_t shift = Items::kAligned ? 0 : context.at(from.in, 0).in_phase();
  const Context source = context.at(from.in - shift, 0);
  const std::uint32_t valid = items.in_valid.at(from);
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWords; first += kGroup) {
    if (first >= p.in.words_of_thread) break;
    TTLG_UNROLL
    for (std::uint32_t k = first; k < first + kGroup; ++k) {
      const std::uint32_t at = static_cast<std::uint32_t>(opaque(items.in_offset[k])) + shift;
      const auto to =
          static_cast<std::uint32_t>(word_begin<Items>(slot_of(items.in_slots, k) + shift));
      const std::int64_t offset = word_begin<Items>(at);
      if constexpr (kWhole) {
        source.copy_word_async(has_bit(valid, k), to, offset);
      } else {
        const std::uint32_t within = word_at(p.in, in_number(context, k)).within;
        const auto left = static_cast<std::int32_t>(p.in.run_at(from) + at % 4 - within);
        source.copy_word_async(has_bit(valid, k) && left > 0, left < 4 ? left : 4, to, offset);
      }
    }
  }
}

template <typename Items, typename Context>
TTLG_DEVICE void fill_packed(const PackedArguments& p, const Context& context, const Items& items,
                             const BlockOrigin& from) {
  if (Items::kAligned || (from.in + p.in_reach <= p.in_end && p.in.run_at(from) == p.in.run)) {
    fill_words<true>(p, context, items, from);
  } else {
    fill_words<false>(p, context, items, from);
  }
  context.commit_copies();
}

// The word that begins so many bytes, modulo a word, before the end of `low`.
TTLG_DEVICE std::uint32_t last_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t bytes) {
#ifdef __CUDA_ARCH__
  return __funnelshift_l(low, high, 8 * bytes);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> (32 - 8 * (bytes % 4)));
#endif
}

// The elements of a word, packed.
template <int kWidth, typename Items, typename Context>
TTLG_DEVICE std::uint32_t gather_word(const Context& slice, const Items& items, std::uint32_t k) {
  std::uint32_t word = 0;
  TTLG_UNROLL
  for (std::uint32_t e = 0; e < Items::kElements; ++e) {
    const auto element = slice.template shared_load<Word<kWidth>>(
        true, slot_of(items.out_slots, k * Items::kElements + e));
    word |= std::uint32_t{element} << (8 * kWidth * e);
  }
  return word;
}

// Stores what is its run's of a word, which begins at `at`.
template <int kWidth, typename Context>
TTLG_DEVICE void store_edges(const PackedArguments& p, const Context& target, std::uint32_t k,
                             bool valid, std::uint32_t run, std::uint32_t at, std::uint32_t word) {
  const std::uint32_t within = word_at(p.out, out_number(p, target, k)).within;
  const std::uint32_t phase = at % 4;
  const std::int64_t offset = static_cast<std::int32_t>(at - phase);
  const auto end = static_cast<std::int32_t>(run - within + phase);
  const std::uint32_t first = within == 0 ? phase : 0;
  const bool is_whole = first == 0 && end >= 4;
  target.store(valid && is_whole, offset, word);
  TTLG_UNROLL
  for (std::uint32_t byte = 0; byte < 4; byte += kWidth) {
    target.store(valid && !is_whole && byte >= first && static_cast<std::int32_t>(byte) < end,
                 offset + byte, static_cast<Word<kWidth>>(word >> (8 * byte)));
  }
}

// Writes a slice in shared memory to the output whose runs are whole words.
template <int kWidth, typename Items, typename Context>
TTLG_DEVICE void drain_aligned(const PackedArguments& p, const Context& context, const Items& items,
                               const BlockOrigin& to) {
  const Context target = context.at(0, to.out);
  const std::uint32_t valid = items.out_valid.at(to);
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWords; first += kGroup) {
    if (first >= p.out.words_of_thread) break;
    TTLG_UNROLL
    for (std::uint32_t k = first; k < first + kGroup; ++k) {
      target.store(has_bit(valid, k), opaque(items.out_offset[k]),
                   gather_word<kWidth>(context, items, k));
    }
  }
}

// The same where runs begin and end anywhere.
template <int kWidth, typename Items, typename Context>
TTLG_DEVICE void drain_shifted(const PackedArguments& p, const Context& context, const Items& items,
                               const BlockOrigin& to) {
  const Context slice = context.at_shared(context.at(to.in, 0).in_phase());
  const std::uint32_t shift = context.at(0, to.out).out_phase();
  const Context target = context.at(0, to.out - shift);
  const std::uint32_t run = p.out.run_at(to);
  const std::uint32_t valid = items.out_valid.at(to);
  const std::uint32_t inner = run == p.out.run ? valid & items.out_valid.marks() : 0;
  TTLG_UNROLL
  for (std::uint32_t first = 0; first < Items::kWords; first += kGroup) {
    if (first >= p.out.words_of_thread) break;
    std::uint32_t at[kGroup];
    std::uint32_t word[kGroup];
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) {
      word[k] = gather_word<kWidth>(slice, items, first + k);
    }
    TTLG_UNROLL
    for (std::uint32_t k = 0; k < kGroup; ++k) {
      at[k] = static_cast<std::uint32_t>(opaque(items.out_offset[first + k])) + shift;
      const std::uint32_t before = context.shuffle(word[k], context.thread() - 1);
      word[k] = last_bytes(before, word[k], at[k]);
      target.store(has_bit(inner, first + k), word_begin<Items>(at[k]), word[k]);
    }
    const std::uint32_t edges = (valid & ~inner) >> first & ((1u << kGroup) - 1);
    if (context.any(edges != 0)) {
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kGroup; ++k) {
        store_edges<kWidth>(p, target, first + k, has_bit(edges, k), run, at[k], word[k]);
      }
    }
  }
}

template <int kWidth, bool kAligned, int kModes, typename Context>
TTLG_DEVICE void orthogonal_arbitrary_packed(const Grid<kModes>& grid, const PackedArguments& p,
                                             const Context& context) {
  using Items = PackedItems<kWidth, kAligned>;
  Items items{};
  find_out_words<kWidth>(p, context, items);
  find_in_words<kWidth>(p, context, items);
  if ((p.layout.line_rotation | p.layout.page_rotation) != 0) {
    swizzle_all(p.layout, items.in_slots);
    swizzle_all(p.layout, items.out_slots);
  }
  items.keep();
  clear_buffers(context, p.all_buffer_bytes);
  SharedWalk walk(grid, p.coarsening, context);
  move_slices(
      walk, context, p.buffer_bytes,
      [&](const Context& empty, std::uint32_t i) { fill_packed(p, empty, items, walk.at(i)); },
      [&](const Context& full, std::uint32_t i) {
        if constexpr (kAligned) {
          drain_aligned<kWidth>(p, full, items, walk.at(i));
        } else {
          drain_shifted<kWidth>(p, full, items, walk.at(i));
        }
      });
}

}  // namespace ttlg::cuda
