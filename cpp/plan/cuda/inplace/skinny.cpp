#include "plan/cuda/inplace/skinny.hpp"

#include <algorithm>
#include <bit>

#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

bool is_skinny(const InplaceStep& step) {
  const std::int64_t fields = std::min(step.rows, step.columns);
  return step.between == 1 && SkinnyPolicy::kMinFields <= fields &&
         fields <= SkinnyPolicy::kMaxFields && fields < std::max(step.rows, step.columns) &&
         step.element_bytes <= SkinnyPolicy::kMaxElementBytes;
}

SkinnyMatrix::SkinnyMatrix(const InplaceStep& step)
    : is_tall(step.rows > step.columns),
      batch(step.batch),
      fields(std::min(step.rows, step.columns)),
      structures(std::max(step.rows, step.columns)),
      element_bytes(step.element_bytes),
      length(step.width),
      pieces(structures / length),
      rest(structures % length) {}

InplaceStep SkinnyMatrix::cells() const {
  return {.kernel = InplaceKernel::cells,
          .batch = batch,
          .rows = is_tall ? pieces : fields,
          .columns = is_tall ? fields : pieces,
          .element_bytes = cell_bytes(),
          .width = CellsPolicy::kSpacing};
}

bool piece_fits(const SkinnyMatrix& matrix) {
  return SkinnyPolicy::shared_bytes(matrix.fields, matrix.length, matrix.element_bytes) <=
         SkinnyPolicy::kSharedBytes;
}

double skinny_traffic(const SkinnyMatrix& matrix) {
  // Cells that begin and end with sectors, on average over where others do.
  const std::int64_t cell = matrix.cell_bytes();
  const std::int64_t apart = common_power(cell | matrix.gap_bytes(), kSectorBytes);
  const double waste = matrix.is_whole() ? 0 : as_double(kSectorBytes - apart) / as_double(cell);
  // Heads move to the workspace and from there, a few elements of a field at a time.
  const double head = as_double(matrix.gap_bytes()) / as_double(cell);
  const double head_sectors =
      matrix.rest == 0 ? 0 : as_double(matrix.gap_bytes() + kSectorBytes) / as_double(cell);
  const double pieces = 1 + waste / 2 + (3 * head + head_sectors) / 2 - head;
  const double cells = (1 + waste) * (1 + 2 / as_double(CellsPolicy::kSpacing));
  return matrix.is_whole() ? pieces : pieces + cells;
}

std::int64_t skinny_launches(const SkinnyMatrix& matrix) {
  constexpr std::int64_t kOfHeads = 2;
  constexpr std::int64_t kOfCells = 3;
  return 1 + (matrix.rest > 0 ? kOfHeads : 0) + (matrix.is_whole() ? 0 : kOfCells);
}

std::int64_t skinny_length(const InplaceStep& step, const DeviceModel& model) {
  if (!is_skinny(step)) return 0;
  const std::int64_t structures = std::max(step.rows, step.columns);
  const std::int64_t fits =
      SkinnyPolicy::max_length(std::min(step.rows, step.columns), step.element_bytes,
                               std::min(SkinnyPolicy::kSharedBytes, on_chip_bytes(model)));
  if (structures <= fits) return structures;
  const std::int64_t most = std::min(fits, SkinnyPolicy::kMaxCellBytes / step.element_bytes);
  const std::int64_t least =
      std::max(ceil_div(SkinnyPolicy::kMinCellBytes, step.element_bytes), most / 4);
  // Among about this many lengths there is one that leaves over next to nothing. Of more, those are
  // tried with which cells end with sectors.
  constexpr std::int64_t kTried = 1536;
  const auto apart =
      static_cast<std::uint64_t>(std::max<std::int64_t>(ceil_div(most - least, kTried), 1));
  const std::int64_t grain =
      std::min(static_cast<std::int64_t>(std::bit_ceil(apart)),
               kSectorBytes / common_power(step.element_bytes, kSectorBytes));
  // What could be moved in the time of a launch, in times of the matrices.
  const double launch =
      model.launch_seconds * model.memory_bytes_per_second / (2 * as_double(step.bytes()));
  std::int64_t best = 0;
  double best_cost = 0;
  InplaceStep each = step;
  for (each.width = most / grain * grain; each.width >= least; each.width -= grain) {
    const SkinnyMatrix matrix(each);
    const double cost = skinny_traffic(matrix) + as_double(skinny_launches(matrix)) * launch;
    if (best != 0 && cost >= best_cost) continue;
    best = each.width;
    best_cost = cost;
  }
  return best;
}

}  // namespace ttlg::cuda
