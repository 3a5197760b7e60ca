// The rotations and the column shuffle of C2R and R2C (Catanzaro et al., PPoPP 2014) in shared
// memory. A block moves a group of neighbouring columns, which it reads and writes once. Rows of
// the group are brought to the places where they are wanted as they are read, and columns are
// rotated as they are written:
//
//   C2R  x'[i] = x[(i + j div b) mod m]  (Eq. 23)     row i is kept in row i
//        x'[i] = x[(q(i) + j) mod m]     (Eqs. 32, 33)                      i
//   R2C  x'[i] = x[q^-1((i - j) mod m)]  (Eqs. 34, 35)                      q(i)
//        x'[i] = x[(i - j div b) mod m]  (Eq. 36)                           i
#pragma once

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// Rows (i * factor - i div period) mod m: i itself, or q(i) (Eq. 33).
struct RowSequence {
  std::uint32_t factor;
  FastDivisor32 period;
  // Of a step by the rows that the threads of a block take at a time: i modulo the period, and the
  // offset of the row in bytes, for steps that stay in a period and those that do not.
  std::uint32_t in_period;
  std::uint32_t offset[2];
};

// How the threads of a block share the rows of a group among them.
struct RowShare {
  FastDivisor32 accesses;    // of a row
  std::uint32_t rows;        // at a time
  std::uint32_t iterations;  // that this takes
  RowSequence sequence;      // their offsets in shared memory
};

struct ColumnShuffleArguments {
  FastDivisor height;  // m
  std::uint32_t element_bytes;
  FastDivisor32 element_words;
  std::int64_t row_bytes;
  std::int64_t matrix_bytes;
  FastDivisor32 groups;  // of a matrix
  std::uint32_t group_columns;
  std::uint32_t group_bytes;
  std::int64_t first_column;       // of the first group, which may begin before the matrix
  FastDivisor32 rotation_columns;  // columns that are rotated alike
  bool rotates_back;
  std::int64_t lift;  // a multiple of m that is more than is ever subtracted
  std::uint32_t access_bytes;
  RowShare fill;
  RowShare drain;
};

// The thread's rows of a group, and their offsets in shared memory.
class RowCursor {
 public:
  TTLG_DEVICE RowCursor(const ColumnShuffleArguments& p, const RowShare& share, std::uint32_t row,
                        std::int64_t rotation)
      : sequence_(share.sequence),
        end_(static_cast<std::uint32_t>(p.height.divisor()) * p.group_bytes) {
    const std::uint32_t periods = sequence_.period.quotient(row);
    in_period_ = row - periods * sequence_.period.divisor();
    const std::int64_t at = std::int64_t{row} * sequence_.factor - periods + rotation + p.lift;
    offset_ =
        static_cast<std::uint32_t>(at - p.height.quotient(at) * p.height.divisor()) * p.group_bytes;
  }

  TTLG_DEVICE std::uint32_t offset() const { return offset_; }

  TTLG_DEVICE void advance() {
    in_period_ += sequence_.in_period;
    const bool leaves = in_period_ >= sequence_.period.divisor();
    if (leaves) in_period_ -= sequence_.period.divisor();
    offset_ = wrapped(offset_ + (leaves ? sequence_.offset[1] : sequence_.offset[0]), end_);
  }

 private:
  const RowSequence& sequence_;
  std::uint32_t end_;
  std::uint32_t in_period_;
  std::uint32_t offset_;
};

// A thread's share of a group: the same bytes of rows at equal distances.
struct GroupShare {
  std::uint32_t row;    // the first
  std::uint32_t byte;   // of a row of the group
  std::int64_t column;  // of the array
  std::int64_t offset;  // of the first access
  std::uint32_t own_iterations;

  template <typename Context>
  TTLG_DEVICE GroupShare(const ColumnShuffleArguments& p, const RowShare& share, int width,
                         const Context& context) {
    row = share.accesses.quotient(context.thread());
    const std::uint32_t access = context.thread() - row * share.accesses.divisor();
    byte = access * static_cast<std::uint32_t>(width);
    const std::uint32_t matrix = p.groups.quotient(context.block());
    const std::uint32_t group = context.block() - matrix * p.groups.divisor();
    const std::int64_t first = p.first_column + std::int64_t{group} * p.group_columns;
    const std::int64_t in_row = first * p.element_bytes + byte;
    column = first + p.element_words.quotient(access);
    offset = matrix * p.matrix_bytes + row * p.row_bytes + in_row;
    const bool is_any = 0 <= in_row && in_row < p.row_bytes && row < share.rows;
    const bool is_in_last = row + (share.iterations - 1) * share.rows < p.height.divisor();
    own_iterations = is_any ? share.iterations - (is_in_last ? 0 : 1) : 0;
  }
};

template <int kWidth, int kAccess, typename Context>
TTLG_DEVICE void fill_group(const ColumnShuffleArguments& p, const Context& context) {
  const GroupShare share(p, p.fill, kAccess, context);
  RowCursor cursor(p, p.fill, share.row, 0);
  Source from(context, share.offset);
  const SharedCursor shared = all_shared(context);
  const std::int64_t step = opaque(p.fill.rows * p.row_bytes);
  const auto slot = [&] { return column_slot<kWidth>(cursor.offset() + share.byte); };
  if constexpr (kCopiesAsynchronously<Word<kAccess>>) {
    for_iterations(p.fill.iterations, share.own_iterations, [&](bool valid) {
      shared.template copy_async<kAccess>(valid, from, slot());
      cursor.advance();
      from.advance(step);
    });
  } else {
    const auto load = [&](bool valid) {
      const auto word = from.template load<Word<kAccess>>(valid);
      from.advance(step);
      return word;
    };
    const auto store = [&](bool valid, Word<kAccess> word) {
      shared.store(valid, word, slot());
      cursor.advance();
    };
    for_batches<C2rPolicy::kBatch, Word<kAccess>>(p.fill.iterations, share.own_iterations, load,
                                                  store);
  }
}

template <int kWidth, typename Context>
TTLG_DEVICE void drain_group(const ColumnShuffleArguments& p, const Context& context) {
  const GroupShare share(p, p.drain, kWidth, context);
  // Before the first column nothing is moved.
  const auto column = static_cast<std::uint32_t>(share.column < 0 ? 0 : share.column);
  const std::int64_t rotation = p.rotation_columns.quotient(column);
  RowCursor cursor(p, p.drain, share.row, p.rotates_back ? -rotation : rotation);
  Target to(context, share.offset);
  const SharedCursor shared = all_shared(context);
  const std::int64_t step = opaque(p.drain.rows * p.row_bytes);
  for_iterations(p.drain.iterations, share.own_iterations, [&](bool valid) {
    const std::uint32_t slot = column_slot<kWidth>(cursor.offset() + share.byte);
    to.store(valid, shared.template load<Word<kWidth>>(valid, slot));
    cursor.advance();
    to.advance(step);
  });
}

// Rows are read by kAccess bytes and written by words.
template <int kWidth, int kAccess, typename Context>
TTLG_DEVICE void column_shuffle(const ColumnShuffleArguments& p, const Context& context) {
  fill_group<kWidth, kAccess>(p, context);
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  drain_group<kWidth>(p, context);
}

}  // namespace ttlg::cuda
