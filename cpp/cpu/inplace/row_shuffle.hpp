// The shuffle of a row by C2R and R2C.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels.hpp"
#include "plan/inplace/c2r.hpp"

namespace ttlg::cpu {

// C2R brings element x of block f of a row, of c blocks of b elements, to position f + u c of the
// row, where u = a x modulo b, and R2C brings it back (Eqs. 24 and 31 of the paper), if each block
// has been rotated so that its element of u = 0 comes first. Elements that are neighbours in a
// block, or in the row, are taken together, so that tiles of them are transposed in registers.
class RowShuffle {
 public:
  // `tables` has room for row_table_entries.
  RowShuffle(const C2r& c2r, std::int64_t element_bytes, std::int64_t* tables,
             const Kernels& table);

  // Between the blocks, one after another, and the row, while the pipeline advances.
  void to_row(const std::byte* blocks, std::byte* row, BlockPipeline& pipeline) const;
  void to_blocks(const std::byte* row, std::byte* blocks, BlockPipeline& pipeline) const;

  // Whether neighbouring blocks fill lines of the row, so that some can be shuffled for themselves
  // as they are: these belong to neighbouring positions of the row, and their elements x to
  // u = a (x + rotation).
  bool is_wide() const { return wide_; }
  void to_row(const std::byte* blocks, std::byte* row, std::int64_t count, std::int64_t rotation,
              BlockPipeline& pipeline) const;
  void to_blocks(const std::byte* row, std::byte* blocks, std::int64_t count, std::int64_t rotation,
                 BlockPipeline& pipeline) const;

 private:
  void fill_tables();
  double cost(std::int64_t points, std::int64_t gap) const;
  // Calls visit(points before, points, gap) for both rectangles of the circle of a block.
  template <typename Visit>
  void for_rectangles(const Visit& visit) const;

  const C2r& c2r_;
  const std::int64_t size_;  // of an element
  const bool wide_;
  const BlockKernel kernel_;
  CircleGaps gaps_;          // of the points x = 0, a^-1, 2 a^-1, ..., where u = 0, 1, 2, ...
  std::int64_t* elements_;   // offsets of elements that follow one another
  std::int64_t* in_blocks_;  // of the elements f + u c of the row, where they are in blocks
  std::int64_t* in_row_;     // of the elements x of block 0 where they are in the row, twice
};

}  // namespace ttlg::cpu
