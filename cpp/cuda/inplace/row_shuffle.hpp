// The row shuffle of C2R and R2C (Catanzaro et al., PPoPP 2014) in shared memory: C2R brings
// element j of row i to place d'_i(j) = ((i + j div b) mod m + j m) mod n (Eq. 24), and R2C brings
// it back. A block moves some rows, which it reads and writes once. On the one side they are moved
// in order, on the other by elements, at places in shared memory that follow from one another
// without a division or multiplication (section 4.4).
#pragma once

#include "cuda/inplace/piece.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// What a number of elements further means. With two values, the second is for steps that end in a
// further row than the first.
struct RowStep {
  std::uint32_t column;    // j, modulo n
  std::uint32_t in_block;  // j modulo b
  std::uint32_t turn[2];   // i + j div b, modulo m
  // d'_i(j); the second row is for steps with which i + j div b passes m.
  std::uint32_t place[2][2];
  std::uint32_t row[2];  // bytes of whole rows
};

struct RowShuffleArguments {
  std::int64_t rows;     // of all matrices
  FastDivisor height;    // m
  FastDivisor width;     // n
  FastDivisor32 block;   // b
  std::uint32_t stride;  // m modulo n
  std::uint32_t element_bytes;
  FastDivisor32 element_words;
  std::uint32_t rows_of_block;
  std::uint32_t phase;        // of the first row's address, modulo 16
  std::uint32_t whole_turns;  // in which all threads of a block take elements
  std::uint32_t last_turns;   // the same of the last block
  std::uint32_t threads;
  bool forward;                    // C2R
  std::uint32_t elements_at_once;  // by all threads of a block
  RowStep step;                    // from a thread's last one to its first the next time
  RowStep next;                    // by one element
};

// An element of a block's rows and its place there.
class RowPlace {
 public:
  // `first` is the first row's number, `element` counts from there, and so does `base`, in bytes of
  // shared memory.
  TTLG_DEVICE RowPlace(const RowShuffleArguments& p, std::int64_t first, std::uint32_t element,
                       std::uint32_t base)
      : p_(p),
        columns_(static_cast<std::uint32_t>(p.width.divisor())),
        rows_(static_cast<std::uint32_t>(p.height.divisor())) {
    const auto row = static_cast<std::uint32_t>(p.width.quotient(element));
    column_ = element - row * columns_;
    const std::uint32_t before = p.block.quotient(column_);
    in_block_ = column_ - before * p.block.divisor();
    const std::int64_t turned = first + row + before;
    turn_ = static_cast<std::uint32_t>(turned - p.height.quotient(turned) * p.height.divisor());
    const std::int64_t place = std::int64_t{in_block_} * p.stride + turn_;
    place_ = static_cast<std::uint32_t>(place - p.width.quotient(place) * p.width.divisor());
    row_ = base + row * columns_ * p.element_bytes;
  }

  // In bytes of shared memory.
  TTLG_DEVICE std::uint32_t slot() const { return swizzled(row_ + place_ * p_.element_bytes); }

  TTLG_DEVICE void advance(const RowStep& step) {
    column_ += step.column;
    const bool next_row = column_ >= columns_;
    if (next_row) column_ -= columns_;
    in_block_ += step.in_block;
    const bool next_block = in_block_ >= p_.block.divisor();
    if (next_block) in_block_ -= p_.block.divisor();
    const std::uint32_t one = opaque(next_block ? 1u : 0u);
    turn_ += (next_row ? step.turn[1] : step.turn[0]) + one;
    const bool unwinds = turn_ >= rows_;
    if (unwinds) turn_ -= rows_;
    const std::uint32_t onward = next_row ? step.place[0][1] : step.place[0][0];
    const std::uint32_t unwound = next_row ? step.place[1][1] : step.place[1][0];
    place_ = wrapped(place_ + (unwinds ? unwound : onward) + one, columns_);
    row_ += next_row ? step.row[1] : step.row[0];
  }

 private:
  const RowShuffleArguments& p_;
  std::uint32_t columns_;
  std::uint32_t rows_;
  std::uint32_t column_;
  std::uint32_t in_block_;
  std::uint32_t turn_;
  std::uint32_t place_;
  std::uint32_t row_;
};

// What a block moves: whole rows, of which a thread takes every so many elements, and of these the
// same words.
template <int kWidth>
struct RowBlock {
  std::int64_t first_row;
  std::int64_t begin;  // in bytes
  std::uint32_t bytes;
  std::uint32_t element;  // the thread's first
  std::uint32_t word;     // of each of its elements, in bytes
  std::uint32_t turns;    // of all threads to take elements, and of this one
  std::uint32_t own_turns;

