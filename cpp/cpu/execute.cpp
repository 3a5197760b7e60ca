#include "cpu/execute.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/block_mover.hpp"
#include "cpu/threads/threads.hpp"

namespace ttlg::cpu {
namespace {

// Calls visit(from, to, index) for every element, by its index in the output.
template <typename Visit>
void for_each_element(const PlanBase& plan, const std::byte* in, std::byte* out,
                      const Visit& visit) {
  const Request& request = plan.request;
  const std::vector<std::int64_t>& extents = plan.out_shape;
  const std::size_t rank = extents.size();
  if (std::ranges::find(extents, 0) != extents.end()) return;
  std::array<std::int64_t, kMaxRank> index{};
  for (;;) {
    const std::byte* from = in;
    std::byte* to = out;
    for (std::size_t i = 0; i < rank; ++i) {
      from += index[i] * request.in_byte_strides[static_cast<std::size_t>(request.axes[i])];
      to += index[i] * plan.out_byte_strides[i];
    }
    visit(from, to, index);
    std::size_t axis = rank;
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

void convert_reference(const Plan& plan, const std::byte* in, std::byte* out, const Kernels& table,
                       const MapValues& values) {
  const Request& request = plan.request;
  Conversion conversion = *plan.conversion;
  conversion.values = {};  // as the caller counts
  const auto axis = std::ranges::find(request.axes, int{request.map.axis});
  const auto varying = static_cast<std::size_t>(axis - request.axes.begin());
  const bool varies = request.map.varies();
  if (varies) conversion.values.extent = plan.out_shape[varying];
  RowConverter converter(conversion, values, table, false);
  for_each_element(plan, in, out, [&](const std::byte* from, std::byte* to, const auto& index) {
    converter.move(from, to, 1, {.place = varies ? index[varying] : 0});
  });
}

// One run, cut into chunks.
void copy_chunks(const Plan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                 std::int64_t end, const Kernels& table) {
  const std::int64_t chunk = plan.parameters.block.front();
  const std::int64_t first = begin * chunk;
  const std::int64_t last = std::min(end * chunk, plan.problem.bytes());
  (plan.parameters.streaming ? table.stream : table.copy)(out + first, in + first, last - first);
  if (plan.parameters.streaming) table.fence();
}

void convert_chunks(const Plan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                    std::int64_t end, const Kernels& table, const MapValues& values) {
  const std::int64_t chunk = plan.parameters.block.front();
  const std::int64_t first = begin * chunk;
  const std::int64_t last =
      std::min(end * chunk, plan.problem.elements() * plan.conversion->from_bytes);
  RowValues row;
  if (plan.conversion->map.varies()) {
    row = {.place = first / plan.conversion->from_bytes, .inner = plan.conversion->values.inner};
  }
  RowConverter(*plan.conversion, values, table, plan.parameters.streaming)
      .move(in + first, out + plan.out_bytes_of(first),
            (last - first) / plan.conversion->from_bytes, row);
  if (plan.parameters.streaming) table.fence();
}

}  // namespace

void execute(const Plan& plan, const std::byte* in, std::byte* out, const Kernels& table,
             std::span<const std::byte> read_next, const MapValues& values) {
  if (plan.problem.max_bytes() == 0) return;
  if (plan.parameters.kernel == Kernel::reference) {
    if (plan.conversion) return convert_reference(plan, in, out, table, values);
    return execute_reference(plan, in, out);
  }
  in += plan.problem.in_byte_offset;
  out += plan.problem.out_byte_offset;
  const int threads = plan.parameters.threads;
  parallel_ranges(threads, plan.blocks(), shares_per_thread(plan.problem.max_bytes(), threads),
                  [&](std::int64_t begin, std::int64_t end) {
                    if (plan.conversion && plan.parameters.kernel == Kernel::copy) {
                      convert_chunks(plan, in, out, begin, end, table, values);
                    } else if (plan.conversion) {
                      BlockMover(plan, table, read_next).convert(in, out, begin, end, values);
                    } else if (plan.parameters.kernel == Kernel::copy) {
                      copy_chunks(plan, in, out, begin, end, table);
                    } else {
                      BlockMover(plan, table, read_next).move(in, out, begin, end);
                    }
                  });
}

void execute_reference(const PlanBase& plan, const std::byte* in, std::byte* out) {
  const auto bytes = static_cast<std::size_t>(plan.problem.element_bytes());
  for_each_element(plan, in, out, [&](const std::byte* from, std::byte* to, const auto&) {
    std::memcpy(to, from, bytes);
  });
}

}  // namespace ttlg::cpu
