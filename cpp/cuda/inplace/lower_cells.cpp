#include <algorithm>
#include <bit>

#include "cuda/inplace/lower.hpp"
#include "cuda/inplace/lower_groups.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

class CellsLowering {
 public:
  CellsLowering(const InplaceStep& step, std::int64_t address, const CellGaps& gaps)
      : step_(step),
        gaps_(gaps),
        word_(common_power(step.element_bytes | gaps.bytes | address, kMaxAccessBytes)),
        lanes_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
            std::min<std::int64_t>(step.element_bytes / word_, kWarpSize))))),
        cells_(step.rows * step.columns),
        saved_(ceil_div(cells_, step.width)),
        order_{.rows = FastDivisor32(step.rows),
               .columns = FastDivisor32(step.columns),
               .saved_mask = narrow32(step.width - 1)} {}

  Launch cut(bool restores) const {
    const CellGroups groups = lower_groups(saved_, CellsPolicy::kBatch);
    return lower(groups,
                 CutCellsArguments{.groups = groups, .order = order_, .restores = restores});
  }

  Launch move() const {
    const CellGroups groups = lower_groups(saved_ + cells_, 1);
    return lower(groups,
                 CellsArguments{.groups = groups, .order = order_, .saved = narrow32(saved_)});
  }

 private:
  CellGroups lower_groups(std::int64_t per_matrix, std::int64_t words_of_lane) const {
    const std::int64_t chunk = lanes_ * word_ * words_of_lane;
    const std::int64_t chunks = ceil_div(step_.element_bytes, chunk);
    return {.items = step_.batch * per_matrix * chunks,
            .chunks = FastDivisor(chunks),
            .per_matrix = FastDivisor(per_matrix),
            .group_shift =
                static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(lanes_))),
            .chunk_bytes = narrow32(chunk),
            .cell_bytes = step_.element_bytes,
            .matrix_bytes = step_.matrix_bytes() + cells_ / gaps_.cells * gaps_.bytes,
            .cells_of_gap = FastDivisor32(gaps_.cells),
            .gap_bytes = gaps_.bytes};
  }

  Launch lower(const CellGroups& groups, const KernelArguments& arguments) const {
    return {.word_bytes = static_cast<int>(word_),
            .access = {},
            .blocks = blocks_of(ceil_div(groups.items, CellsPolicy::kThreads / lanes_)),
            .threads = CellsPolicy::kThreads,
            .shared_bytes = 0,
            .arguments = arguments};
  }

  const InplaceStep& step_;
  const CellGaps& gaps_;
  std::int64_t word_;
  std::int64_t lanes_;  // of a group
  std::int64_t cells_;  // of a matrix
  std::int64_t saved_;  // of these
  CellOrder order_;
};

}  // namespace

std::vector<InplaceLaunch> lower_cells(const InplaceStep& step, std::int64_t address,
                                       const CellGaps& gaps) {
  const CellsLowering lowering(step, address, gaps);
  return {{.launch = lowering.cut(false), .from = {}, .to = {.in_workspace = true}},
          {.launch = lowering.move()},
          {.launch = lowering.cut(true), .from = {.in_workspace = true}, .to = {}}};
}

}  // namespace ttlg::cuda
