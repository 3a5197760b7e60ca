#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/execute.hpp"

namespace ttlg::cpu {

void execute_reference(const PlanBase& plan, const std::byte* in, std::byte* out) {
  const Request& request = plan.request;
  const std::vector<std::int64_t>& extents = plan.out_shape;
  const std::size_t rank = extents.size();
  if (std::ranges::find(extents, 0) != extents.end()) return;
  const auto bytes = static_cast<std::size_t>(plan.problem.element_bytes());
  std::array<std::int64_t, kMaxRank> index{};
  for (;;) {
    const std::byte* from = in;
    std::byte* to = out;
    for (std::size_t i = 0; i < rank; ++i) {
      from += index[i] * request.in_byte_strides[static_cast<std::size_t>(request.axes[i])];
      to += index[i] * plan.out_byte_strides[i];
    }
    std::memcpy(to, from, bytes);
    std::size_t axis = rank;
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace ttlg::cpu
