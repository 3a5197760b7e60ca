#include <algorithm>
#include <array>
#include <span>

#include "cpu/inplace/passes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Rows of a band that are moved by one call of a kernel, and how far ahead they are requested from
// memory, which does not foresee steps of a row.
constexpr std::int64_t kRowsAtOnce = 32;
constexpr std::int64_t kRowsAhead = 64;
// Matrices above this size are streamed past the caches: the lines that were read have left them.
constexpr std::int64_t kStreamedFrom = 8 << 20;

using RowOffsets = std::array<std::int64_t, kRowsAtOnce>;

RowOffsets multiples(std::int64_t step) {
  RowOffsets offsets;
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    offsets[k] = static_cast<std::int64_t>(k) * step;
  }
  return offsets;
}

// A band of columns. All of its rows are read and then written in their new order, every column
// rotated by another number of rows. On the way into the workspace (C2R) or out of it (R2C) the
// elements of column j move up or down by shift(j) rows, for which the workspace goes on above its
// first row; the other way whole rows are permuted. So neither jumps between single elements.
class Band {
 public:
  Band(const PermutedMatrix& permuted, ColumnOrder order, std::int64_t first, std::int64_t width)
      : p_(permuted),
        order_(order),
        first_(first),
        width_(width),
        pitch_(width * p_.matrix.element_bytes),
        rows_(p_.matrix.at(0, first)),
        workspace_(p_.own_workspace() + (width - 1) * pitch_),
        matrix_steps_(multiples(p_.matrix.row_bytes())),
        workspace_steps_(multiples(pitch_)) {}

  void permute() const {
    if (p_.forward) {
      move_skewed();
      join_above();
      move_permuted();
    } else {
      move_permuted();
      repeat_above();
      move_skewed();
    }
  }

 private:
  // By how many rows column j is rotated (Eqs. 23 and 32), counted from the band's first one.
  std::int64_t shift(std::int64_t j) const {
    return order_ == ColumnOrder::shuffle ? j : (first_ + j) / p_.c2r.b - first_ / p_.c2r.b;
  }

  // Requests the rows of the matrix that are read after those from row i on.
  BlockPipeline rows_ahead(std::int64_t i, std::int64_t count) const {
    BlockPipeline pipeline;
    if (i + kRowsAhead + count <= p_.c2r.m) {
      pipeline.prefetches = {
          .next = rows_ + (i + kRowsAhead) * p_.matrix.row_bytes(),
          .pieces = std::span(matrix_steps_).first(static_cast<std::size_t>(count)),
          .piece_bytes = pitch_};
    }
    return pipeline;
  }

  // Row i of the matrix is row i + turn of the workspace, modulo m, or q(i) + turn.
  void move_permuted() const {
    const std::int64_t m = p_.c2r.m;
    const bool permutes = order_ == ColumnOrder::shuffle;
    const std::int64_t turn = (permutes ? first_ : first_ / p_.c2r.b) % m;
    const bool streams =
        p_.forward && pitch_ >= kMinStreamedRunBytes && p_.matrix.bytes() > kStreamedFrom;
    RowOrder q(p_.c2r, 0);
    RowOffsets places;
    for (std::int64_t i = 0; i < m; i += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, m - i);
      for (std::int64_t k = 0; k < count; ++k, ++q) {
        const std::int64_t row = (permutes ? *q : i + k) + turn;
        places[static_cast<std::size_t>(k)] = (row < m ? row : row - m) * pitch_;
      }
      std::byte* const rows = rows_ + i * p_.matrix.row_bytes();
      if (streams) {
        for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
          p_.table.stream(rows + matrix_steps_[k], workspace_ + places[k], pitch_);
        }
      } else if (p_.forward) {
        move_rows(p_.table, workspace_, rows, places.data(), matrix_steps_.data(), count, pitch_);
      } else {
        move_rows(p_.table, rows, workspace_, matrix_steps_.data(), places.data(), count, pitch_,
                  rows_ahead(i, count));
      }
    }
    if (streams) p_.table.fence();
  }

  // Element j of row i of the matrix is in row i - shift(j) of the workspace.
  void move_skewed() const {
    const std::int64_t size = p_.matrix.element_bytes;
    std::array<std::int64_t, kMaxBandColumns> skewed;
    std::array<std::int64_t, kMaxBandColumns> straight;
    for (std::int64_t j = 0; j < width_; ++j) {
      skewed[static_cast<std::size_t>(j)] = j * size - shift(j) * pitch_;
      straight[static_cast<std::size_t>(j)] = j * size;
    }
    const BlockOffsets in{matrix_steps_.data(), straight.data(), workspace_steps_.data(),
                          skewed.data()};
    const BlockOffsets out{in.out_by_in, in.out_by_out, in.in_by_in, in.in_by_out};
    // No more rows than columns, so that the kernel moves along rows.
    const std::int64_t rows_at_once = std::min(kRowsAtOnce, width_);
    for (std::int64_t i = 0; i < p_.c2r.m; i += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, p_.c2r.m - i);
      std::byte* const rows = rows_ + i * p_.matrix.row_bytes();
      std::byte* const place = workspace_ + i * pitch_;
      if (p_.forward) {
        move_block(p_.move, rows, place, in, count, width_, size, rows_ahead(i, count));
      } else {
        move_block(p_.move, place, rows, out, count, width_, size);
      }
    }
  }

  // What has moved up beyond the first row belongs to the last ones.
  void join_above() const {
    const std::int64_t size = p_.matrix.element_bytes;
    for (std::int64_t j = 0; j < width_; ++j) {
      for (std::int64_t row = -shift(j); row < std::min<std::int64_t>(0, p_.c2r.m - shift(j));
           ++row) {
        std::copy_n(workspace_ + row * pitch_ + j * size, size,
                    workspace_ + floor_mod(row, p_.c2r.m) * pitch_ + j * size);
      }
    }
  }

  // The last rows once more, above the first.
  void repeat_above() const {
    for (std::int64_t row = -shift(width_ - 1); row < 0; ++row) {
      std::copy_n(workspace_ + floor_mod(row, p_.c2r.m) * pitch_, pitch_,
                  workspace_ + row * pitch_);
    }
  }

  const PermutedMatrix& p_;
  const ColumnOrder order_;
  const std::int64_t first_;  // column
  const std::int64_t width_;
  const std::int64_t pitch_;  // bytes of a row
  std::byte* const rows_;
  std::byte* const workspace_;
  const RowOffsets matrix_steps_;
  const RowOffsets workspace_steps_;
};

}  // namespace

void pass_over_columns(const PermutedMatrix& permuted, ColumnOrder order) {
  const std::int64_t n = permuted.c2r.n;
  const std::int64_t width = permuted.width;
  const std::int64_t shares = shares_per_thread(permuted.matrix.bytes(), permuted.threads);
  parallel_ranges(
      permuted.threads, ceil_div(n, width), shares, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t first = begin * width; first < std::min(end * width, n); first += width) {
          Band(permuted, order, first, std::min(width, n - first)).permute();
        }
      });
}

}  // namespace ttlg::cpu
