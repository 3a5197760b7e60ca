// The row shuffle of C2R and R2C (Catanzaro et al., PPoPP 2014) in shared memory: C2R brings
// element j of row i to position d'_i(j) = ((i + j div b) mod m + j m) mod n (Eq. 24), and R2C
// brings it back. A block moves some rows, which it reads and writes once. On the one side they are
// moved in order, on the other by elements, at positions in shared memory that follow from one
// another without a division or multiplication (section 4.4).
#pragma once

#include "cuda/kernels/inplace/shared_run.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// What a number of elements further means. With two values, the second is for steps that end in a
// further row than the first.
struct RowStep {
  std::uint32_t column;          // j, modulo n
  std::uint32_t in_block;        // j modulo b
  std::uint32_t rotated_row[2];  // i + j div b, modulo m
  // d'_i(j); the second row is for steps with which i + j div b passes m.
  std::uint32_t position[2][2];
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
  std::uint32_t address;  // of the first row, modulo a line
  LineSwizzle swizzle;
  std::uint32_t whole_iterations;  // in which all threads of a block take elements
  std::uint32_t last_iterations;   // the same of the last block
  std::uint32_t threads;
  bool forward;                    // C2R
  std::uint32_t elements_at_once;  // by all threads of a block
  RowStep step;                    // from a thread's last one to its first the next time
  RowStep next;                    // by one element
};

// An element of a block's rows and its position there.
class ElementCursor {
 public:
  // `first` is the first row's number, `element` counts from there, and so does `base`, in bytes of
  // shared memory.
  TTLG_DEVICE ElementCursor(const RowShuffleArguments& p, std::int64_t first, std::uint32_t element,
                            std::uint32_t base)
      : p_(p),
        columns_(static_cast<std::uint32_t>(p.width.divisor())),
        rows_(static_cast<std::uint32_t>(p.height.divisor())) {
    const auto row = static_cast<std::uint32_t>(p.width.quotient(element));
    column_ = element - row * columns_;
    const std::uint32_t before = p.block.quotient(column_);
    in_block_ = column_ - before * p.block.divisor();
    const std::int64_t sum = first + row + before;
    rotated_row_ = static_cast<std::uint32_t>(sum - p.height.quotient(sum) * p.height.divisor());
    const std::int64_t position = std::int64_t{in_block_} * p.stride + rotated_row_;
    position_ =
        static_cast<std::uint32_t>(position - p.width.quotient(position) * p.width.divisor());
    row_ = base + row * columns_ * p.element_bytes;
  }

  // In bytes of shared memory.
  TTLG_DEVICE std::uint32_t slot() const { return p_.swizzle(row_ + position_ * p_.element_bytes); }

  TTLG_DEVICE void advance(const RowStep& step) {
    column_ += step.column;
    const bool next_row = column_ >= columns_;
    if (next_row) column_ -= columns_;
    in_block_ += step.in_block;
    const bool next_block = in_block_ >= p_.block.divisor();
    if (next_block) in_block_ -= p_.block.divisor();
    const std::uint32_t one = opaque(next_block ? 1u : 0u);
    rotated_row_ += (next_row ? step.rotated_row[1] : step.rotated_row[0]) + one;
    const bool unwinds = rotated_row_ >= rows_;
    if (unwinds) rotated_row_ -= rows_;
    const std::uint32_t onward = next_row ? step.position[0][1] : step.position[0][0];
    const std::uint32_t unwound = next_row ? step.position[1][1] : step.position[1][0];
    position_ = wrapped(position_ + (unwinds ? unwound : onward) + one, columns_);
    row_ += next_row ? step.row[1] : step.row[0];
  }

 private:
  const RowShuffleArguments& p_;
  std::uint32_t columns_;
  std::uint32_t rows_;
  std::uint32_t column_;
  std::uint32_t in_block_;
  std::uint32_t rotated_row_;
  std::uint32_t position_;
  std::uint32_t row_;
};

// What a block moves: whole rows, of which a thread takes elements at equal distances, and of these
// the same words.
template <int kWidth>
struct RowBlock {
  std::int64_t first_row;
  std::int64_t begin;  // in bytes
  std::uint32_t bytes;
  std::uint32_t element;     // the thread's first
  std::uint32_t word;        // of each of its elements, in bytes
  std::uint32_t iterations;  // of all threads to take elements, and of this one
  std::uint32_t own_iterations;

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
    const std::uint32_t whole = is_last ? p.last_iterations : p.whole_iterations;
    const std::uint32_t rest = rows * columns - whole * p.elements_at_once;
    iterations = whole + (rest > 0 ? 1 : 0);
    own_iterations = element < p.elements_at_once ? whole + (element < rest ? 1 : 0) : 0;
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

// Calls visit(element, cursor) for the elements of a thread's next word and steps on to the one
// after it.
template <int kPer, typename Visit>
TTLG_DEVICE void visit_elements(const RowShuffleArguments& p, ElementCursor& cursor,
                                const Visit& visit) {
  TTLG_UNROLL
  for (int e = 0; e < kPer; ++e) {
    visit(e, cursor);
    cursor.advance(e + 1 < kPer ? p.next : p.step);
  }
}

// From the rows in global memory to their positions in shared memory, of which `base` is the first
// one's byte of the thread's words.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void scatter_elements(const RowShuffleArguments& p, const Context& context,
                                  std::uint32_t base, const RowBlock<kWidth>& block) {
  ElementCursor cursor(p, block.first_row, block.element, base);
  Source from(context, block.begin + block.element * p.element_bytes + block.word);
  const SharedCursor shared = all_shared(context);
  const std::uint32_t step = opaque(p.elements_at_once * p.element_bytes);
  if constexpr (kCopiesAsynchronously<Word<kWidth>>) {
    for_iterations(block.iterations, block.own_iterations, [&](bool valid) {
      shared.template copy_async<kWidth>(valid, from, cursor.slot());
      cursor.advance(p.step);
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
      visit_elements<kPer>(p, cursor, [&](int e, const ElementCursor& each) {
        shared.store(valid, joined.element[e], each.slot());
      });
    };
    for_batches<C2rPolicy::kBatch / kPer, Group>(block.iterations, block.own_iterations, load,
                                                 store);
  }
}

// And back.
template <int kWidth, int kPer, typename Context>
TTLG_DEVICE void gather_elements(const RowShuffleArguments& p, const Context& context,
                                 std::uint32_t base, const RowBlock<kWidth>& block) {
  ElementCursor cursor(p, block.first_row, block.element, base);
  Target to(context, block.begin + block.element * p.element_bytes + block.word);
  const SharedCursor shared = all_shared(context);
  const std::uint32_t step = opaque(p.elements_at_once * p.element_bytes);
  for_iterations(block.iterations, block.own_iterations, [&](bool valid) {
    Joined<kWidth, kPer> joined;
    visit_elements<kPer>(p, cursor, [&](int e, const ElementCursor& each) {
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
  const SharedRun<kWidth> run(p.swizzle, block.begin, block.bytes, p.address);
  const std::uint32_t base = opaque(run.phase() + block.word);
  if constexpr (kForward) {
    scatter_elements<kWidth, kPer>(p, context, base, block);
  } else {
    run.fill(context, p.threads);
  }
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  if constexpr (kForward) {
    run.drain(context, p.threads);
  } else {
    gather_elements<kWidth, kPer>(p, context, base, block);
  }
}

}  // namespace ttlg::cuda
