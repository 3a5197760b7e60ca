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
  std::uint32_t elements;
  std::uint32_t column;    // j, modulo n
  std::uint32_t in_block;  // j modulo b
  std::uint32_t turn[2];   // i + j div b, modulo m
  std::uint32_t place[2];  // d'_i(j), in bytes
  std::uint32_t row[2];    // bytes of whole rows
};

struct RowShuffleArguments {
  std::int64_t rows;            // of all matrices
  FastDivisor height;           // m
  FastDivisor width;            // n
  FastDivisor32 block;          // b
  std::uint32_t stride;         // m modulo n
  std::uint32_t unwound_place;  // what a turn by -m adds to a place, in bytes
  std::uint32_t element_bytes;
  FastDivisor32 element_words;
  std::uint32_t rows_of_block;
  std::uint32_t phase;  // of the first row's address, modulo 16
  std::uint32_t threads;
  bool forward;  // C2R
  RowStep step;  // of all threads of a block
  RowStep next;  // by one element
};

// An element of a block's rows and its place there.
class RowPlace {
 public:
  // `first` is the first row's number, `element` counts from there.
  TTLG_DEVICE RowPlace(const RowShuffleArguments& p, std::int64_t first, std::uint32_t element)
      : p_(p),
        columns_(static_cast<std::uint32_t>(p.width.divisor())),
        rows_(static_cast<std::uint32_t>(p.height.divisor())),
        row_bytes_(columns_ * p.element_bytes) {
    const auto row = static_cast<std::uint32_t>(p.width.quotient(element));
    column_ = element - row * columns_;
    const std::uint32_t before = p.block.quotient(column_);
    in_block_ = column_ - before * p.block.divisor();
    const std::int64_t turned = first + row + before;
    turn_ = static_cast<std::uint32_t>(turned - p.height.quotient(turned) * p.height.divisor());
    const std::int64_t place = std::int64_t{in_block_} * p.stride + turn_;
    place_ = static_cast<std::uint32_t>(place - p.width.quotient(place) * p.width.divisor()) *
             p.element_bytes;
    row_ = row * row_bytes_;
  }

  // In bytes from the first row's beginning.
  TTLG_DEVICE std::uint32_t offset() const { return row_ + place_; }

  TTLG_DEVICE void advance(const RowStep& step) {
    column_ += step.column;
    const bool next_row = column_ >= columns_;
    if (next_row) column_ -= columns_;
    in_block_ += step.in_block;
    const bool next_block = in_block_ >= p_.block.divisor();
    if (next_block) in_block_ -= p_.block.divisor();
    turn_ += (next_row ? step.turn[1] : step.turn[0]) + (next_block ? 1 : 0);
    const bool unwinds = turn_ >= rows_;
    if (unwinds) turn_ -= rows_;
    place_ += (next_row ? step.place[1] : step.place[0]) + (next_block ? p_.element_bytes : 0);
    if (place_ >= row_bytes_) place_ -= row_bytes_;
    if (unwinds) place_ += p_.unwound_place;
    if (place_ >= row_bytes_) place_ -= row_bytes_;
    row_ += next_row ? step.row[1] : step.row[0];
  }

 private:
  const RowShuffleArguments& p_;
  std::uint32_t columns_;
  std::uint32_t rows_;
  std::uint32_t row_bytes_;
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
  int elements;
  int left;  // from the thread's first on, none for a thread too many

