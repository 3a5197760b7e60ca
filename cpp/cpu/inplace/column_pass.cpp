#include <algorithm>
#include <array>
#include <span>

#include "cpu/inplace/passes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Rows of a band that are read at once, by all of its columns.
constexpr std::int64_t kRowsAtOnce = 128;

using RowOffsets = std::array<std::int64_t, kRowsAtOnce>;

// What bands have in common: how they are written, and the offsets of the rows in the order in
// which they are taken for their columns to be rotated, and once more from the first one on, as
// columns go on there.
class RowTable {
 public:
  RowTable(const PermutedMatrix& permuted, ColumnOrder order)
      : pitch_(permuted.width * permuted.matrix.element_bytes),
        streams_(pitch_ >= kMinStreamedRunBytes && permuted.matrix.bytes() > kMaxCachedBytes),
        writes_skewed_(!permuted.forward && order == ColumnOrder::shuffle && !streams_),
        offsets_(reinterpret_cast<std::int64_t*>(permuted.workspace)) {
    const std::int64_t m = permuted.c2r.m;
    const std::int64_t row_bytes = writes_skewed_ ? pitch_ : permuted.matrix.row_bytes();
    // R2C takes the rows that q is for, backwards, as it moves columns down.
    const bool inverse = !permuted.forward && order == ColumnOrder::shuffle;
    RowOrder q(permuted.c2r, 0);
    for (std::int64_t i = 0; i < m; ++i, ++q) {
      offsets_[inverse ? (m - *q) % m : i] = i * row_bytes;
    }
    for (std::int64_t i = m; i < row_order_entries(permuted.c2r); ++i) {
      offsets_[i] = offsets_[i - m];
    }
  }

  std::int64_t pitch() const { return pitch_; }  // of rows in the workspace
  bool streams() const { return streams_; }
  // Whether columns are rotated on their way back into the matrix, and not on the way out of it.
  bool writes_skewed() const { return writes_skewed_; }
  const std::int64_t* from(std::int64_t row) const { return offsets_ + row; }

 private:
  const std::int64_t pitch_;
  const bool streams_;
  const bool writes_skewed_;
  std::int64_t* const offsets_;
};

// A band of columns: all of its rows are read, and then written in their new order, every column
// rotated by another number of rows. For the shuffle, rows wait in the workspace in such an order
// that those of column j are j rows further up (C2R), which moves between registers, and whole rows
// are permuted on the way back into the matrix. R2C, its inverse, permutes rows when it reads them,
// or reads them as they are and does both when it writes them, unless they are streamed.
class Band {
 public:
  Band(const PermutedMatrix& permuted, const RowTable& rows, ColumnOrder order, std::int64_t first,
       std::int64_t width)
      : p_(permuted),
        table_(rows),
        order_(order),
        first_(first),
        width_(width),
        bytes_(width * p_.matrix.element_bytes),
        rows_(p_.matrix.at(0, first)),
        workspace_(p_.own_workspace()) {}

  void permute() const {
    if (order_ == ColumnOrder::rotation) {
      for_blocks([&](std::int64_t i, std::int64_t count) { read_rotated(i, count); });
    } else if (table_.writes_skewed()) {
      for_blocks([&](std::int64_t i, std::int64_t count) { read_straight(i, count); });
      for_blocks([&](std::int64_t i, std::int64_t count) { write_skewed(i, count); });
      return;
    } else {
      for_blocks([&](std::int64_t i, std::int64_t count) { read_skewed(i, count); });
    }
    write();
  }

 private:
  // Calls work(first row, rows) for all rows, the last ones first.
  template <typename Work>
  void for_blocks(const Work& work) const {
    const std::int64_t m = p_.c2r.m;
    for (std::int64_t i = (m - 1) / kRowsAtOnce * kRowsAtOnce; i >= 0; i -= kRowsAtOnce) {
      work(i, std::min(kRowsAtOnce, m - i));
    }
  }

  // Requests the rows of the block after the one from row i on.
  PrefetchQueue after(std::int64_t i) const {
    if (i < kRowsAtOnce) return {};
    return {.next = rows_,
            .ranges = {table_.from(i - kRowsAtOnce), std::size_t{kRowsAtOnce}},
            .range_bytes = bytes_};
  }

  // As many columns at a time as a vector has. What does not fill the last one is moved once more
  // with what is before it.
  template <typename Work>
  void for_columns(const Work& work) const {
    const std::int64_t columns = std::min(p_.skew_columns, width_);
    for (std::int64_t j = 0; j < width_; j += columns) {
      work(std::min(j, width_ - columns), columns);
    }
  }

