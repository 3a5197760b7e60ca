// Which kernel a permutation asks for (TTLG, Fig. 3 and Alg. 1), and which kernels could carry it
// out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/cuda/parameters.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// One case of the taxonomy, tried from top to bottom. Where several schemas are listed, predicted
// time decides.
struct TaxonomyRule {
  std::string_view name;
  bool (*applies)(const Problem& problem);
  std::vector<Schema> schemas;
  std::string_view requirement;
  // Why the case does not apply, in words; asked only where it and those above it do not.
  std::string (*obstacle)(const Problem& problem);
};
std::span<const TaxonomyRule> taxonomy();
const TaxonomyRule& classify(const Problem& problem);

// Whether a schema can carry the problem out at all, as forcing it asks, and what it needs.
bool applies(Schema schema, const Problem& problem);
std::string_view requirement(Schema schema);
// Why it cannot, in words; empty where it can.
std::string obstacle(Schema schema, const Problem& problem);

}  // namespace ttlg::cuda
