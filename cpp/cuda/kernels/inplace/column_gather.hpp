// The rotations and the column shuffle of C2R and R2C (Catanzaro et al., PPoPP 2014) for columns
// that are too tall for shared memory. Groups of neighbouring columns go to a workspace and from
// there, as they are, back into the array. A block writes some rows of a group, for which it reads
// as many and those among which its columns are rotated, all of them as wide as the group (section
// 4.5 has the same in two phases in place):
//
//   C2R  x'[q^-1(r)] = x[r + j]  for the group's columns j, every row modulo m
//   R2C  x'[r] = x[q^-1(r - j)]
//        x'[r] = x[r +- j div b], and x'[r] = x[r] on the way back
#pragma once

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// Rows q^-1(v) = (ceil(v / c) b^-1) mod a + (-v mod c) a (Eq. 34), for c = 1 and b = 1 v itself.
struct InverseOrder {
  FastDivisor32 c;
  FastDivisor a;
  std::uint32_t b_inverse;
  // Of a step by the rows that the threads of a block take at a time: v modulo c, and v div c
  // times b^-1 for steps without and with a carry.
  std::uint32_t in_c;
  std::uint32_t in_a[2];
};

// Rows of a group, shared by the threads of a block.
struct TileShare {
  FastDivisor32 accesses;  // of a row
  FastDivisor32 rows;      // at a time
  InverseOrder order;      // which rows of the matrix they are
};

// Where groups lie on one side, in bytes: in the array or, one after another, in the workspace.
struct GroupSide {
  std::int64_t first;
  std::int64_t number_step;  // from one group of a launch to the next
  std::int64_t matrix_step;
  std::int64_t group_step;  // from one group of a matrix to the next
  std::int64_t row_step;
};

struct ColumnGatherArguments {
  FastDivisor height;  // m
  std::uint32_t columns;
  std::uint32_t element_bytes;
  FastDivisor32 element_words;
  FastDivisor groups;        // of a matrix
  std::int64_t first_group;  // of all matrices' groups, the launch's first
  std::uint32_t group_columns;
  std::uint32_t group_bytes;
  std::int64_t first_column;  // of a matrix's first group, which may begin before the matrix
  GroupSide in;
  GroupSide out;
  FastDivisor32 tiles;  // of a group
  std::uint32_t tile_rows;
  FastDivisor32 rotation_columns;  // columns that are rotated alike
  bool rotates_back;
  std::int64_t lift;  // a multiple of m, not less than any rotation
  std::uint32_t access_bytes;
  TileShare fill;
  TileShare drain;
};

class InverseCursor {
 public:
  TTLG_DEVICE InverseCursor(const InverseOrder& order, std::uint32_t v)
      : order_(order), a_(static_cast<std::uint32_t>(order.a.divisor())) {
    const std::uint32_t quotient = order.c.quotient(v);
    in_c_ = v - quotient * order.c.divisor();
    const std::int64_t product = std::int64_t{quotient} * order.b_inverse;
    in_a_ = static_cast<std::uint32_t>(product - order.a.quotient(product) * a_);
  }

  TTLG_DEVICE std::uint32_t row() const {
    if (in_c_ == 0) return in_a_;
    return wrapped(in_a_ + order_.b_inverse, a_) + (order_.c.divisor() - in_c_) * a_;
  }

  TTLG_DEVICE void advance() {
    in_c_ += order_.in_c;
    const bool carries = in_c_ >= order_.c.divisor();
    if (carries) in_c_ -= order_.c.divisor();
    in_a_ = wrapped(in_a_ + (carries ? order_.in_a[1] : order_.in_a[0]), a_);
  }

 private:
  const InverseOrder& order_;
  std::uint32_t a_;
  std::uint32_t in_c_;
  std::uint32_t in_a_;
};

// A block's rows of a group.
struct GatherTile {
  std::int64_t number;  // of the group, in the launch
  std::int64_t matrix;
  std::int64_t group;            // in the matrix
  std::int64_t column;           // its first
  std::uint32_t first;           // row
  std::uint32_t rows;            // that are written
  std::uint32_t first_rotation;  // of the group's columns
  std::uint32_t last_rotation;

  template <typename Context>
  TTLG_DEVICE GatherTile(const ColumnGatherArguments& p, const Context& context) {
    number = p.tiles.quotient(context.block());
    const std::int64_t of_all = p.first_group + number;
    matrix = p.groups.quotient(of_all);
    group = of_all - matrix * p.groups.divisor();
    column = p.first_column + group * p.group_columns;
    const auto tile = static_cast<std::uint32_t>(context.block() - number * p.tiles.divisor());
    first = tile * p.tile_rows;
    const auto rest = static_cast<std::uint32_t>(p.height.divisor()) - first;
    rows = rest < p.tile_rows ? rest : p.tile_rows;
    const std::int64_t end = column + p.group_columns;
    const std::int64_t last = (end < p.columns ? end : std::int64_t{p.columns}) - 1;
    first_rotation =
        p.rotation_columns.quotient(static_cast<std::uint32_t>(column < 0 ? 0 : column));
    last_rotation = p.rotation_columns.quotient(static_cast<std::uint32_t>(last));
  }

