// Moving bytes between addresses that are aligned differently: loads and stores are of aligned
// words, and each word to be stored is cut out of two that were loaded.
#pragma once

#include "cuda/kernels/cursors.hpp"
#include "cuda/kernels/grid.hpp"

namespace ttlg::cuda {

// The bits of `low` and, above them, `high` from a bit on, counted modulo 32.
TTLG_DEVICE std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, std::uint32_t bit) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bit);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> (bit % 32));
#endif
}

// The bits of `high` and, below them, those of `low`, moved up by `bits` modulo 32, of which
// the low ones come out of `low`: with 0 it is `high`.
TTLG_DEVICE std::uint32_t funnel_shift_left(std::uint32_t low, std::uint32_t high,
                                            std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_l(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32 | low) << (bits % 32)) >> 32);
#endif
}

// The word that begins `from` bytes, less than a word, after `low` begins and ends in `high`.
TTLG_DEVICE std::uint32_t cut_out(std::uint32_t low, std::uint32_t high, std::uint32_t from) {
  return funnel_shift(low, high, 8 * from);
}

TTLG_DEVICE Word16 cut_out(const Word16& low, const Word16& high, std::uint32_t from) {
  const std::uint32_t part[8] = {low.part[0],  low.part[1],  low.part[2],  low.part[3],
                                 high.part[0], high.part[1], high.part[2], high.part[3]};
  std::uint32_t even[6];
  TTLG_UNROLL
  for (int i = 0; i < 6; ++i) even[i] = (from & 8) != 0 ? part[i + 2] : part[i];
  std::uint32_t any[5];
  TTLG_UNROLL
  for (int i = 0; i < 5; ++i) any[i] = (from & 4) != 0 ? even[i + 1] : even[i];
  Word16 result;
  TTLG_UNROLL
  for (int i = 0; i < 4; ++i) result.part[i] = funnel_shift(any[i], any[i + 1], 8 * from);
  return result;
}

// A lane's aligned word, and the one after it, which only the last lane of those that load
// neighbouring words has to load itself.
template <int kWidth>
struct WordPair {
  Word<kWidth> low;
  Word<kWidth> high;
};

template <int kWidth, typename Context>
TTLG_DEVICE WordPair<kWidth> load_pair(const Source<Context>& from, bool valid, bool is_last) {
  return {from.template load<Word<kWidth>>(valid),
          from.template load<Word<kWidth>>(valid && is_last, kWidth)};
}

template <typename Context>
TTLG_DEVICE std::uint32_t word_after(const Context& context, std::uint32_t low, std::uint32_t high,
                                     bool is_last) {
  const std::uint32_t next = context.shuffle(low, context.thread() + 1);
  return is_last ? high : next;
}

template <typename Context>
TTLG_DEVICE Word16 word_after(const Context& context, const Word16& low, const Word16& high,
                              bool is_last) {
  Word16 result;
  TTLG_UNROLL
  for (int i = 0; i < 4; ++i) {
    result.part[i] = word_after(context, low.part[i], high.part[i], is_last);
  }
  return result;
}

template <int kWidth, typename Context>
TTLG_DEVICE Word<kWidth> cut_out(const Context& context, const WordPair<kWidth>& pair, bool is_last,
                                 std::uint32_t from) {
  return cut_out(pair.low, word_after(context, pair.low, pair.high, is_last), from);
}

// What can be moved so of some bytes: whole words of the output, each of which lies in two of the
// input that are inside the bytes themselves. What is left at both ends is less than three words.
template <int kWidth>
struct ShiftedWords {
  std::uint32_t head;   // bytes before the first
  std::uint32_t shift;  // bytes from an aligned word of the input to one of these
  std::int64_t count;

  // `in` and `out` are addresses, or what is left of them modulo a word.
  TTLG_DEVICE ShiftedWords(std::int64_t bytes, std::uint32_t in, std::uint32_t out)
      : head(-out % kWidth), shift((in - out) % kWidth) {
    if (head < shift) head += kWidth;
    const std::int64_t inner = bytes - head - (kWidth - shift);
    count = inner < 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(inner) / kWidth);
  }

  // Where the i-th byte lies that is left.
  TTLG_DEVICE std::int64_t left(std::uint32_t i) const { return i < head ? i : i + kWidth * count; }
};

}  // namespace ttlg::cuda
