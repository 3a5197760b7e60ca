// What the kernels for transposition in place have in common: a matrix in memory, and how its parts
// are handed to the kernels that move blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/block_mover.hpp"
#include "cpu/kernels.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/block/block.hpp"
#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/memory_units.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {

// What larger matrices have in the caches is gone before the next pass over them.
constexpr std::int64_t kMaxCachedBytes = 8 << 20;

// Row after row, without gaps.
struct Matrix {
  std::byte* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t element_bytes;

  std::int64_t row_bytes() const { return columns * element_bytes; }
  std::int64_t bytes() const { return rows * row_bytes(); }
  std::byte* at(std::int64_t row, std::int64_t column) const {
    return data + row * row_bytes() + column * element_bytes;
  }
};

// Calls work(matrix, its part of the workspace) for all matrices of a step, as many at a time as
// matrices_at_once says.
template <typename Work>
void for_matrices(const InplaceStep& step, std::byte* data, std::byte* workspace,
                  std::int64_t workspace_each, int threads, const Work& work) {
  const int at_once = matrices_at_once(step, threads);
  parallel_ranges(at_once, step.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    std::byte* const own = workspace + (at_once == 1 ? 0 : thread_number() * workspace_each);
    for (std::int64_t number = begin; number < end; ++number) {
      work(data + number * step.matrix_bytes(), own);
    }
  });
}

// As in BlockArguments.
struct BlockOffsets {
  const std::int64_t* in_by_in;
  const std::int64_t* in_by_out;
  const std::int64_t* out_by_in;
  const std::int64_t* out_by_out;
};

// Moves in_count x out_count elements, none of which goes on in another block, and advances the
// pipeline meanwhile.
inline void move_block(BlockKernel kernel, const std::byte* in, std::byte* out,
                       const BlockOffsets& offsets, std::int64_t in_count, std::int64_t out_count,
                       std::int64_t element_bytes, BlockPipeline& pipeline) {
  kernel(in, out,
         {.in_by_in = offsets.in_by_in,
          .in_by_out = offsets.in_by_out,
          .out_by_in = offsets.out_by_in,
          .out_by_out = offsets.out_by_out,
          .in_count = in_count,
          .out_count = out_count,
          .element_bytes = element_bytes,
          .continued = false,
          .following = 0,
          .pipeline = &pipeline});
}

// What transposes blocks of such elements: by tiles, where vectors hold them.
inline BlockKernel transposing_kernel(const Kernels& table, std::int64_t element_bytes) {
  return is_width(element_bytes) ? table.tile[width_index(element_bytes)]
                                 : table.strided_copy.back();
}

// Moves rows of this many bytes; offsets of each on either side.
inline void move_rows(const Kernels& table, const std::byte* in, std::byte* out,
                      const std::int64_t* in_by_row, const std::int64_t* out_by_row,
                      std::int64_t count, std::int64_t row_bytes, BlockPipeline& pipeline) {
  constexpr std::int64_t kZero = 0;
  move_block(table.strided_copy.back(), in, out, {&kZero, in_by_row, &kZero, out_by_row}, 1, count,
             row_bytes, pipeline);
}

}  // namespace ttlg::cpu