  TTLG_DEVICE std::int64_t offset(const GroupSide& side) const {
    return side.first + number * side.number_step + matrix * side.matrix_step +
           group * side.group_step;
  }
};

// A thread's share: the same bytes of some of `count` rows, at equal distances.
struct TileRows {
  std::uint32_t row;     // the first
  std::uint32_t access;  // of a row
  std::uint32_t byte;
  std::uint32_t iterations;  // of all threads, and of this one
  std::uint32_t own_iterations;

  template <typename Context>
  TTLG_DEVICE TileRows(const ColumnGatherArguments& p, const TileShare& share,
                       const GatherTile& tile, std::uint32_t count, std::uint32_t width,
                       const Context& context) {
    row = share.accesses.quotient(context.thread());
    access = context.thread() - row * share.accesses.divisor();
    byte = access * width;
    const std::int64_t in_row = tile.column * p.element_bytes + byte;
    const bool is_any = 0 <= in_row && in_row < std::int64_t{p.columns} * p.element_bytes &&
                        row < share.rows.divisor() && row < count;
    const std::uint32_t rounded = count + share.rows.divisor() - 1;
    iterations = share.rows.quotient(rounded);
    own_iterations = is_any ? share.rows.quotient(rounded - row) : 0;
  }
};

template <int kWidth, int kAccess, typename Context>
TTLG_DEVICE void fill_tile_rows(const ColumnGatherArguments& p, const Context& context,
                                const GatherTile& tile) {
  const TileRows share(p, p.fill, tile, tile.rows + tile.last_rotation - tile.first_rotation,
                       kAccess, context);
  const std::int64_t m = p.height.divisor();
  // The row of the matrix that comes first, before these were permuted.
  const std::int64_t rotated = std::int64_t{tile.first} + share.row +
                               (p.rotates_back ? p.lift - std::int64_t{tile.last_rotation}
                                               : std::int64_t{tile.first_rotation});
  InverseCursor cursor(p.fill.order,
                       static_cast<std::uint32_t>(rotated - p.height.quotient(rotated) * m));
  const std::int64_t origin = tile.offset(p.in) + share.byte;
  const SharedCursor shared = all_shared(context);
  std::uint32_t offset = share.row * p.group_bytes + share.byte;
  const std::uint32_t step = p.fill.rows.divisor() * p.group_bytes;
  const auto store = [&](bool valid, Word<kAccess> word) {
    shared.store(valid, word, column_slot<kWidth>(offset));
    offset += step;
  };
  const auto from = [&] {
    const Source source(context, origin + cursor.row() * p.in.row_step);
    cursor.advance();
    return source;
  };
  if constexpr (kCopiesAsynchronously<Word<kAccess>>) {
    for_iterations(share.iterations, share.own_iterations, [&](bool valid) {
      shared.template copy_async<kAccess>(valid, from(), column_slot<kWidth>(offset));
      offset += step;
    });
  } else {
    for_batches<C2rPolicy::kBatch, Word<kAccess>>(
        share.iterations, share.own_iterations,
        [&](bool valid) { return from().template load<Word<kAccess>>(valid); }, store);
  }
}

template <int kWidth, typename Context>
TTLG_DEVICE void drain_tile_rows(const ColumnGatherArguments& p, const Context& context,
                                 const GatherTile& tile) {
  const TileRows share(p, p.drain, tile, tile.rows, kWidth, context);
  InverseCursor cursor(p.drain.order, tile.first + share.row);
  const std::int64_t origin = tile.offset(p.out) + share.byte;
  const SharedCursor shared = all_shared(context);
  const std::int64_t column = tile.column + p.element_words.quotient(share.access);
  const std::uint32_t rotation =
      p.rotation_columns.quotient(static_cast<std::uint32_t>(column < 0 ? 0 : column));
  const std::uint32_t further =
      p.rotates_back ? tile.last_rotation - rotation : rotation - tile.first_rotation;
  std::uint32_t offset = (share.row + further) * p.group_bytes + share.byte;
  const std::uint32_t step = p.drain.rows.divisor() * p.group_bytes;
  for_iterations(share.iterations, share.own_iterations, [&](bool valid) {
    const Target to(context, origin + cursor.row() * p.out.row_step);
    to.store(valid, shared.template load<Word<kWidth>>(valid, column_slot<kWidth>(offset)));
    cursor.advance();
    offset += step;
  });
}

// Rows are read by kAccess bytes and written by words.
template <int kWidth, int kAccess, typename Context>
TTLG_DEVICE void column_gather(const ColumnGatherArguments& p, const Context& context) {
  const GatherTile tile(p, context);
  fill_tile_rows<kWidth, kAccess>(p, context, tile);
  context.commit_copies();
  context.template wait_copies<0>();
  context.barrier();
  drain_tile_rows<kWidth>(p, context, tile);
}

}  // namespace ttlg::cuda
