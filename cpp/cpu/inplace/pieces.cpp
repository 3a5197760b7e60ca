#include "cpu/inplace/pieces.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/inplace/buffered.hpp"
#include "cpu/inplace/cells.hpp"

namespace ttlg::cpu {
namespace {

class PieceWise {
 public:
  PieceWise(const InplaceStep& step, const Plan& into_buffer, std::byte* workspace, int threads,
            const Kernels& table)
      : pieces_(step),
        into_buffer_(into_buffer),
        workspace_(workspace),
        rest_(workspace + pieces_.workspace_bytes(threads) - pieces_.rest_bytes()),
        threads_(threads),
        table_(table),
        size_(step.element_bytes) {}

  // Structures in, fields out. What is left over at the end waits in the workspace until the fields
  // have moved apart.
  void transpose_tall(std::byte* data) const {
    std::copy_n(data + pieces_.even * pieces_.other * size_, pieces_.rest_bytes(), rest_);
    transpose_inside(data);
    transpose_between(data);
    if (pieces_.rest == 0) return;
    for (std::int64_t field = pieces_.other - 1; field > 0; --field) {
      std::memmove(field_at(data, field), even_field_at(data, field), even_bytes());
    }
    for_rest(data, [&](std::byte* in_field, std::byte* in_rest) {
      std::copy_n(in_rest, size_, in_field);
    });
  }

  // The same backwards.
  void transpose_wide(std::byte* data) const {
    if (pieces_.rest > 0) {
      for_rest(data, [&](std::byte* in_field, std::byte* in_rest) {
        std::copy_n(in_field, size_, in_rest);
      });
      for (std::int64_t field = 1; field < pieces_.other; ++field) {
        std::memmove(even_field_at(data, field), field_at(data, field), even_bytes());
      }
    }
    transpose_between(data);
    transpose_inside(data);
    std::copy_n(rest_, pieces_.rest_bytes(), data + pieces_.even * pieces_.other * size_);
  }

 private:
  void transpose_inside(std::byte* data) const {
    transpose_buffered(pieces_.inside, into_buffer_, data, workspace_, threads_, table_);
  }
  void transpose_between(std::byte* data) const {
    transpose_cells(pieces_.between, data, workspace_, threads_, table_);
  }

  std::byte* field_at(std::byte* data, std::int64_t field) const {
    return data + field * (pieces_.even + pieces_.rest) * size_;
  }
  std::byte* even_field_at(std::byte* data, std::int64_t field) const {
    return data + field * pieces_.even * size_;
  }
  std::size_t even_bytes() const { return static_cast<std::size_t>(pieces_.even * size_); }

  // Calls visit(in its field, among the rest) for every element that is left over.
  template <typename Visit>
  void for_rest(std::byte* data, const Visit& visit) const {
    for (std::int64_t k = 0; k < pieces_.rest; ++k) {
      for (std::int64_t field = 0; field < pieces_.other; ++field) {
        visit(field_at(data, field) + (pieces_.even + k) * size_,
              rest_ + (k * pieces_.other + field) * size_);
      }
    }
  }

  const LongMatrix pieces_;
  const Plan& into_buffer_;
  std::byte* const workspace_;
  std::byte* const rest_;
  const int threads_;
  const Kernels& table_;
  const std::int64_t size_;
};

}  // namespace

void transpose_pieces(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                      std::byte* workspace, int threads, const Kernels& table) {
  const PieceWise piece_wise(step, into_buffer, workspace, threads, table);
  for (std::int64_t number = 0; number < step.batch; ++number) {
    std::byte* const matrix = data + number * step.matrix_bytes();
    if (step.rows > step.columns) {
      piece_wise.transpose_tall(matrix);
    } else {
      piece_wise.transpose_wide(matrix);
    }
  }
}

}  // namespace ttlg::cpu
