// Matrices of few rows or columns in place (Catanzaro et al., PPoPP 2014, section 6.1): a block
// transposes a piece of the longer dimension in shared memory, and reads and writes it once. See
// plan/cuda/inplace/skinny.hpp for what pieces, cells and heads are.
//
//   skinny        makes cells of pieces, or pieces of cells, but for their heads
//   skinny_heads  moves the heads between the array and a workspace
//
// No block stores to what another one loads: cells lie up to the length of a head beyond the piece
// that they are made of, or that is made of them.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// Where pieces, or their cells, lie in memory. A matrix's cells are counted piece after piece, and
// lie in this order on both sides; the gap between two fields comes after `pieces` of them.
struct SkinnyLayout {
  FastDivisor pieces;  // of a matrix
  std::int64_t matrix_bytes;
  std::int64_t piece_bytes;
  std::int64_t cell_bytes;
  std::int64_t gap_bytes;
  FastDivisor32 fields;
  FastDivisor32 element_words;

  TTLG_DEVICE std::int64_t cell_offset(std::int64_t cell) const {
    return cell * cell_bytes + pieces.quotient(cell) * gap_bytes;
  }
};

struct SkinnyArguments {
  SkinnyLayout layout;
  std::uint32_t phase;       // of the array's address in a line
  std::uint32_t head_bytes;  // of a piece, and what a cell has of it
  std::uint32_t skipped_bytes;
  std::uint32_t piece_words;  // beyond the head
  std::uint32_t cell_words;   // the same of a cell
  std::uint32_t pitch;        // bytes of shared memory from one cell to the next
  std::uint32_t cell_shift;   // the logarithm of a cell's threads, which are whole warps
  bool forward;               // whether pieces come first
};

// Where a thread's word of an iteration is in shared memory.
struct SkinnySlot {
  bool valid;
  std::uint32_t byte;
};

// Words of a thread in global memory, `step` bytes apart.
struct SkinnyWords {
  std::int64_t offset;
  std::uint32_t step;
  std::uint32_t iterations;  // of all threads
};

// Fills at(0), at(1), ... with them.
template <int kWidth, typename Context, typename At>
TTLG_DEVICE void fill_slots(const Context& context, const SkinnyWords& words, const At& at) {
  const SharedCursor shared = all_shared(context);
  Source from(context, words.offset);
  if constexpr (kCopiesAsynchronously<Word<kWidth>>) {
    TTLG_UNROLL_BY(4)
    for (std::uint32_t i = 0; i < words.iterations; ++i) {
      const SkinnySlot slot = at(i);
      shared.template copy_async<kWidth>(slot.valid, from, slot.byte);
      from.advance(words.step);
    }
  } else {
    constexpr std::uint32_t kBatch = SkinnyPolicy::kBatch;
    for (std::uint32_t first = 0; first < words.iterations; first += kBatch) {
      Word<kWidth> held[kBatch];
      TTLG_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        held[i] = from.template load<Word<kWidth>>(at(first + i).valid);
        from.advance(words.step);
      }
      TTLG_UNROLL
      for (std::uint32_t i = 0; i < kBatch; ++i) {
        const SkinnySlot slot = at(first + i);
        shared.store(slot.valid, held[i], slot.byte);
      }
    }
  }
}

// And back.
template <int kWidth, typename Context, typename At>
TTLG_DEVICE void drain_slots(const Context& context, const SkinnyWords& words, const At& at) {
  const SharedCursor shared = all_shared(context);
  Target to(context, words.offset);
  TTLG_UNROLL_BY(4)
  for (std::uint32_t i = 0; i < words.iterations; ++i) {
    const SkinnySlot slot = at(i);
    to.store(slot.valid, shared.template load<Word<kWidth>>(slot.valid, slot.byte));
    to.advance(words.step);
  }
}

// What a block moves.
template <int kWidth>
class SkinnyPiece {
 public:
  template <typename Context>
  TTLG_DEVICE SkinnyPiece(const SkinnyArguments& p, const Context& context)
      : p_(p), thread_(context.thread()) {
    const std::int64_t matrix = p.layout.pieces.quotient(context.block());
    const std::int64_t number = context.block() - matrix * p.layout.pieces.divisor();
    matrix_ = matrix * p.layout.matrix_bytes;
    first_cell_ = number * p.layout.fields.divisor();
    begin_ = matrix_ + number * p.layout.piece_bytes + p.head_bytes;
  }

  // Calls move(words, where each is in shared memory) for the structures, whose warps begin with
  // lines.
  template <typename Move>
  TTLG_DEVICE void visit_structures(const Move& move) const {
    constexpr std::uint32_t kShift = std::bit_width(std::uint32_t{SkinnyPolicy::kThreads}) - 1;
    const std::uint32_t before = words_before(begin_);
    const std::uint32_t first = thread_ - before;
    move(words_of(begin_, first, kShift, before + p_.piece_words), [&](std::uint32_t i) {
      const std::uint32_t word = first + (i << kShift);
      const std::uint32_t element = p_.layout.element_words.quotient(word);
      const std::uint32_t structure = p_.layout.fields.quotient(element);
      const std::uint32_t field = element - structure * p_.layout.fields.divisor();
      // The words of a structure that come before those of its element.
      const std::uint32_t others = (element - structure) * p_.layout.element_words.divisor();
      return SkinnySlot{word < p_.piece_words, field * p_.pitch + (word - others) * kWidth};
    });
  }

