#include "cpu/inplace/row_shuffle.hpp"

#include <algorithm>

#include "cpu/inplace/matrix.hpp"
#include "plan/cpu/inplace/step.hpp"
#include "plan/cpu/memory_units.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {

RowShuffle::RowShuffle(const C2r& c2r, std::int64_t element_bytes, std::int64_t* tables,
                       const Kernels& table)
    : c2r_(c2r),
      size_(element_bytes),
      wide_(c2r.c * element_bytes >= kLineBytes || c2r.b == 1),
      kernel_(transposing_kernel(table, size_)),
      elements_(tables),
      in_blocks_(elements_ + c2r.n),
      in_row_(in_blocks_ + c2r.n) {
  if (!wide_) {
    gaps_ = cheapest_gaps(c2r.a_inverse, c2r.b, [this](std::int64_t points, std::int64_t gap) {
      return cost(points, gap);
    });
  }
  fill_tables();
}

void RowShuffle::fill_tables() {
  for (std::int64_t k = 0; k < c2r_.n; ++k) elements_[k] = k * size_;
  const std::int64_t points = wide_ ? 1 : gaps_.first_points + gaps_.second_points;
  std::int64_t x = 0;
  for (std::int64_t u = 0; u < points; ++u) {
    for (std::int64_t f = 0; f < c2r_.c; ++f) {
      in_blocks_[u * c2r_.c + f] = (f * c2r_.b + x) * size_;
    }
    x += c2r_.a_inverse;
    if (x >= c2r_.b) x -= c2r_.b;
  }
  const std::int64_t step = c2r_.a % c2r_.b;
  std::int64_t u = 0;
  for (x = 0; x < c2r_.b; ++x) {
    in_row_[x] = in_row_[x + c2r_.b] = u * c2r_.c * size_;
    u += step;
    if (u >= c2r_.b) u -= c2r_.b;
  }
}

// About the instructions of moving a rectangle, by tiles of lines, by smaller ones or one by one.
double RowShuffle::cost(std::int64_t points, std::int64_t gap) const {
  const std::int64_t line = std::max<std::int64_t>(1, kLineBytes / size_);
  const std::int64_t min_order = std::max<std::int64_t>(1, 16 / size_);
  const std::int64_t along_row = points * c2r_.c;
  const auto tiles = [&](std::int64_t order) {
    return as_double(ceil_div(along_row, order) * order) * as_double(ceil_div(gap, order) * order);
  };
  if (std::min(along_row, gap) < min_order) return 10 * as_double(along_row) * as_double(gap);
  return std::min(along_row, gap) < line ? 2.5 * tiles(min_order) : tiles(line);
}

template <typename Visit>
void RowShuffle::for_rectangles(const Visit& visit) const {
  visit(std::int64_t{0}, gaps_.first_points, gaps_.first_gap);
  if (gaps_.second_points > 0) visit(gaps_.first_points, gaps_.second_points, gaps_.second_gap);
}

// Position u = before + ... of the row is a (x + rotation) of a block for rotation = before a^-1.
void RowShuffle::to_row(const std::byte* blocks, std::byte* row, BlockPipeline& pipeline) const {
  for_rectangles([&](std::int64_t before, std::int64_t points, std::int64_t gap) {
    const std::int64_t* const offsets = in_blocks_ + before * c2r_.c;
    const std::int64_t rotation = offsets[0] / size_;
    move_block(kernel_, blocks, row, {elements_, offsets, in_row_ + rotation, elements_}, gap,
               points * c2r_.c, size_, pipeline);
  });
}

void RowShuffle::to_blocks(const std::byte* row, std::byte* blocks, BlockPipeline& pipeline) const {
  for_rectangles([&](std::int64_t before, std::int64_t points, std::int64_t gap) {
    const std::int64_t* const offsets = in_blocks_ + before * c2r_.c;
    const std::int64_t rotation = offsets[0] / size_;
    move_block(kernel_, row, blocks, {elements_, in_row_ + rotation, offsets, elements_},
               points * c2r_.c, gap, size_, pipeline);
  });
}

void RowShuffle::to_row(const std::byte* blocks, std::byte* row, std::int64_t count,
                        std::int64_t rotation, BlockPipeline& pipeline) const {
  if (c2r_.b == 1) {
    std::copy_n(blocks, count * size_, row);
  } else {
    move_block(kernel_, blocks, row, {elements_, in_blocks_, in_row_ + rotation, elements_}, c2r_.b,
               count, size_, pipeline);
  }
}

void RowShuffle::to_blocks(const std::byte* row, std::byte* blocks, std::int64_t count,
                           std::int64_t rotation, BlockPipeline& pipeline) const {
  if (c2r_.b == 1) {
    std::copy_n(row, count * size_, blocks);
  } else {
    move_block(kernel_, row, blocks, {elements_, in_row_ + rotation, in_blocks_, elements_}, count,
               c2r_.b, size_, pipeline);
  }
}

}  // namespace ttlg::cpu
