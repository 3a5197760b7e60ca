// The kernels that transpose in place on the CPU, and what their steps take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "plan/inplace/step.hpp"
#include "plan/names.hpp"

namespace ttlg::cpu {

enum class InplaceKernel : std::uint8_t {
  buffered,  // a matrix goes into the workspace, out of place, and is copied back
  square,    // pairs of tiles change places
  c2r,       // rows and columns are permuted (Catanzaro et al., PPoPP 2014)
  r2c,       // the inverse of that on the transpose's dimensions
  cells,     // large elements move along the permutation's cycles
  pieces,    // of a long dimension: each buffered, then moved as cells
};

inline constexpr NameTable<InplaceKernel, 6> kInplaceKernels{
    {"buffered", "square", "c2r", "r2c", "cells", "pieces"}};

constexpr std::string_view kernel_name(InplaceKernel kernel) {
  return kInplaceKernels.name(kernel);
}

// `width`: of `square`, the order of a tile; of `c2r` and `r2c`, the columns that are permuted at
// once; of `pieces`, the elements of one.
using InplaceStep = BasicInplaceStep<InplaceKernel>;

// Tiles of `square`, one of which is on a thread's stack; their rows take at least this many bytes
// where that has room for them.
inline constexpr std::int64_t kTileRowBytes = 256;
inline constexpr std::int64_t kMaxTileOrder = 256;
inline constexpr std::int64_t kMaxTileBytes = 64 << 10;

// Columns of a band of `c2r` and `r2c`, at most.
inline constexpr std::int64_t kMaxBandColumns = 1024;

// With more blocks of columns than this, the rotation before or after the rows' shuffle is a pass
// of its own: what it would save at the ends of a thread's rows grows with their square.
inline constexpr std::int64_t kMaxFusedBlocks = 32;

inline bool rotates_apart(const C2r& c2r) { return c2r.c > kMaxFusedBlocks; }

// Entries of the tables by which C2R and R2C shuffle rows.
inline std::int64_t row_table_entries(const C2r& c2r) { return 2 * (c2r.n + c2r.b); }

// Entries of the table of rows by which they permute columns: as many more as a vector has columns.
inline std::int64_t row_order_entries(const C2r& c2r) { return c2r.m + 16; }

// How often the step reads and writes its matrices.
int passes(const InplaceStep& step);

// Where everything lies in the workspace of C2R and R2C, in bytes from its begin: first offsets
// that all threads share.
struct C2rWorkspace {
  C2rWorkspace(const InplaceStep& step, int threads);

  std::int64_t first_thread = 0;  // what threads have each for themselves
  std::int64_t held = 0;  // from there, after rows: segments of the rows that another's begin with
  std::int64_t thread_bytes = 0;
  std::int64_t bytes = 0;
};

// The parts of the workspace of `cells`: first a bit for each of them.
struct CellsWorkspace {
  static constexpr std::int64_t kPartsPerThread = 4;

  CellsWorkspace(const InplaceStep& step, int threads);

  std::int64_t slice = 0;      // bytes of a cell that are moved at a time
  std::int64_t max_parts = 0;  // of cycles
  std::int64_t parts = 0;
  std::int64_t held = 0;  // a slice for each part
  std::int64_t bytes = 0;
};

// How many matrices of `buffered` and `cells` are worked on at a time: one by each thread, or one
// by all of them together.
inline int matrices_at_once(const InplaceStep& step, int threads) {
  return step.batch >= threads ? threads : 1;
}
inline int threads_each(const InplaceStep& step, int threads) {
  return threads / matrices_at_once(step, threads);
}

// How `pieces` cuts a matrix of few rows or columns along its other dimension.
struct LongMatrix {
  explicit LongMatrix(const InplaceStep& step);

  std::int64_t other = 0;  // rows or columns, whichever are fewer
  std::int64_t count = 0;  // of pieces
  std::int64_t even = 0;   // of the other rows or columns, those that whole pieces have
  std::int64_t rest = 0;   // and those that are left over
  InplaceStep inside{};    // what is contiguous in a structure becomes contiguous in a field
  InplaceStep between{};   // and moves to that field

  std::int64_t rest_bytes() const { return rest * other * inside.element_bytes; }
  // Each part of the pieces is worked on by one thread, with three buffers for a piece.
  int parts(int threads) const { return static_cast<int>(std::min<std::int64_t>(threads, count)); }
  std::int64_t buffer_bytes() const;
  std::int64_t workspace_bytes(int threads) const;
};

// Whether the kernel can transpose these matrices with this width.
bool applies(const InplaceStep& step);

// Why a kernel cannot, in words.
std::string obstacle(const InplaceStep& step);

// The bytes that a step needs besides its matrices.
std::int64_t workspace_bytes(const InplaceStep& step, int threads);

}  // namespace ttlg::cpu
