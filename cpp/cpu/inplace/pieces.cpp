
#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/inplace/kernels.hpp"
#include "cpu/inplace/matrix.hpp"
#include "cpu/threads/threads.hpp"

namespace ttlg::cpu {
namespace {

// A field of even + rest elements begins with its part of every piece: the cells. A gap of `rest`
// elements after the cells of each field lets these lie where they will be from the first pass on.
class PieceWise {
 public:
  PieceWise(const InplaceStep& step, const Plan& into_buffer, std::byte* workspace, int threads,
            const Kernels& table)
      : pieces_(step),
        gaps_{.cells = pieces_.count, .bytes = pieces_.rest * step.element_bytes},
        into_buffer_(into_buffer),
        workspace_(workspace),
        rest_(workspace + pieces_.workspace_bytes(threads) - pieces_.rest_bytes()),
        threads_(threads),
        parts_(pieces_.parts(threads)),
        table_(table),
        size_(step.element_bytes) {}

  // Structures in, fields out. Cells move up on their way, so pieces are taken from the last one
  // on, and the first one of each part before the part below could write to it. What is left over
  // at the end waits in the workspace.
  void transpose_tall(std::byte* data) const {
    std::copy_n(data + pieces_.even * pieces_.other * size_, pieces_.rest_bytes(), rest_);
    for_parts([&](std::int64_t begin, std::int64_t, const Buffers& buffers) {
      execute(into_buffer_, piece(data, begin), buffers.held, table_);
    });
    for_parts([&](std::int64_t begin, std::int64_t end, const Buffers& buffers) {
      for (std::int64_t number = end - 1; number > begin; --number) {
        const std::byte* const next = piece(data, number - 1);
        execute(into_buffer_, piece(data, number), buffers.piece, table_, read_next(next));
        store_cells(data, number, buffers.piece);
      }
      store_cells(data, begin, buffers.held);
    });
    transpose_between(data);
    for_rest(data, [&](std::byte* in_field, std::byte* in_rest) {
      std::copy_n(in_rest, size_, in_field);
    });
  }

  // What transpose_tall does, backwards.
  void transpose_wide(std::byte* data) const {
    for_rest(data, [&](std::byte* in_field, std::byte* in_rest) {
      std::copy_n(in_field, size_, in_rest);
    });
    transpose_between(data);
    for_parts([&](std::int64_t, std::int64_t end, const Buffers& buffers) {
      execute(into_buffer_, loaded(data, end - 1, buffers.cells), buffers.held, table_);
    });
    for_parts([&](std::int64_t begin, std::int64_t end, const Buffers& buffers) {
      for (std::int64_t number = begin; number < end - 1; ++number) {
        execute(into_buffer_, loaded(data, number, buffers.cells), buffers.piece, table_,
                read_next(first_cell(data, number + 1)));
        table_.copy(piece(data, number), buffers.piece, pieces_.inside.matrix_bytes());
      }
      table_.copy(piece(data, end - 1), buffers.held, pieces_.inside.matrix_bytes());
    });
    std::copy_n(rest_, pieces_.rest_bytes(), data + pieces_.even * pieces_.other * size_);
  }

 private:
  // Room for a piece each.
  struct Buffers {
    std::byte* piece;
    std::byte* held;
    std::byte* cells;  // that a gap divides
  };

  // Calls work(begin, end, buffers) for every part of the pieces.
  template <typename Work>
  void for_parts(const Work& work) const {
    const std::int64_t bytes = pieces_.buffer_bytes();
    parallel_ranges(parts_, parts_, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t part = first; part < last; ++part) {
        std::byte* const own = workspace_ + 3 * part * bytes;
        work(part * pieces_.count / parts_, (part + 1) * pieces_.count / parts_,
             Buffers{own, own + bytes, own + 2 * bytes});
      }
    });
  }

  void transpose_between(std::byte* data) const {
    transpose_cells(pieces_.between, data, workspace_, threads_, table_, gaps_);
  }

  std::byte* piece(std::byte* data, std::int64_t number) const {
    return data + number * pieces_.inside.matrix_bytes();
  }

  // The piece that begins there, to be prefetched, if it is not in the caches.
  std::span<const std::byte> read_next(const std::byte* first) const {
    if (pieces_.even * pieces_.other * size_ <= kMaxCachedBytes) return {};
    return {first, static_cast<std::size_t>(pieces_.inside.matrix_bytes())};
  }

  const std::byte* first_cell(std::byte* data, std::int64_t number) const {
    const std::int64_t first = number * pieces_.other;
    return data + first * pieces_.between.element_bytes + first / pieces_.count * gaps_.bytes;
  }

  // Calls visit(in the matrix, in a buffer, bytes) for the cells of a piece between gaps.
  template <typename Visit>
  void for_cells(std::byte* data, std::int64_t number, std::byte* buffer,
                 const Visit& visit) const {
    const std::int64_t first = number * pieces_.other;
    const std::int64_t end = first + pieces_.other;
    const std::int64_t cell_bytes = pieces_.between.element_bytes;
    for (std::int64_t cell = first; cell < end;) {
      const std::int64_t field = cell / pieces_.count;
      const std::int64_t next = std::min(end, (field + 1) * pieces_.count);
      visit(data + cell * cell_bytes + field * gaps_.bytes, buffer + (cell - first) * cell_bytes,
            (next - cell) * cell_bytes);
      cell = next;
    }
  }

  void store_cells(std::byte* data, std::int64_t number, std::byte* buffer) const {
    for_cells(data, number, buffer, [&](std::byte* to, const std::byte* from, std::int64_t bytes) {
      table_.copy(to, from, bytes);
    });
  }

  // The cells of a piece one after another, in the matrix or in the buffer.
  const std::byte* loaded(std::byte* data, std::int64_t number, std::byte* buffer) const {
    const std::byte* found = buffer;
    for_cells(data, number, buffer, [&](const std::byte* from, std::byte* to, std::int64_t bytes) {
      if (bytes == pieces_.inside.matrix_bytes()) {
        found = from;
      } else {
        table_.copy(to, from, bytes);
      }
    });
    return found;
  }

  // Calls visit(in its field, among the rest) for every element that is left over.
  template <typename Visit>
  void for_rest(std::byte* data, const Visit& visit) const {
    for (std::int64_t k = 0; k < pieces_.rest; ++k) {
      for (std::int64_t field = 0; field < pieces_.other; ++field) {
        visit(data + (field * (pieces_.even + pieces_.rest) + pieces_.even + k) * size_,
              rest_ + (k * pieces_.other + field) * size_);
      }
    }
  }

  const LongMatrix pieces_;
  const CellGaps gaps_;
  const Plan& into_buffer_;
  std::byte* const workspace_;
  std::byte* const rest_;
  const int threads_;
  const int parts_;
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
