#include <algorithm>
#include <stdexcept>

#include "cuda/lower.hpp"
#include "cuda/lower_common.hpp"

namespace ttlg::cuda {
namespace {

// More launches than this for one transposition take longer than the work that they start.
constexpr std::int64_t kMaxLaunches = 1024;

}  // namespace

void set_bands(AnyGrid& grid, std::int64_t width) {
  const std::int64_t rows = grid.mode[0].extent.divisor();
  const std::int64_t columns = grid.mode[1].extent.divisor();
  // Without bands, one of them is as wide as all slices.
  width = width == 0 ? columns : std::min(width, columns);
  const std::int64_t last = ceil_div(columns, width) - 1;
  grid.bands = {.plane = FastDivisor32(rows * columns),
                .band = FastDivisor32(rows * width),
                .width = FastDivisor32(width),
                .last_width = FastDivisor32(columns - last * width),
                .last = narrow32(last)};
}

LaunchGrid lower_grid(const SlicedProblem& sliced) {
  const Problem& problem = sliced.problem;
  LaunchGrid result{.size = 1,
                    .origin = {.in = problem.in_byte_offset, .out = problem.out_byte_offset}};
  if (sliced.parameters.schema == Schema::copy) return result;
  const std::vector<GridLoop> loops = grid_loops(sliced);
  std::size_t kept = 0;
  while (kept < loops.size() && loops[kept].count <= kMaxGridBlocks / result.size) {
    const GridLoop& loop = loops[kept];
    result.size *= loop.count;
    result.grid.mode[kept++] = {.extent = FastDivisor32(loop.count),
                                .in_step = loop.in_byte_step,
                                .out_step = loop.out_byte_step};
  }
  result.grid.modes = static_cast<int>(kept);
  result.grid.slices = narrow32(result.size);
  result.outer_loops.assign(loops.begin() + static_cast<std::ptrdiff_t>(kept), loops.end());
  for (const GridLoop& loop : result.outer_loops) {
    result.launches = checked_mul(result.launches, loop.count);
  }
  if (kept < 2 || result.launches > kMaxLaunches) {
    throw std::invalid_argument("the slices of this plan are too small for its extents");
  }
  set_bands(result.grid, 0);
  return result;
}

Launch lower_copy(std::int64_t bytes, std::int64_t in_address, std::int64_t out_address) {
  using Policy = CopyPolicy;
  constexpr int kWidth = kMaxAccessBytes;
  const ShiftedWords<kWidth> shifted(bytes, narrow32(in_address), narrow32(out_address));
  const std::int64_t head = std::min<std::int64_t>(bytes, shifted.head);
  const std::int64_t words = shifted.shift == 0 ? (bytes - head) / kWidth : shifted.count;
  const std::int64_t blocks =
      std::max<std::int64_t>(ceil_div(words, Policy::kThreads * Policy::kBatch), 1);
  if (blocks > kMaxGridBlocks) throw std::invalid_argument("too many bytes for one copy");
  return {.word_bytes = kWidth,
          .blocks = narrow32(blocks),
          .threads = Policy::kThreads,
          .arguments = CopyArguments{
              .bytes = bytes, .head = narrow32(head), .shift = shifted.shift, .words = words}};
}

}  // namespace ttlg::cuda