  // Element j of row i, in the order of the table, to row i - j of the workspace, modulo m.
  void read_skewed(std::int64_t i, std::int64_t count) const {
    const std::int64_t m = p_.c2r.m;
    PrefetchQueue prefetches = after(i);
    for_columns([&](std::int64_t column, std::int64_t columns) {
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t to = floor_mod(i + done - column, m);
        const std::int64_t rows = std::min(count - done, m - to);
        skew(rows_, i + done, workspace_row(to), table_.pitch(), rows, column, columns, prefetches);
        done += rows;
      }
    });
  }

  // Element j of row i, in the order of the table, to row first - (i - j) of the matrix.
  void write_skewed(std::int64_t i, std::int64_t count) const {
    PrefetchQueue none;
    for_columns([&](std::int64_t column, std::int64_t columns) {
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t to = floor_mod(first_ + column - i - done, p_.c2r.m);
        const std::int64_t rows = std::min(count - done, to + 1);
        skew(workspace_, i + done, matrix_row(to), -p_.matrix.row_bytes(), rows, column, columns,
             none);
        done += rows;
      }
    });
  }

  // Some columns of `rows` rows, from row i of the table on.
  void skew(const std::byte* in, std::int64_t i, std::byte* out, std::int64_t out_step,
            std::int64_t rows, std::int64_t column, std::int64_t columns,
            PrefetchQueue& prefetches) const {
    const std::int64_t size = p_.matrix.element_bytes;
    p_.skew(in + column * size, out + column * size,
            {.in_rows = table_.from(i),
             .out_step = out_step,
             .rows = rows,
             .columns = columns,
             .element_bytes = size,
             .prefetches = &prefetches});
  }

  void read_straight(std::int64_t i, std::int64_t count) const {
    RowOffsets from;
    RowOffsets to;
    for (std::int64_t k = 0; k < count; ++k) {
      from[static_cast<std::size_t>(k)] = (i + k) * p_.matrix.row_bytes();
      to[static_cast<std::size_t>(k)] = (i + k) * table_.pitch();
    }
    BlockPipeline pipeline;
    if (i >= kRowsAtOnce) {
      pipeline.prefetches = {
          .next = matrix_row(i - kRowsAtOnce) - from[0], .ranges = from, .range_bytes = bytes_};
    }
    move_rows(p_.table, rows_, workspace_, from.data(), to.data(), count, bytes_, pipeline);
  }

  // Columns of the same rotation (Eq. 23) are read together, into the rows where they belong.
  void read_rotated(std::int64_t i, std::int64_t count) const {
    BlockPipeline pipeline{.prefetches = after(i)};
    p_.table.advance(pipeline, count * (bytes_ / kLineBytes + 1));
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
    BlockPipeline idle;
    RowOrder q(p_.c2r, 0);
    RowOffsets from;
    RowOffsets to;
    for (std::int64_t i = 0; i < m; i += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, m - i);
      for (std::int64_t k = 0; k < count; ++k, ++q) {
        std::int64_t row = i + k;
        if (order_ == ColumnOrder::shuffle) row = p_.forward ? *q + first - m : first - row;
        from[static_cast<std::size_t>(k)] = (row < 0 ? row + m : row) * table_.pitch();
        to[static_cast<std::size_t>(k)] = (i + k) * p_.matrix.row_bytes();
      }
      if (!table_.streams()) {
        move_rows(p_.table, workspace_, rows_, from.data(), to.data(), count, bytes_, idle);
        continue;
      }
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        request_ends(i + static_cast<std::int64_t>(k) + kRowsAtOnce);
        p_.table.stream(rows_ + to[k], workspace_ + from[k], bytes_);
      }
    }
    if (table_.streams()) p_.table.fence();
  }

  // Of a row that is streamed later: partial lines are read before they are written, whole ones
  // never.
  void request_ends(std::int64_t row) const {
    if (row >= p_.c2r.m) return;
    const std::byte* const first = matrix_row(row);
    if (line_offset(first) != 0) __builtin_prefetch(first, 1);
    if (line_offset(first + bytes_) != 0) __builtin_prefetch(first + bytes_ - 1, 1);
  }

  std::byte* matrix_row(std::int64_t row) const { return rows_ + row * p_.matrix.row_bytes(); }
  std::byte* workspace_row(std::int64_t row) const { return workspace_ + row * table_.pitch(); }

  const PermutedMatrix& p_;
  const RowTable& table_;
  const ColumnOrder order_;
  const std::int64_t first_;  // column
  const std::int64_t width_;
  const std::int64_t bytes_;  // of a row
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
