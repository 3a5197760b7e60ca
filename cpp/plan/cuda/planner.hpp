// The planner for CUDA devices: which schema (TTLG, Alg. 1), in which slices (Alg. 3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/plan.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"

namespace ttlg::cuda {

struct Candidate {
  Parameters parameters;
  double seconds;
  std::optional<ChosenLayout> layout{};  // of Orthogonal-Arbitrary, where its cost is counted
};

// Every admissible schema with every slice that the search visits, in the order in which make_plan
// would take them: the schemas that the taxonomy names, then the others, each the fastest first;
// where it names slow ones only, the fastest of all first. So the first is make_plan's choice.
std::vector<Candidate> candidates(const Problem& problem, const DeviceModel& model,
                                  std::int64_t pointer_alignment = kMaxAccessBytes);

// The argmin of predicted time over the slices of the schemas that the taxonomy names, or of
// `forced`. `pointer_alignment` is as for recast_problem. Throws std::invalid_argument if `forced`
// is not admissible.
Plan make_plan(const Request& request, std::int64_t pointer_alignment,
               std::shared_ptr<const DeviceModel> model,
               std::optional<Schema> forced = std::nullopt);

// The width, in slices, with which the blocks that the device holds at once take a square of them,
// at most all; 0 for other schemas. Allocates nothing.
std::int64_t choose_band_width(const SlicedProblem& sliced, const DeviceModel& model);

}  // namespace ttlg::cuda