  template <typename Context>
  TTLG_DEVICE RowBlock(const RowShuffleArguments& p, int in_word, const Context& context)
      : first_row(std::int64_t{context.block()} * p.rows_of_block) {
    const auto columns = static_cast<std::uint32_t>(p.width.divisor());
    const std::int64_t rest = p.rows - first_row;
    const auto rows =
        static_cast<std::uint32_t>(rest < p.rows_of_block ? rest : std::int64_t{p.rows_of_block});
    begin = first_row * (std::int64_t{columns} * p.element_bytes);
    elements = static_cast<int>(rows * columns);
    bytes = static_cast<std::uint32_t>(elements) * p.element_bytes;
    const std::uint32_t number = p.element_words.quotient(context.thread());
    word = (context.thread() - number * p.element_words.divisor()) * kWidth;
    element = number * static_cast<std::uint32_t>(in_word);
    left = element < p.step.elements ? elements - static_cast<int>(element) : 0;
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

// Calls visit(place) for the elements of a thread's next word and steps on to the one after it.
template <int kPer, typename Visit>
TTLG_DEVICE void visit_elements(const RowShuffleArguments& p, RowPlace& place, const Visit& visit) {
  RowPlace each = place;
  TTLG_UNROLL
  for (int e = 0; e < kPer; ++e) {
    if (e > 0) each.advance(p.next);
    visit(e, each);
  }
  place.advance(p.step);
}

// From the rows in global memory to their places in shared memory.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void scatter_elements(const RowShuffleArguments& p, const Context& context,
                                  const Piece<kWidth>& piece, RowBlock<kWidth> block) {
  RowPlace place(p, block.first_row, block.element);
  const int step = static_cast<int>(p.step.elements);
  std::int64_t from = block.begin + block.element * p.element_bytes + block.word;
  const std::uint32_t step_bytes = p.step.elements * p.element_bytes;
  if constexpr (kCopiesAsynchronously<Word<kWidth>>) {
    TTLG_UNROLL_BY(4)
    for (int all = block.elements; all > 0; all -= step) {
      context.template copy_async<kWidth>(block.left > 0, piece.slot(place.offset() + block.word),
                                          from);
      place.advance(p.step);
      from += step_bytes;
      block.left -= step;
    }
  } else {
    constexpr int kBatch = C2rPolicy::kBatch;
    for (int all = block.elements; all > 0; all -= kBatch * step) {
      Word<kWidth * kPer> held[kBatch];
      TTLG_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        held[i] = context.template load<Word<kWidth * kPer>>(block.left > i * step, from);
        from += step_bytes;
      }
      TTLG_UNROLL
      for (int i = 0; i < kBatch; ++i) {
        const Joined<kWidth, kPer> joined(held[i]);
        visit_elements<kPer>(p, place, [&](int e, const RowPlace& each) {
          context.shared_store(block.left > 0, piece.slot(each.offset() + block.word),
                               joined.element[e]);
        });
        block.left -= step;
      }
    }
  }
}

// And back.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void gather_elements(const RowShuffleArguments& p, const Context& context,
                                 const Piece<kWidth>& piece, RowBlock<kWidth> block) {
  RowPlace place(p, block.first_row, block.element);
  const int step = static_cast<int>(p.step.elements);
  std::int64_t to = block.begin + block.element * p.element_bytes + block.word;
  const std::uint32_t step_bytes = p.step.elements * p.element_bytes;
  TTLG_UNROLL_BY(4)
  for (int all = block.elements; all > 0; all -= step) {
    Joined<kWidth, kPer> joined;
    visit_elements<kPer>(p, place, [&](int e, const RowPlace& each) {
      joined.element[e] = context.template shared_load<Word<kWidth>>(
          block.left > 0, piece.slot(each.offset() + block.word));
    });
    context.store(block.left > 0, to, joined.word());
    to += step_bytes;
    block.left -= step;
  }
}

// kPer elements are loaded or stored in one word.
template <int kWidth, int kPer, bool kForward, typename Context>
TTLG_DEVICE void row_shuffle(const RowShuffleArguments& p, const Context& context) {
  const RowBlock<kWidth> block(p, kPer, context);
  const auto phase = static_cast<std::uint32_t>(block.begin + p.phase) % 16;
  const Piece<kWidth> piece(block.begin, phase, block.bytes);
  if constexpr (kForward) {
    scatter_elements<kWidth, kPer>(p, context, piece, block);
  } else {
    piece.fill(context, p.threads);
  }
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  if constexpr (kForward) {
    piece.drain(context, p.threads);
  } else {
    gather_elements<kWidth, kPer>(p, context, piece, block);
  }
}

}  // namespace ttlg::cuda
