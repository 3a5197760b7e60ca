#include "plan/cuda/model/occupancy.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "plan/cuda/model/costs.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// What all devices have had from compute capability 3.5 on (CUDA C++ Programming Guide, Technical
// Specifications per Compute Capability): 32-bit registers, which are given to warps by 256, and
// partitions that each keep their warps' registers. Thread blocks are at most 32 from 8.0 on.
constexpr int kRegisters = 64 << 10;
constexpr int kRegisterUnit = 256;
constexpr int kPartitions = 4;
constexpr std::int64_t kMaxBlocks = 32;
// Of each block's shared memory the driver takes so much for itself.
constexpr std::int64_t kReservedSharedBytes = 1 << 10;

// Where the figures of a kernel are: by schema, width and access.
constexpr std::size_t kAccesses = 4;
using Index = std::array<std::uint8_t, kSchemas.size() * kWidths.size() * kAccesses>;
static_assert(std::size(kKernelFigures) < UINT8_MAX);

constexpr std::size_t table_index(Schema schema, int width, bool vector_in, bool vector_out) {
  const auto row = static_cast<std::size_t>(schema) * kWidths.size() + width_index(width);
  return row * kAccesses + (vector_in ? 2 : 0) + (vector_out ? 1 : 0);
}

constexpr std::uint8_t kNone = UINT8_MAX;

constexpr Index make_index() {
  Index index{};
  index.fill(kNone);
  for (std::size_t i = 0; i < std::size(kKernelFigures); ++i) {
    const KernelFigures& row = kKernelFigures[i];
    index[table_index(row.schema, row.width, row.vector_in, row.vector_out)] =
        static_cast<std::uint8_t>(i);
  }
  return index;
}
constexpr Index kIndex = make_index();

// The access that the kernel is compiled for.
constexpr VectorAccess compiled_access(VectorAccess access, Schema schema, int width) {
  switch (schema) {
    case Schema::copy:
    case Schema::fvi_match_large:
    case Schema::fvi_match_small:
      return {};
    case Schema::orthogonal_distinct:
    case Schema::orthogonal_arbitrary:
      break;
  }
  if (width == kMaxAccessBytes) return {true, true};
  access = used_access(access, schema, width);
  if (schema == Schema::orthogonal_arbitrary && OrthogonalArbitraryPolicy::is_packed(width)) {
    const bool is_aligned = access.vector_in && access.vector_out;
    return {is_aligned, is_aligned};
  }
  return access;
}

constexpr std::size_t table_index(Schema schema, int width, VectorAccess access) {
  const VectorAccess compiled = compiled_access(access, schema, width);
  return table_index(schema, width, compiled.vector_in, compiled.vector_out);
}

// Without the figures of a kernel, those of another one would be taken.
static_assert([] {
  for (const Schema schema : kSchemas) {
    for (int width = schema == Schema::copy ? 16 : 1; width <= kMaxAccessBytes; width *= 2) {
      for (const bool in : {false, true}) {
        for (const bool out : {false, true}) {
          if (kIndex[table_index(schema, width, {in, out})] == kNone) return false;
        }
      }
    }
  }
  return true;
}());

}  // namespace

const KernelFigures& figures_of(Schema schema, int width, VectorAccess access) {
  return kKernelFigures[kIndex[table_index(schema, width, access)]];
}

std::int64_t resident_blocks(const DeviceModel& model, const KernelFigures& kernel,
                             std::int64_t shared_bytes) {
  const int threads = threads_of(kernel.schema);
  const std::int64_t of_warp =
      ceil_div(kernel.registers * kWarpSize, kRegisterUnit) * kRegisterUnit;
  const std::int64_t warps = kRegisters / kPartitions / of_warp * kPartitions;
  const std::int64_t blocks = std::min(
      {warps * kWarpSize / threads,
       static_cast<std::int64_t>(model.threads_per_multiprocessor / threads),
       model.shared_bytes_per_multiprocessor / (shared_bytes + kReservedSharedBytes), kMaxBlocks});
  return std::max<std::int64_t>(blocks, 1) * model.multiprocessors;
}

}  // namespace ttlg::cuda