  template <typename Context>
  TTLG_DEVICE RowBlock(const RowShuffleArguments& p, std::uint32_t in_word, const Context& context)
      : first_row(std::int64_t{context.block()} * p.rows_of_block) {
    const auto columns = static_cast<std::uint32_t>(p.width.divisor());
    const bool is_last = context.block() == context.blocks() - 1;
    const auto rows = is_last ? static_cast<std::uint32_t>(p.rows - first_row) : p.rows_of_block;
    begin = first_row * (std::int64_t{columns} * p.element_bytes);
    bytes = rows * columns * p.element_bytes;
    const std::uint32_t number = p.element_words.quotient(context.thread());
    word = (context.thread() - number * p.element_words.divisor()) * kWidth;
    element = number * in_word;
    const std::uint32_t whole = is_last ? p.last_turns : p.whole_turns;
    const std::uint32_t rest = rows * columns - whole * p.elements_at_once;
    turns = whole + (rest > 0 ? 1 : 0);
    own_turns = element < p.elements_at_once ? whole + (element < rest ? 1 : 0) : 0;
  }
};

// Elements that come one after another, together in a word.
template <int kWidth, int kPer>
struct Joined {
  Word<kWidth> element[kPer];

  Joined() = default;
  TTLG_DEVICE explicit Joined(Word<kWidth * kPer> word) {
    if constexpr (kPer == 1) {
      element[0] = word;
    } else {
      TTLG_UNROLL
      for (int e = 0; e < kPer; ++e) {
        element[e] = static_cast<Word<kWidth>>(word >> (8 * kWidth * e));
      }
    }
  }
  TTLG_DEVICE Word<kWidth * kPer> word() const {
    if constexpr (kPer == 1) {
      return element[0];
    } else {
      Word<kWidth * kPer> result = 0;
      TTLG_UNROLL
      for (int e = 0; e < kPer; ++e) {
        result |= static_cast<Word<kWidth * kPer>>(element[e]) << (8 * kWidth * e);
      }
      return result;
    }
  }
};

// Calls visit(element, place) for the elements of a thread's next word and steps on to the one
// after it.
template <int kPer, typename Visit>
TTLG_DEVICE void visit_elements(const RowShuffleArguments& p, RowPlace& place, const Visit& visit) {
  TTLG_UNROLL
  for (int e = 0; e < kPer; ++e) {
    visit(e, place);
    place.advance(e + 1 < kPer ? p.next : p.step);
  }
}

// From the rows in global memory to their places in shared memory, of which `base` is the first
// one's byte of the thread's words.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void scatter_elements(const RowShuffleArguments& p, const Context& context,
                                  std::uint32_t base, const RowBlock<kWidth>& block) {
  RowPlace place(p, block.first_row, block.element, base);
  Source from(context, block.begin + block.element * p.element_bytes + block.word);
  const SharedPlace shared = all_shared(context);
  const std::uint32_t step = opaque(p.elements_at_once * p.element_bytes);
  if constexpr (kCopiesAsynchronously<Word<kWidth>>) {
    for_turns(block.turns, block.own_turns, [&](bool valid) {
      shared.template copy_async<kWidth>(valid, from, place.slot());
      place.advance(p.step);
      from.advance(step);
    });
  } else {
    using Group = Word<kWidth * kPer>;
    const auto load = [&](bool valid) {
      const Group group = from.template load<Group>(valid);
      from.advance(step);
      return group;
    };
    const auto store = [&](bool valid, Group group) {
      const Joined<kWidth, kPer> joined(group);
      visit_elements<kPer>(p, place, [&](int e, const RowPlace& each) {
        shared.store(valid, joined.element[e], each.slot());
      });
    };
    for_batches<C2rPolicy::kBatch / kPer, Group>(block.turns, block.own_turns, load, store);
  }
}

// And back.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void gather_elements(const RowShuffleArguments& p, const Context& context,
                                 std::uint32_t base, const RowBlock<kWidth>& block) {
  RowPlace place(p, block.first_row, block.element, base);
  Target to(context, block.begin + block.element * p.element_bytes + block.word);
  const SharedPlace shared = all_shared(context);
  const std::uint32_t step = opaque(p.elements_at_once * p.element_bytes);
  for_turns(block.turns, block.own_turns, [&](bool valid) {
    Joined<kWidth, kPer> joined;
    visit_elements<kPer>(p, place, [&](int e, const RowPlace& each) {
      joined.element[e] = shared.template load<Word<kWidth>>(valid, each.slot());
    });
    to.store(valid, joined.word());
    to.advance(step);
  });
}

// kPer elements are loaded or stored in one word.
template <int kWidth, int kPer, bool kForward, typename Context>
TTLG_DEVICE void row_shuffle(const RowShuffleArguments& p, const Context& context) {
  const RowBlock<kWidth> block(p, kPer, context);
  const auto phase = static_cast<std::uint32_t>(block.begin + p.phase) % 16;
  const Piece<kWidth> piece(block.begin, phase, block.bytes);
  const std::uint32_t base = opaque(phase + block.word);
  if constexpr (kForward) {
    scatter_elements<kWidth, kPer>(p, context, base, block);
  } else {
    piece.fill(context, p.threads);
  }
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  if constexpr (kForward) {
    piece.drain(context, p.threads);
  } else {
    gather_elements<kWidth, kPer>(p, context, base, block);
  }
}

}  // namespace ttlg::cuda