  // Calls move for each cell that is the warp's.
  template <typename Move>
  TTLG_DEVICE void visit_cells(const Move& move) const {
    const std::uint32_t shift = p_.cell_shift;
    const std::uint32_t lane = thread_ & ((1u << shift) - 1);
    const std::uint32_t step = std::uint32_t{SkinnyPolicy::kThreads} >> shift;
    TTLG_UNROLL_BY(1)
    for (std::uint32_t field = thread_ >> shift; field < p_.layout.fields.divisor();
         field += step) {
      const std::int64_t origin =
          matrix_ + p_.layout.cell_offset(first_cell_ + field) + p_.skipped_bytes;
      const std::uint32_t before = words_before(origin);
      const std::uint32_t first = lane - before;
      const std::uint32_t slot = field * p_.pitch;
      move(words_of(origin, first, shift, before + p_.cell_words), [&](std::uint32_t i) {
        const std::uint32_t word = first + (i << shift);
        return SkinnySlot{word < p_.cell_words, slot + word * kWidth};
      });
    }
  }

 private:
  // From the beginning of the line.
  TTLG_DEVICE std::uint32_t words_before(std::int64_t offset) const {
    return (static_cast<std::uint32_t>(offset) + p_.phase) % kSharedLineBytes / kWidth;
  }

  // A thread's from the `first` on, which may be negative, where 2^shift threads share `count`.
  static TTLG_DEVICE SkinnyWords words_of(std::int64_t origin, std::uint32_t first,
                                          std::uint32_t shift, std::uint32_t count) {
    return {origin + std::int64_t{static_cast<std::int32_t>(first)} * kWidth,
            std::uint32_t{kWidth} << shift, (count + (1u << shift) - 1) >> shift};
  }

  const SkinnyArguments& p_;
  std::uint32_t thread_;
  std::int64_t matrix_;
  std::int64_t first_cell_;
  std::int64_t begin_;  // of the piece's structures
};

template <int kWidth, bool kForward, typename Context>
TTLG_DEVICE void skinny(const SkinnyArguments& p, const Context& context) {
  const SkinnyPiece<kWidth> piece(p, context);
  const auto fill = [&](const SkinnyWords& words, const auto& at) {
    fill_slots<kWidth>(context, words, at);
  };
  const auto drain = [&](const SkinnyWords& words, const auto& at) {
    drain_slots<kWidth>(context, words, at);
  };
  if constexpr (kForward) {
    piece.visit_structures(fill);
  } else {
    piece.visit_cells(fill);
  }
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  if constexpr (kForward) {
    piece.visit_cells(drain);
  } else {
    piece.visit_structures(drain);
  }
}

struct SkinnyHeadsArguments {
  SkinnyLayout layout;
  std::int64_t words;      // of all heads
  FastDivisor head_words;  // of a head
  FastDivisor heads;       // of a matrix: one for each piece, and what is left over
  std::uint32_t element_bytes;
  bool in_cells;  // where they lie in the array
  bool restores;  // from the workspace to the array
};

// Where a word of the heads, all of them structure after structure, lies in the array.
template <int kWidth>
TTLG_DEVICE std::int64_t head_offset(const SkinnyHeadsArguments& p, std::int64_t word) {
  const SkinnyLayout& layout = p.layout;
  const std::int64_t all = p.head_words.quotient(word);
  const auto in_head = static_cast<std::uint32_t>(word - all * p.head_words.divisor());
  const std::int64_t matrix = p.heads.quotient(all);
  const std::int64_t number = all - matrix * p.heads.divisor();
  const std::int64_t origin = matrix * layout.matrix_bytes;
  if (!p.in_cells) return origin + number * layout.piece_bytes + std::int64_t{in_head} * kWidth;
  const std::uint32_t element = layout.element_words.quotient(in_head);
  const std::uint32_t structure = layout.fields.quotient(element);
  const std::uint32_t field = element - structure * layout.fields.divisor();
  const std::uint32_t in_element = in_head - element * layout.element_words.divisor();
  const std::int64_t pieces = layout.pieces.divisor();
  // What is left over comes after all cells of its field.
  const std::int64_t cell =
      number == pieces ? (field + 1) * pieces * layout.cell_bytes + field * layout.gap_bytes
                       : layout.cell_offset(number * layout.fields.divisor() + field);
  return origin + cell + std::int64_t{structure} * p.element_bytes + in_element * kWidth;
}

template <int kWidth, typename Context>
TTLG_DEVICE void skinny_heads(const SkinnyHeadsArguments& p, const Context& context) {
  const std::int64_t word =
      std::int64_t{context.block()} * SkinnyPolicy::kThreads + context.thread();
  const bool valid = word < p.words;
  const std::int64_t in_array = head_offset<kWidth>(p, valid ? word : 0);
  const std::int64_t in_workspace = word * kWidth;
  const auto held =
      context.template load<Word<kWidth>>(valid, p.restores ? in_workspace : in_array);
  context.store(valid, p.restores ? in_array : in_workspace, held);
}

}  // namespace ttlg::cuda
