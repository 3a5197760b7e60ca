#include "cpu/inplace/c2r.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "cpu/threads.hpp"
#include "tensor/c2r.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Rows of a band that are moved by one call of a kernel, and how far ahead they are requested from
// memory, which does not foresee steps of a row.
constexpr std::int64_t kRowsAtOnce = 32;
constexpr std::int64_t kRowsAhead = 64;
// Matrices above this size are streamed past the caches.
constexpr std::int64_t kStreamedFrom = 8 << 20;
// Of a band, at most.
constexpr std::int64_t kMostColumns = 1024;

// The passes of C2R and R2C over one matrix of m rows and n columns.
class C2rPasses {
 public:
  C2rPasses(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
            const Kernels& table)
      : c2r_(c2r_of(step)),
        forward_(step.kernel == InplaceKernel::c2r),
        apart_(rotates_apart(c2r_)),
        matrix_{data, c2r_.m, c2r_.n, step.element_bytes},
        width_(step.width),
        place_(step, threads),
        workspace_(workspace),
        threads_(threads),
        move_(strided_copy_of(table, step.element_bytes)),
        move_any_(table.strided_copy.back()),
        stream_(table.stream),
        fence_(table.fence) {
    fill_tables();
  }

  void run() {
    if (forward_) {
      if (c2r_.c > 1 && apart_) pass_over_columns(Order::rotation);
      pass_over_rows();
      pass_over_columns(Order::shuffle);
    } else {
      pass_over_columns(Order::shuffle);
      pass_over_rows();
      if (c2r_.c > 1 && apart_) pass_over_columns(Order::rotation);
    }
  }

