#include <algorithm>
#include <array>
#include <span>

#include "cpu/inplace/passes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Rows of a band that are read at once, by all of its columns.
constexpr std::int64_t kRowsAtOnce = 64;
// Matrices above this size are streamed past the caches: the lines that were read have left them.
constexpr std::int64_t kStreamedFrom = 8 << 20;

// What bands have in common: the offsets of the rows in the order in which they are read, and once
// more from the first one on, as columns go on there.
class RowTable {
 public:
  RowTable(const PermutedMatrix& permuted, ColumnOrder order)
      : p_(permuted), offsets_(reinterpret_cast<std::int64_t*>(permuted.workspace)) {
    const std::int64_t m = p_.c2r.m;
    const std::int64_t row_bytes = p_.matrix.row_bytes();
    RowOrder q(p_.c2r, 0);
    for (std::int64_t i = 0; i < m; ++i, ++q) {
      // R2C reads backwards, as it moves columns down, the rows that q is for.
      const bool inverse = !p_.forward && order == ColumnOrder::shuffle;
      offsets_[inverse ? (m - *q) % m : i] = i * row_bytes;
    }
    for (std::int64_t i = m; i < row_order_entries(p_.c2r); ++i) offsets_[i] = offsets_[i - m];
  }

  const std::int64_t* from(std::int64_t row) const { return offsets_ + row; }

 private:
  const PermutedMatrix& p_;
  std::int64_t* offsets_;
};

// A band of columns: all of its rows are read, and then written in their new order, every column
// rotated by another number of rows. For the shuffle, rows wait in the workspace in such an order
// that those of column j are j rows further up (C2R), which moves between registers, and whole rows
// are permuted on the way back into the matrix. R2C, its inverse, permutes rows when it reads them.
class Band {
 public:
  Band(const PermutedMatrix& permuted, const RowTable& rows, ColumnOrder order, std::int64_t first,
       std::int64_t width)
      : p_(permuted),
        table_(rows),
        order_(order),
        first_(first),
        width_(width),
        pitch_(width * p_.matrix.element_bytes),
        rows_(p_.matrix.at(0, first)),
        workspace_(p_.own_workspace()) {}

