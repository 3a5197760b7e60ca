#include <algorithm>

#include "cpu/inplace/passes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

class RowPass {
 public:
  explicit RowPass(const PermutedMatrix& permuted)
      : p_(permuted), c2r_(p_.c2r), size_(p_.matrix.element_bytes) {
    fill_tables();
  }

  // C2R rotates on the way: row i takes block q from row i + q, which is still as it was when rows
  // are taken upwards, unless it is the first of another part. R2C brings block q of row i to row
  // i + q, which has been taken when rows are taken downwards.
  void run() const {
    const bool holds = c2r_.c > 1 && !p_.apart;
    if (holds && p_.forward) for_parts([&](std::int64_t part) { hold_rows_after(part); });
    for_parts([&](std::int64_t part) {
      const Rows rows = rows_of(part);
      if (p_.forward) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) shuffle_row_c2r(i, rows.end, part);
      } else {
        for (std::int64_t i = rows.end; i-- > rows.begin;) shuffle_row_r2c(i, rows.end, part);
      }
    });
    if (holds && !p_.forward) for_parts([&](std::int64_t part) { release_rows_after(part); });
  }

 private:
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };

  void fill_tables() {
    auto* table = reinterpret_cast<std::int64_t*>(p_.workspace);
    blocks_ = table;
    columns_ = blocks_ + c2r_.c;
    every_ = columns_ + c2r_.c;
    shuffled_ = every_ + c2r_.b;
    for (std::int64_t k = 0; k < c2r_.c; ++k) {
      blocks_[k] = k * c2r_.b * size_;
      columns_[k] = k * size_;
    }
    const std::int64_t step = p_.forward ? c2r_.a_inverse : c2r_.a % c2r_.b;
    std::int64_t at = 0;
    for (std::int64_t u = 0; u < c2r_.b; ++u) {
      every_[u] = (p_.forward ? u * c2r_.c : u) * size_;
      shuffled_[u] = shuffled_[u + c2r_.b] = (p_.forward ? at : at * c2r_.c) * size_;
      at += step;
      if (at >= c2r_.b) at -= c2r_.b;
    }
  }

  std::byte* held_of(std::int64_t part) const {
    return p_.workspace + p_.place.first_thread + part * p_.place.thread_bytes + p_.place.held;
  }

  Rows rows_of(std::int64_t part) const {
    return {part * c2r_.m / p_.threads, (part + 1) * c2r_.m / p_.threads};
  }

  template <typename Work>
  void for_parts(const Work& work) const {
    parallel_ranges(p_.threads, p_.threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) work(part);
    });
  }

  // Calls visit(in the matrix, held, bytes) for row k after a part: blocks k + 1 and so on, which
  // rows of the part exchange with it.
  template <typename Visit>
  void for_held(std::int64_t part, const Visit& visit) const {
    const auto [begin, end] = rows_of(part);
    for (std::int64_t k = 0; k < c2r_.c - 1; ++k) {
      const std::int64_t blocks = std::min(c2r_.c - 1 - k, end - begin);
      visit(p_.matrix.at((end + k) % c2r_.m, (k + 1) * c2r_.b), held_at(part, k, k + 1),
            blocks * c2r_.b * size_);
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
    return held_of(part) + (rows_before + q - k - 1) * c2r_.b * size_;
  }

  // Block q of row i + q, or where it is held.
  std::byte* rotated(std::int64_t i, std::int64_t q, std::int64_t end, std::int64_t part) const {
    if (p_.apart) return p_.matrix.at(i, q * c2r_.b);
    return i + q < end ? p_.matrix.at(i + q, q * c2r_.b) : held_at(part, i + q - end, q);
  }

  void shuffle_row_c2r(std::int64_t i, std::int64_t end, std::int64_t part) const {
    std::byte* const row = p_.own_workspace();
    const std::int64_t block_bytes = c2r_.b * size_;
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
      move_block(p_.move, row + blocks_[q], p_.matrix.at(i, first),
                 {blocks_, shuffled_ + start, columns_, every_}, count, c2r_.b, size_);
      first += count;
    }
  }

  void shuffle_row_r2c(std::int64_t i, std::int64_t end, std::int64_t part) const {
    std::byte* const row = p_.own_workspace();
    std::copy_n(p_.matrix.at(i, 0), p_.matrix.row_bytes(), row);
    // What goes to column q b + t comes from column ((i + q) mod m + t m) mod n (Eq. 24).
    for (std::int64_t q = 0; q < c2r_.c;) {
      const std::int64_t column = (i + q) % c2r_.m % c2r_.n;
      const std::int64_t turns = column / c2r_.c;
      const std::int64_t start = c2r_.b == 1 ? 0 : multiply_mod(turns, c2r_.a_inverse, c2r_.b);
      // Where blocks stay in their row, neighbours are moved by one call.
      const std::int64_t count = p_.apart ? std::min(c2r_.c - q, c2r_.c - column % c2r_.c) : 1;
      move_block(p_.move, row + column % c2r_.c * size_, rotated(i, q, end, part),
                 {columns_, shuffled_ + start, blocks_, every_}, count, c2r_.b, size_);
      q += count;
    }
  }

  const PermutedMatrix& p_;
  const C2r& c2r_;
  const std::int64_t size_;  // of an element
  // Offsets that are the same for all rows.
  std::int64_t* blocks_ = nullptr;    // of the c blocks of b columns
  std::int64_t* columns_ = nullptr;   // of the first c columns
  std::int64_t* every_ = nullptr;     // of every c-th column (C2R), or of the first b (R2C)
  std::int64_t* shuffled_ = nullptr;  // of where these come from, twice, to begin with any of them
};

}  // namespace

void pass_over_rows(const PermutedMatrix& permuted) { RowPass(permuted).run(); }

}  // namespace ttlg::cpu