 private:
  enum class Order : std::uint8_t { rotation, shuffle };
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };

  // Offsets that are the same for all rows: of every block of b columns, of every column of the
  // first block, of every c-th column, and of the b columns that a shuffle takes these from or
  // brings them to, twice, so that it may begin with any of them.
  void fill_tables() {
    const std::int64_t size = matrix_.element_bytes;
    auto* table = reinterpret_cast<std::int64_t*>(workspace_ + place_.tables);
    blocks_ = table;
    columns_ = blocks_ + c2r_.c;
    every_ = columns_ + c2r_.c;
    shuffled_ = every_ + c2r_.b;
    for (std::int64_t k = 0; k < c2r_.c; ++k) {
      blocks_[k] = k * c2r_.b * size;
      columns_[k] = k * size;
    }
    const std::int64_t step = forward_ ? c2r_.a_inverse : c2r_.a % c2r_.b;
    std::int64_t at = 0;
    for (std::int64_t u = 0; u < c2r_.b; ++u) {
      every_[u] = (forward_ ? u * c2r_.c : u) * size;
      shuffled_[u] = shuffled_[u + c2r_.b] = (forward_ ? at : at * c2r_.c) * size;
      at += step;
      if (at >= c2r_.b) at -= c2r_.b;
    }
  }

  std::byte* own_workspace() const {
    return workspace_ + place_.first_thread + thread_number() * place_.thread_bytes;
  }
  std::byte* held_of(std::int64_t part) const {
    return workspace_ + place_.first_thread + part * place_.thread_bytes + place_.held;
  }

  Rows rows_of(std::int64_t part) const {
    return {part * c2r_.m / threads_, (part + 1) * c2r_.m / threads_};
  }

  template <typename Work>
  void for_parts(const Work& work) const {
    parallel_ranges(threads_, threads_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) work(part);
    });
  }

  // C2R rotates on the way: row i takes block q from row i + q, which is still as it was when rows
  // are taken upwards, unless it is the first of another part. R2C brings block q of row i to row
  // i + q, which has been taken when rows are taken downwards.
  void pass_over_rows() {
    const bool holds = c2r_.c > 1 && !apart_;
    if (holds && forward_) for_parts([&](std::int64_t part) { hold_rows_after(part); });
    for_parts([&](std::int64_t part) {
      const Rows rows = rows_of(part);
      if (forward_) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) shuffle_row_c2r(i, rows.end, part);
      } else {
        for (std::int64_t i = rows.end; i-- > rows.begin;) shuffle_row_r2c(i, rows.end, part);
      }
    });
    if (holds && !forward_) for_parts([&](std::int64_t part) { release_rows_after(part); });
  }

  // Calls visit(in the matrix, held, bytes) for row k after a part: blocks k + 1 and so on, which
  // rows of the part exchange with it.
  template <typename Visit>
  void for_held(std::int64_t part, const Visit& visit) const {
    const auto [begin, end] = rows_of(part);
    for (std::int64_t k = 0; k < c2r_.c - 1; ++k) {
      const std::int64_t blocks = std::min(c2r_.c - 1 - k, end - begin);
      visit(matrix_.at((end + k) % c2r_.m, (k + 1) * c2r_.b), held_at(part, k, k + 1),
            blocks * c2r_.b * matrix_.element_bytes);
    }
  }
  void hold_rows_after(std::int64_t part) const {
    for_held(part, [](std::byte* row, std::byte* held, std::int64_t bytes) {
      std::copy_n(row, bytes, held);
    });
  }
  void release_rows_after(std::int64_t part) const {
    for_held(part, [](std::byte* row, std::byte* held, std::int64_t bytes) {
      std::copy_n(held, bytes, row);
    });
  }

  // Block q of row k after a part, k < q.
  std::byte* held_at(std::int64_t part, std::int64_t k, std::int64_t q) const {
    const std::int64_t rows_before = k * (c2r_.c - 1) - k * (k - 1) / 2;
    return held_of(part) + (rows_before + q - k - 1) * c2r_.b * matrix_.element_bytes;
  }

  // Block q of row i + q, or where it is held.
  std::byte* rotated(std::int64_t i, std::int64_t q, std::int64_t end, std::int64_t part) const {
    if (apart_) return matrix_.at(i, q * c2r_.b);
    return i + q < end ? matrix_.at(i + q, q * c2r_.b) : held_at(part, i + q - end, q);
  }

  void call(const std::byte* in, std::byte* out, BlockArguments arguments) const {
    BlockPipeline idle;
    arguments.element_bytes = matrix_.element_bytes;
    arguments.pipeline = &idle;
    move_(in, out, arguments);
  }

  void shuffle_row_c2r(std::int64_t i, std::int64_t end, std::int64_t part) const {
    std::byte* const row = own_workspace() + place_.row;
    const std::int64_t block_bytes = c2r_.b * matrix_.element_bytes;
    for (std::int64_t q = 0; q < c2r_.c; ++q) {
      std::copy_n(rotated(i, q, end, part), block_bytes, row + q * block_bytes);
    }
    // The shuffle (Eqs. 24 and 31) takes what goes to columns first + u c from block q, where rows
    // `from` and columns `first` are congruent modulo c, from its columns (start + u) a^-1 mod b.
    // Columns that come from neighbouring blocks in the same order are moved by one call.
    for (std::int64_t first = 0; first < c2r_.c;) {
      const std::int64_t q = floor_mod(first - i, c2r_.c);
      const std::int64_t from = i + q < c2r_.m ? i + q : i + q - c2r_.m;
      const std::int64_t count = std::min(c2r_.c - first, c2r_.c - q);
      const std::int64_t start = floor_mod((first - from) / c2r_.c, c2r_.b);
      call(row + blocks_[q], matrix_.at(i, first),
           {.in_by_in = blocks_,
            .in_by_out = shuffled_ + start,
            .out_by_in = columns_,
            .out_by_out = every_,
            .in_count = count,
            .out_count = c2r_.b,
            .element_bytes = 0,
            .continued = false,
            .following = 0,
            .pipeline = nullptr});
      first += count;
    }
  }

  void shuffle_row_r2c(std::int64_t i, std::int64_t end, std::int64_t part) const {
    std::byte* const row = own_workspace() + place_.row;
    std::copy_n(matrix_.at(i, 0), matrix_.row_bytes(), row);
    // What goes to column q b + t comes from column ((i + q) mod m + t m) mod n (Eq. 24).
    for (std::int64_t q = 0; q < c2r_.c;) {
      const std::int64_t column = (i + q) % c2r_.m % c2r_.n;
      const std::int64_t turns = column / c2r_.c;
      const std::int64_t start = c2r_.b == 1 ? 0 : multiply_mod(turns, c2r_.a_inverse, c2r_.b);
      // Where blocks stay in their row, neighbours are moved by one call.
      const std::int64_t count = apart_ ? std::min(c2r_.c - q, c2r_.c - column % c2r_.c) : 1;
      call(row + column % c2r_.c * matrix_.element_bytes, rotated(i, q, end, part),
           {.in_by_in = columns_,
            .in_by_out = shuffled_ + start,
            .out_by_in = blocks_,
            .out_by_out = every_,
            .in_count = count,
            .out_count = c2r_.b,
            .element_bytes = 0,
            .continued = false,
            .following = 0,
            .pipeline = nullptr});
      q += count;
    }
  }

  void pass_over_columns(Order order) const {
    const std::int64_t bands = ceil_div(c2r_.n, width_);
    const std::int64_t shares = shares_per_thread(matrix_.bytes(), threads_);
    parallel_ranges(threads_, bands, shares, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t band = begin; band < end; ++band) {
        permute_band(order, band * width_, std::min(width_, c2r_.n - band * width_));
      }
    });
  }

  // Reads all rows of a band of columns and writes them in their new order, every column rotated by
  // another number of rows. On the way into the band (C2R) or out of it (R2C) elements of column j
  // move up or down by shift(j) rows, for which the band goes on above its first row; the other way
  // whole rows are permuted. So neither side jumps between single elements.
  void permute_band(Order order, std::int64_t first, std::int64_t width) const {
    const std::int64_t pitch = width * matrix_.element_bytes;
    std::byte* const band = own_workspace() + place_.band + (width - 1) * pitch;
    const auto shift = [&](std::int64_t j) {
      return order == Order::shuffle ? j : (first + j) / c2r_.b - first / c2r_.b;
    };
    const std::int64_t turn = (order == Order::shuffle ? first : first / c2r_.b) % c2r_.m;
    const bool permutes = order == Order::shuffle;
    if (forward_) {
      move_skewed(matrix_.at(0, first), band, width, shift);
      join_above(band, width, shift);
      move_rows(matrix_.at(0, first), band, width, permutes, turn);
    } else {
      move_rows(matrix_.at(0, first), band, width, permutes, turn);
      repeat_above(band, width, shift);
      move_skewed(matrix_.at(0, first), band, width, shift);
    }
  }

  using RowOffsets = std::array<std::int64_t, kRowsAtOnce>;

  static RowOffsets multiples(std::int64_t step) {
    RowOffsets offsets;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      offsets[k] = static_cast<std::int64_t>(k) * step;
    }
    return offsets;
  }

  // The rows of the matrix that are read while those from row i on are moved.
  BlockPipeline rows_ahead(const std::byte* matrix, std::int64_t i, std::int64_t count,
                           const RowOffsets& rows, std::int64_t pitch) const {
    BlockPipeline pipeline;
    if (i + kRowsAhead + count <= c2r_.m) {
      pipeline.prefetches = {.next = matrix + (i + kRowsAhead) * matrix_.row_bytes(),
                             .pieces = std::span(rows).first(static_cast<std::size_t>(count)),
                             .piece_bytes = pitch};
    }
    return pipeline;
  }

  // Row i of the matrix is row p(i) of the band, p(i) = q(i) + turn or i + turn modulo m.
  void move_rows(std::byte* matrix, std::byte* band, std::int64_t width, bool permutes,
                 std::int64_t turn) const {
    const std::int64_t pitch = width * matrix_.element_bytes;
    const RowOffsets in_matrix = multiples(matrix_.row_bytes());
    RowOffsets in_band;
    // The lines that were read have left the caches by now, unless the matrix is small.
    const bool streams =
        forward_ && pitch >= kMinStreamedRunBytes && matrix_.bytes() > kStreamedFrom;
    RowOrder q(c2r_, 0);
    for (std::int64_t i = 0; i < c2r_.m; i += kRowsAtOnce) {
      const std::int64_t count = std::min(kRowsAtOnce, c2r_.m - i);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t row = (permutes ? *q : i + k) + turn;
        if (permutes) ++q;
        in_band[static_cast<std::size_t>(k)] = (row < c2r_.m ? row : row - c2r_.m) * pitch;
      }
      std::byte* const rows = matrix + i * matrix_.row_bytes();
      if (streams) {
        for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
          stream_(rows + in_matrix[k], band + in_band[k], pitch);
        }
        continue;
      }
      const std::int64_t zero = 0;
      BlockPipeline pipeline;
      if (!forward_) pipeline = rows_ahead(matrix, i, count, in_matrix, pitch);
      move_any_(forward_ ? band : rows, forward_ ? rows : band,
                {.in_by_in = &zero,
                 .in_by_out = (forward_ ? in_band : in_matrix).data(),
                 .out_by_in = &zero,
                 .out_by_out = (forward_ ? in_matrix : in_band).data(),
                 .in_count = 1,
                 .out_count = count,
                 .element_bytes = pitch,
                 .continued = false,
                 .following = 0,
                 .pipeline = &pipeline});
    }
    if (streams) fence_();
  }

  // Element j of row i of the matrix is in row i - shift(j) of the band.
  template <typename Shift>
  void move_skewed(std::byte* matrix, std::byte* band, std::int64_t width,
                   const Shift& shift) const {
    const std::int64_t size = matrix_.element_bytes;
    const std::int64_t pitch = width * size;
    std::array<std::int64_t, kMostColumns> skewed;
    std::array<std::int64_t, kMostColumns> straight;
    for (std::int64_t j = 0; j < width; ++j) {
      skewed[static_cast<std::size_t>(j)] = j * size - shift(j) * pitch;
      straight[static_cast<std::size_t>(j)] = j * size;
    }
    const RowOffsets in_matrix = multiples(matrix_.row_bytes());
    const RowOffsets in_band = multiples(pitch);
    // No more rows than columns, so that the kernel moves along rows.
    const std::int64_t rows = std::min(kRowsAtOnce, width);
    for (std::int64_t i = 0; i < c2r_.m; i += rows) {
      const std::int64_t count = std::min(rows, c2r_.m - i);
      std::byte* const from = matrix + i * matrix_.row_bytes();
      std::byte* const to = band + i * pitch;
      BlockPipeline pipeline;
      if (forward_) pipeline = rows_ahead(matrix, i, count, in_matrix, pitch);
      move_(forward_ ? from : to, forward_ ? to : from,
            {.in_by_in = (forward_ ? in_matrix : in_band).data(),
             .in_by_out = (forward_ ? straight : skewed).data(),
             .out_by_in = (forward_ ? in_band : in_matrix).data(),
             .out_by_out = (forward_ ? skewed : straight).data(),
             .in_count = count,
             .out_count = width,
             .element_bytes = size,
             .continued = false,
             .following = 0,
             .pipeline = &pipeline});
    }
  }

  // What has moved up beyond the first row belongs to the last ones.
  template <typename Shift>
  void join_above(std::byte* band, std::int64_t width, const Shift& shift) const {
    const std::int64_t size = matrix_.element_bytes;
    const std::int64_t pitch = width * size;
    for (std::int64_t j = 0; j < width; ++j) {
      for (std::int64_t i = 0; i < std::min(shift(j), c2r_.m); ++i) {
        const std::int64_t row = i - shift(j);
        std::copy_n(band + row * pitch + j * size, size,
                    band + floor_mod(row, c2r_.m) * pitch + j * size);
      }
    }
  }

  // The last rows once more, above the first.
  template <typename Shift>
  void repeat_above(std::byte* band, std::int64_t width, const Shift& shift) const {
    const std::int64_t pitch = width * matrix_.element_bytes;
    for (std::int64_t k = 1; k <= shift(width - 1); ++k) {
      std::copy_n(band + floor_mod(-k, c2r_.m) * pitch, pitch, band - k * pitch);
    }
  }

  const C2r c2r_;
  const bool forward_;
  const bool apart_;
  const Matrix matrix_;
  const std::int64_t width_;
  const C2rWorkspace place_;
  std::byte* const workspace_;
  const int threads_;
  const BlockKernel move_;
  const BlockKernel move_any_;
  const CopyKernel stream_;
  void (*const fence_)();
  std::int64_t* blocks_ = nullptr;
  std::int64_t* columns_ = nullptr;
  std::int64_t* every_ = nullptr;
  std::int64_t* shuffled_ = nullptr;
};

}  // namespace

void transpose_c2r(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
                   const Kernels& table) {
  C2rPasses(step, data, workspace, threads, table).run();
}

}  // namespace ttlg::cpu
