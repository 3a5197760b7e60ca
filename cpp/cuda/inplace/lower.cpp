#include "cuda/inplace/lower.hpp"

namespace ttlg::cuda {

std::vector<InplaceLaunch> lower_inplace(const InplaceStep& step, std::int64_t address) {
  std::vector<InplaceLaunch> launches;
  for (const Launch& launch : lower_square(step, address)) launches.push_back({.launch = launch});
  return launches;
}

}  // namespace ttlg::cuda
