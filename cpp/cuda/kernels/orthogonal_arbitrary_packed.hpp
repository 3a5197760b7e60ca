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

#include "cuda/kernels/packed_words.hpp"
#include "cuda/kernels/shifted.hpp"

namespace ttlg::cuda {

// Gathering a word may read what the last slices lack.
template <typename Context>
TTLG_DEVICE void clear_buffers(const Context& context, std::uint32_t bytes) {
  TTLG_UNROLL_BY(1)
  // [budget: 4 times] Two buffers of up to 16 KB.
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
TTLG_DEVICE void copy_words(const PackedArguments& p, const Context& context, const Items& items,
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
    copy_words<true>(p, context, items, from);
  } else {
    // [budget: rare] Slices cut along their runs, or at the end of the input.
    copy_words<false>(p, context, items, from);
  }
  context.commit_copies();
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

// Drains a slice whose runs begin and end anywhere.
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
      // It begins as many bytes before the thread's own as that lies beyond a word.
      word[k] = funnel_shift_left(before, word[k], 8 * at[k]);
      target.store(has_bit(inner, first + k), word_begin<Items>(at[k]), word[k]);
    }
    const std::uint32_t edges = (valid & ~inner) >> first & ((1u << kGroup) - 1);
    if (context.any(edges != 0)) {
      TTLG_UNROLL
      for (std::uint32_t k = 0; k < kGroup; ++k) {
        // [budget: rare] Words that a run begins or ends in.
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
