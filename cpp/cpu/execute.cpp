#include "cpu/execute.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/block_mover.hpp"
#include "cpu/threads/threads.hpp"

namespace ttlg::cpu {
namespace {

// One run, cut into chunks.
void copy_chunks(const Plan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                 std::int64_t end, const Kernels& table) {
  const std::int64_t chunk = plan.parameters.block.front();
  const std::int64_t first = begin * chunk;
  const std::int64_t last = std::min(end * chunk, plan.problem.bytes());
  (plan.parameters.streaming ? table.stream : table.copy)(out + first, in + first, last - first);
  if (plan.parameters.streaming) table.fence();
}

}  // namespace

void execute(const Plan& plan, const std::byte* in, std::byte* out, const Kernels& table,
             std::span<const std::byte> read_next) {
  if (plan.problem.bytes() == 0) return;
  if (plan.parameters.kernel == Kernel::reference) {
    execute_reference(plan, in, out);
    return;
  }
  in += plan.problem.in_byte_offset;
  out += plan.problem.out_byte_offset;
  const int threads = plan.parameters.threads;
  parallel_ranges(threads, plan.blocks(), shares_per_thread(plan.problem.bytes(), threads),
                  [&](std::int64_t begin, std::int64_t end) {
                    if (plan.parameters.kernel == Kernel::copy) {
                      copy_chunks(plan, in, out, begin, end, table);
                    } else {
                      BlockMover(plan, table, read_next).move(in, out, begin, end);
                    }
                  });
}

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
