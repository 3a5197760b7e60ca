// How `skinny` cuts a matrix of few rows or columns, the fields of structures, along its longer
// dimension, the structures.
#pragma once

#include <cstdint>

#include "plan/cuda/inplace/kernel.hpp"

namespace ttlg::cuda {

// Pieces of `length` structures each, of which `rest` are left over at the end. What a piece has of
// a field is a cell:
//
//   structures  [piece][structure][field], rest: as the matrix lies in memory on the one side
//   cells       [piece][field][structure]: what a thread block makes of a piece where it lies
//   fields      [field][piece][structure]: after the cells have moved, the other side
//
// A field ends with its elements of the rest, so there is a gap after as many cells as there are
// pieces, which the cells between have already. A piece and its cells may therefore lie up to
// `rest` structures apart. The first `rest` structures of each piece, its head, and those that are
// left over wait in the workspace.
struct SkinnyMatrix {
  explicit SkinnyMatrix(const InplaceStep& step);

  bool is_tall;  // whether structures come first
  std::int64_t batch;
  std::int64_t fields;
  std::int64_t structures;
  std::int64_t element_bytes;
  std::int64_t length;
  std::int64_t pieces;
  std::int64_t rest;

  bool is_whole() const { return pieces == 1 && rest == 0; }
  std::int64_t matrix_bytes() const { return structures * fields * element_bytes; }
  std::int64_t piece_bytes() const { return length * fields * element_bytes; }
  std::int64_t cell_bytes() const { return length * element_bytes; }
  std::int64_t gap_bytes() const { return rest * element_bytes; }

  // Of all matrices.
  std::int64_t heads() const { return batch * (pieces + 1); }
  std::int64_t heads_bytes() const { return heads() * rest * fields * element_bytes; }

  // The step that moves the cells, but for the gaps.
  InplaceStep cells() const;
};

// Whether the kernel is for such matrices.
bool is_skinny(const InplaceStep& step);

// Whether a piece of such a matrix fits in shared memory.
bool piece_fits(const SkinnyMatrix& matrix);

// The length of pieces that take the least time, all of the matrix if that fits in shared memory; 0
// where the matrix is not skinny, or elements too large.
std::int64_t skinny_length(const InplaceStep& step, const DeviceModel& model);

// The launches of a step.
std::int64_t skinny_launches(const SkinnyMatrix& matrix);

// What is read and written, in times that the matrices would be if the passes moved whole sectors
// only, once each.
double skinny_traffic(const SkinnyMatrix& matrix);

}  // namespace ttlg::cuda
