// Matrices in place whose elements are so large, cells, that they move along the cycles of the
// permutation (Catanzaro et al., PPoPP 2014, section 7, has this for any element). Every so many
// cells one is saved in a workspace, which cuts the cycles into parts that are moved at the same
// time:
//
//   cut_cells  saves cells 0, L, 2L, ...
//   cells      fills the positions of a part from one that was saved on, each by the cell that
//              comes there, up to the position of the next cell that was saved; and whole cycles
//              of which no cell was saved
//   cut_cells  moves the saved cells to where they belong
//
// A group of lanes moves some bytes of every cell of a part, so a thread stores only to what it has
// loaded itself, and loads run ahead of stores. There may be gaps between cells (kGaps): see
// plan/cuda/inplace/skinny.hpp.
#pragma once

#include "cuda/kernels/context.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

// Cells of m x n matrices, counted row after row, and where they go.
struct CellOrder {
  FastDivisor32 rows;
  FastDivisor32 columns;
  std::uint32_t saved_mask;  // L - 1, where L is a power of two

  TTLG_DEVICE bool is_saved(std::uint32_t cell) const { return (cell & saved_mask) == 0; }
  // The cell that comes to a position.
  TTLG_DEVICE std::uint32_t source(std::uint32_t position) const {
    const std::uint32_t column = rows.quotient(position);
    return (position - column * rows.divisor()) * columns.divisor() + column;
  }
  // The position that a cell goes to.
  TTLG_DEVICE std::uint32_t destination(std::uint32_t cell) const {
    const std::uint32_t row = columns.quotient(cell);
    return (cell - row * columns.divisor()) * rows.divisor() + row;
  }
  // Whether a cell is the first of a cycle of several, none of which is saved.
  TTLG_DEVICE bool leads_cycle(std::uint32_t cell) const {
    if (is_saved(cell)) return false;
    std::uint32_t other = source(cell);
    if (other == cell) return false;
    // [budget: 0 times] A part begins with a cell that was saved.
    while (other > cell && !is_saved(other)) other = source(other);
    return other == cell;
  }
};

// What threads share: groups of lanes take a chunk of a cell each.
struct CellGroups {
  std::int64_t items;         // chunks of all that is to be done
  FastDivisor chunks;         // of a cell
  FastDivisor per_matrix;     // things to be done to a matrix
  std::uint32_t group_shift;  // the logarithm of a group's lanes
  std::uint32_t chunk_bytes;
  std::int64_t cell_bytes;
  std::int64_t matrix_bytes;
  FastDivisor32 cells_of_gap;  // cells between two gaps
  std::int64_t gap_bytes;      // 0 where there are none

  // Where a cell lies in its matrix.
  template <bool kGaps>
  TTLG_DEVICE std::int64_t offset(std::uint32_t cell) const {
    if constexpr (!kGaps) return cell * cell_bytes;
    return cell * cell_bytes + cells_of_gap.quotient(cell) * gap_bytes;
  }
};

// A group's item, or some other one where it has none.
template <int kWidth>
struct CellItem {
  bool exists;
  std::int64_t number;  // of what is to be done
  std::int64_t matrix;
  std::uint32_t index;  // of what is to be done to it
  std::int64_t byte;    // of a cell, the thread's first

  template <typename Context>
  TTLG_DEVICE CellItem(const CellGroups& p, const Context& context) {
    const std::int64_t thread =
        std::int64_t{context.block()} * CellsPolicy::kThreads + context.thread();
    const std::int64_t item = thread >> p.group_shift;
    exists = item < p.items;
    const std::int64_t own = exists ? item : 0;
    number = p.chunks.quotient(own);
    matrix = p.per_matrix.quotient(number);
    index = static_cast<std::uint32_t>(number - matrix * p.per_matrix.divisor());
    const auto lane = static_cast<std::uint32_t>(thread) & ((1u << p.group_shift) - 1);
    byte = (own - number * p.chunks.divisor()) * p.chunk_bytes + lane * kWidth;
  }
};

struct CutCellsArguments {
  CellGroups groups;
  CellOrder order;
  bool restores;  // from the workspace to the array
};

template <int kWidth, bool kGaps, typename Context>
TTLG_DEVICE void cut_cells(const CutCellsArguments& p, const Context& context) {
  constexpr int kBatch = CellsPolicy::kBatch;
  const CellItem<kWidth> item(p.groups, context);
  const std::uint32_t cell = item.index * (p.order.saved_mask + 1);
  const std::int64_t in_array =
      item.matrix * p.groups.matrix_bytes +
      p.groups.offset<kGaps>(p.restores ? p.order.destination(cell) : cell) + item.byte;
  const std::int64_t in_workspace = item.number * p.groups.cell_bytes + item.byte;
  const Context moved =
      context.at(p.restores ? in_workspace : in_array, p.restores ? in_array : in_workspace);
  const std::int64_t left = item.exists ? p.groups.cell_bytes - item.byte : 0;
  const std::uint32_t step = p.groups.chunk_bytes / kBatch;
  Word<kWidth> held[kBatch];
  TTLG_UNROLL
  for (std::uint32_t b = 0; b < kBatch; ++b) {
    held[b] = moved.template load<Word<kWidth>>(b * step < left, b * step);
  }
  TTLG_UNROLL
  for (std::uint32_t b = 0; b < kBatch; ++b) moved.store(b * step < left, b * step, held[b]);
}

struct CellsArguments {
  CellGroups groups;
  CellOrder order;
  std::uint32_t saved;  // cells of a matrix, each with a part; the other items may lead cycles
};

template <int kWidth, bool kGaps, typename Context>
TTLG_DEVICE void cells(const CellsArguments& p, const Context& context) {
  constexpr int kDepth = CellsPolicy::kDepth;
  const CellItem<kWidth> item(p.groups, context);
  const bool is_part = item.index < p.saved;
  const std::uint32_t first =
      is_part ? item.index * (p.order.saved_mask + 1) : item.index - p.saved;
  const bool is_cycle = !is_part && p.order.leads_cycle(first);
  const bool has_bytes = item.byte < p.groups.cell_bytes;
  const std::int64_t origin = item.matrix * p.groups.matrix_bytes + item.byte;
  const Context array = context.at(origin, origin);
  const bool closes = item.exists && has_bytes && is_cycle;
  const auto last = array.template load<Word<kWidth>>(closes, p.groups.offset<kGaps>(first));
  bool goes_on = item.exists && (is_part || is_cycle);
  std::uint32_t to = first;
  while (context.any(goes_on)) {
    Word<kWidth> held[kDepth];
    std::uint32_t target[kDepth];
    bool moves[kDepth];
    TTLG_UNROLL
    for (int d = 0; d < kDepth; ++d) {
      const std::uint32_t from = p.order.source(to);
      goes_on = goes_on && from != first && !p.order.is_saved(from);
      target[d] = to;
      moves[d] = goes_on && has_bytes;
      held[d] = array.template load<Word<kWidth>>(moves[d], p.groups.offset<kGaps>(from));
      if (goes_on) to = from;
    }
    TTLG_UNROLL
    for (int d = 0; d < kDepth; ++d) {
      array.store(moves[d], p.groups.offset<kGaps>(target[d]), held[d]);
    }
  }
  array.store(closes, p.groups.offset<kGaps>(to), last);
}

}  // namespace ttlg::cuda
