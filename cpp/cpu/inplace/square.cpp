#include <algorithm>
#include <array>

#include "cpu/inplace/kernels.hpp"
#include "cpu/inplace/matrix.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/inplace/schemes.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Columns of tiles in a band: few enough for the pages of both tiles of a pair, and of the pairs
// after it, to stay in the TLB.
constexpr std::int64_t kBand = 8;

class TilePairs {
  using Triangle = Enumeration<std::int64_t>;
  using Ranges = std::array<std::int64_t, 2 * kMaxTileOrder>;

 public:
  TilePairs(const InplaceStep& step, const Kernels& table)
      : order_(step.rows),
        tile_(step.width),
        size_(step.element_bytes),
        tiles_(ceil_div(order_, tile_)),
        transpose_(transposing_kernel(table, size_)),
        table_(table),
        triangle_(Scheme::v1b, {.m = tiles_, .w = kBand}) {
    for (std::int64_t k = 0; k < tile_; ++k) {
      const auto i = static_cast<std::size_t>(k);
      along_[i] = k * size_;
      down_[i] = k * order_ * size_;
      down_buffer_[i] = k * tile_ * size_;
    }
  }

  // Pairs of all matrices, the diagonal tiles of a matrix after its pairs.
  std::int64_t pairs() const { return triangle_.count() + tiles_; }

  void exchange(std::byte* data, std::int64_t begin, std::int64_t end) const {
    std::int64_t matrix = begin / pairs();
    std::int64_t k = begin % pairs();
    auto entry = k < triangle_.count() ? triangle_.at<Scheme::v1b>(k) : Triangle::Entry{};
    for (std::int64_t number = begin; number < end; ++number) {
      std::byte* const first = data + matrix * order_ * order_ * size_;
      if (k < triangle_.count()) {
        const auto next = triangle_.next(entry);
        Ranges ranges;
        BlockPipeline pipeline;
        if (k + 1 < triangle_.count()) pipeline.prefetches = pair_of(first, next, ranges);
        exchange_pair(first, entry, pipeline);
        entry = next;
      } else {
        transpose_tile(first, k - triangle_.count());
      }
      if (++k < pairs()) continue;
      k = 0;
      ++matrix;
      if (triangle_.count() > 0) entry = triangle_.at<Scheme::v1b>(0);
    }
  }

 private:
  std::byte* tile_at(std::byte* matrix, std::int64_t x, std::int64_t y) const {
    return matrix + (y * order_ + x) * tile_ * size_;
  }
  std::int64_t extent(std::int64_t number) const {
    return std::min(tile_, order_ - number * tile_);
  }

  // Transposes `rows` rows of `columns` elements, which are so far apart.
  void transpose(const std::byte* in, const std::int64_t* in_down, std::byte* out,
                 const std::int64_t* out_down, std::int64_t rows, std::int64_t columns,
                 BlockPipeline& pipeline) const {
    move_block(transpose_, in, out, {along_.data(), in_down, out_down, along_.data()}, columns,
               rows, size_, pipeline);
  }

  void copy_back(const std::byte* buffer, std::byte* out, std::int64_t rows, std::int64_t columns,
                 BlockPipeline& pipeline) const {
    move_rows(table_, buffer, out, down_buffer_.data(), down_.data(), rows, columns * size_,
              pipeline);
  }

  // The rows of both tiles of a pair, to be prefetched.
  PrefetchQueue pair_of(std::byte* matrix, Triangle::Entry entry, Ranges& ranges) const {
    const std::int64_t rows = extent(entry.y);
    const std::int64_t columns = extent(entry.x);
    const std::byte* const below = tile_at(matrix, entry.x, entry.y);
    const std::int64_t above = tile_at(matrix, entry.y, entry.x) - below;
    std::copy_n(down_.begin(), rows, ranges.begin());
    std::transform(down_.begin(), down_.begin() + columns, ranges.begin() + rows,
                   [&](std::int64_t offset) { return above + offset; });
    return {.next = below,
            .ranges = {ranges.data(), static_cast<std::size_t>(rows + columns)},
            .range_bytes = std::min(rows, columns) * size_};
  }

  void exchange_pair(std::byte* matrix, Triangle::Entry entry, BlockPipeline& pipeline) const {
    alignas(kLineBytes) std::byte buffer[kMaxTileBytes];
    std::byte* const below = tile_at(matrix, entry.x, entry.y);
    std::byte* const above = tile_at(matrix, entry.y, entry.x);
    const std::int64_t rows = extent(entry.y);
    const std::int64_t columns = extent(entry.x);
    transpose(below, down_.data(), buffer, down_buffer_.data(), rows, columns, pipeline);
    transpose(above, down_.data(), below, down_.data(), columns, rows, pipeline);
    copy_back(buffer, above, columns, rows, pipeline);
  }

  void transpose_tile(std::byte* matrix, std::int64_t number) const {
    alignas(kLineBytes) std::byte buffer[kMaxTileBytes];
    std::byte* const tile = tile_at(matrix, number, number);
    const std::int64_t order = extent(number);
    BlockPipeline idle;
    transpose(tile, down_.data(), buffer, down_buffer_.data(), order, order, idle);
    copy_back(buffer, tile, order, order, idle);
  }

  const std::int64_t order_;
  const std::int64_t tile_;
  const std::int64_t size_;
  const std::int64_t tiles_;
  const BlockKernel transpose_;
  const Kernels& table_;
  const Triangle triangle_;
  std::array<std::int64_t, kMaxTileOrder> along_;
  std::array<std::int64_t, kMaxTileOrder> down_;
  std::array<std::int64_t, kMaxTileOrder> down_buffer_;
};

}  // namespace

void transpose_square(const InplaceStep& step, std::byte* data, int threads, const Kernels& table) {
  const TilePairs tiles(step, table);
  parallel_ranges(threads, step.batch * tiles.pairs(), shares_per_thread(step.bytes(), threads),
                  [&](std::int64_t begin, std::int64_t end) { tiles.exchange(data, begin, end); });
}

}  // namespace ttlg::cpu
