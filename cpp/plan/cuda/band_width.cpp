#include "plan/cuda/band_width.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cuda/grid_loops.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/policy.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

std::int64_t choose_band_width(const SlicedProblem& sliced, const DeviceModel& model) {
  const Schema schema = sliced.parameters.schema;
  if (schema != Schema::orthogonal_distinct) return 0;
  const auto width = static_cast<int>(sliced.problem.element_bytes());
  const std::int64_t resident =
      resident_blocks(model, figures_of(schema, width, planned_access(sliced)),
                      sliced.parameters.stages * OrthogonalDistinctPolicy(width).buffer_bytes);
  const int mode = sliced.in_axis().back();
  const std::int64_t columns = ceil_div(sliced.mode(mode).extent, sliced.extent(mode));
  const double at_once = std::sqrt(as_double(std::min(grid_blocks(sliced), resident)));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(at_once), 1, columns);
}

}  // namespace ttlg::cuda