  void permute() const {
    for (std::int64_t i = (p_.c2r.m - 1) / kRowsAtOnce * kRowsAtOnce; i >= 0; i -= kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, p_.c2r.m - i);
      if (order_ == ColumnOrder::shuffle) {
        read_skewed(i, count);
      } else {
        read_rotated(i, count);
      }
    }
    write();
  }

 private:
  // Requests the rows that are read from number i on.
  BlockPipeline request(std::int64_t i) const {
    BlockPipeline pipeline;
    if (i >= 0) {
      pipeline.prefetches = {.next = rows_,
                             .pieces = {table_.from(i), std::size_t{kRowsAtOnce}},
                             .piece_bytes = pitch_};
    }
    return pipeline;
  }

  // Element j of row i, in the order of reading, to row i - j of the workspace, modulo m.
  void read_skewed(std::int64_t i, std::int64_t count) const {
    const std::int64_t size = p_.matrix.element_bytes;
    BlockPipeline pipeline = request(i - kRowsAtOnce);
    const std::int64_t columns = std::min(p_.skew_columns, width_);
    for (std::int64_t j = 0; j < width_; j += columns) {
      // What does not fill the last vector is moved once more with what is before it.
      const std::int64_t column = std::min(j, width_ - columns);
      const std::int64_t to = floor_mod(i - column, p_.c2r.m);
      const std::int64_t before_end = std::min(count, p_.c2r.m - to);
      const auto skew = [&](std::int64_t from, std::int64_t row, std::int64_t rows) {
        p_.skew(rows_ + column * size, workspace_row(row) + column * size,
                {.in_rows = table_.from(from),
                 .out_step = pitch_,
                 .rows = rows,
                 .columns = columns,
                 .element_bytes = size,
                 .pipeline = &pipeline});
      };
      skew(i, to, before_end);
      if (before_end < count) skew(i + before_end, 0, count - before_end);
    }
  }

  // Columns of the same rotation (Eq. 23) are read together, into the rows where they belong.
  void read_rotated(std::int64_t i, std::int64_t count) const {
    BlockPipeline pipeline = request(i - kRowsAtOnce);
    p_.table.advance(pipeline, count * (pitch_ / kLineBytes + 1));
    const std::int64_t m = p_.c2r.m;
    for (std::int64_t j = 0; j < width_;) {
      const std::int64_t shift = (first_ + j) / p_.c2r.b;
      const std::int64_t end = std::min(width_, (shift + 1) * p_.c2r.b - first_);
      const std::int64_t at = j * p_.matrix.element_bytes;
      for (std::int64_t row = i; row < i + count; ++row) {
        const std::int64_t to = floor_mod(p_.forward ? row - shift : row + shift, m);
        std::copy_n(rows_ + row * p_.matrix.row_bytes() + at, end * p_.matrix.element_bytes - at,
                    workspace_row(to) + at);
      }
      j = end;
    }
  }

  // Row i of the matrix is row q(i) + first of the workspace, modulo m (C2R), or first - i.
  void write() const {
    const std::int64_t m = p_.c2r.m;
    const std::int64_t first = first_ % m;
    const bool streams = pitch_ >= kMinStreamedRunBytes && p_.matrix.bytes() > kStreamedFrom;
    RowOrder q(p_.c2r, 0);
    std::array<std::int64_t, kRowsAtOnce> from;
    std::array<std::int64_t, kRowsAtOnce> to;
    for (std::int64_t i = 0; i < m; i += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, m - i);
      for (std::int64_t k = 0; k < count; ++k, ++q) {
        std::int64_t row = i + k;
        if (order_ == ColumnOrder::shuffle) row = p_.forward ? *q + first - m : first - row;
        from[static_cast<std::size_t>(k)] = (row < 0 ? row + m : row) * pitch_;
        to[static_cast<std::size_t>(k)] = (i + k) * p_.matrix.row_bytes();
      }
      if (!streams) {
        move_rows(p_.table, workspace_, rows_, from.data(), to.data(), count, pitch_);
        continue;
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        p_.table.stream(rows_ + to[k], workspace_ + from[k], pitch_);
      }
    }
    if (streams) p_.table.fence();
  }

  std::byte* workspace_row(std::int64_t row) const { return workspace_ + row * pitch_; }

  const PermutedMatrix& p_;
  const RowTable& table_;
  const ColumnOrder order_;
  const std::int64_t first_;  // column
  const std::int64_t width_;
  const std::int64_t pitch_;  // bytes of a row
  std::byte* const rows_;
  std::byte* const workspace_;
};

// Where bands begin: at lines, if all rows begin at the same place of one.
class Bands {
 public:
  explicit Bands(const PermutedMatrix& permuted)
      : columns_(permuted.c2r.n), width_(permuted.width) {
    const std::int64_t size = permuted.matrix.element_bytes;
    const std::int64_t rest = kLineBytes - line_offset(permuted.matrix.data);
    if (permuted.matrix.row_bytes() % kLineBytes == 0 && rest % size == 0) {
      lead_ = std::min(rest / size % width_, columns_);
    }
  }

  std::int64_t count() const { return 1 + ceil_div(columns_ - lead_, width_); }
  // Of band 0 too, which is empty where there is no lead.
  std::int64_t begin(std::int64_t band) const {
    return band == 0 ? 0 : std::min(lead_ + (band - 1) * width_, columns_);
  }

 private:
  std::int64_t columns_;
  std::int64_t width_;
  std::int64_t lead_ = 0;
};

}  // namespace

void pass_over_columns(const PermutedMatrix& permuted, ColumnOrder order) {
  const RowTable rows(permuted, order);
  const Bands bands(permuted);
  const std::int64_t shares = shares_per_thread(permuted.matrix.bytes(), permuted.threads);
  parallel_ranges(permuted.threads, bands.count(), shares,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t band = begin; band < end; ++band) {
                      const std::int64_t first = bands.begin(band);
                      const std::int64_t width = bands.begin(band + 1) - first;
                      if (width > 0) Band(permuted, rows, order, first, width).permute();
                    }
                  });
}

}  // namespace ttlg::cpu
