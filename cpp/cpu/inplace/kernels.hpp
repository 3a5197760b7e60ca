// The kernels that carry out a step in place, on all of its matrices; C2R and R2C are in
// passes.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {

// Matrices that fit the workspace: there out of place, by the plan `into_buffer` of one, and back.
void transpose_buffered(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                        std::byte* workspace, int threads, const Kernels& table);

// How many bytes lie free after how many elements.
struct CellGaps {
  std::int64_t cells = 1;
  std::int64_t bytes = 0;
};

// Matrices of large elements: along the cycles of the permutation every element moves once,
// straight to its place. `workspace` is that of CellsWorkspace, at a line.
void transpose_cells(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
                     const Kernels& table, const CellGaps& gaps = {});

// Long matrices of few rows or columns, piece by piece (arrays of structures and structures of
// arrays among them). `into_buffer` is for those of its
// LongMatrix::inside.
void transpose_pieces(const InplaceStep& step, const Plan& into_buffer, std::byte* data,
                      std::byte* workspace, int threads, const Kernels& table);

// Square matrices: pairs of tiles change places (Gorawski and Lorek, Listing 2), in the banded
// order V1B.
void transpose_square(const InplaceStep& step, std::byte* data, int threads, const Kernels& table);

}  // namespace ttlg::cpu
