#include "cuda/inplace/executable.hpp"

#include <utility>

namespace ttlg::cuda {
namespace {

// Of an address, all that matters to a kernel is where it lies in a line.
constexpr std::int64_t kLineBytes = 128;

}  // namespace

InplaceExecutable::InplaceExecutable(InplacePlan plan)
    : InplacePlan(std::move(plan)), launches_(lower(0)) {}

std::vector<InplaceLaunch> InplaceExecutable::bind(const std::byte* data) const {
  const auto address =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % kLineBytes);
  return address == 0 ? launches_ : lower(address);
}

std::vector<InplaceLaunch> InplaceExecutable::lower(std::int64_t address) const {
  const InplaceMemory memory{.address = address,
                             .workspace_bytes = workspace_bytes,
                             .on_chip_bytes = on_chip_bytes(*model)};
  std::vector<InplaceLaunch> launches;
  for (const InplaceStep& step : steps) {
    for (InplaceLaunch& launch : lower_inplace(step, memory)) {
      launches.push_back(std::move(launch));
    }
  }
  return launches;
}

}  // namespace ttlg::cuda
