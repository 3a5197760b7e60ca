// The planner for CUDA devices: which schema (TTLG, Alg. 1), in which slices (Alg. 3).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plan/cuda/device_model.hpp"
#include "plan/cuda/features.hpp"
#include "plan/cuda/plan.hpp"

namespace ttlg::cuda {

// One case of the taxonomy (Fig. 3, Alg. 1; requirement T-03), tried from top to bottom. Where
// several schemas are listed, predicted time decides.
struct TaxonomyRule {
  std::string_view name;
  bool (*applies)(const Problem& words);
  std::vector<Schema> schemas;
  std::string_view requirement;
};
std::span<const TaxonomyRule> taxonomy();
const TaxonomyRule& classify(const Problem& words);

// Whether a schema can carry the problem out at all, as forcing it asks, and what it needs.
bool is_admissible(Schema schema, const Problem& words);
std::string_view requirement_of(Schema schema);

struct Candidate {
  Parameters parameters;
  double seconds;
};

// Every admissible schema with every slice that the search visits; the fastest first.
std::vector<Candidate> candidates(const Problem& words, const DeviceModel& model,
                                  std::int64_t alignment = kVectorBytes);

// The argmin of predicted time over the slices of the schemas that the taxonomy names, or of
// `forced`. `alignment` is as for word_form. Throws std::invalid_argument if `forced` is not
// admissible.
Plan make_plan(const Request& request, std::int64_t alignment, const DeviceModel& model,
               std::optional<Schema> forced = std::nullopt);

}  // namespace ttlg::cuda
