#include "cuda/executable.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "cuda/lower.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

std::int64_t address_of(const std::byte* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

[[noreturn]] void refuse_addresses(std::int64_t needed_bytes) {
  throw std::invalid_argument(
      "this plan moves " + std::to_string(needed_bytes) +
      " bytes at once, and x or out starts at an address that is no multiple of that; call "
      "ttlg.transpose, which looks at the addresses itself");
}

// Of an address, all that matters to a kernel is where it lies in a line.
constexpr std::int64_t kLineBytes = 128;

}  // namespace

Executable::Executable(Plan plan) : Plan(std::move(plan)) {
  if (recast.elements() == 0) return;
  const SlicedProblem slices = sliced();
  grid = lower_grid(slices);
  may_shift_ = grid.launches == 1 && may_shift(slices);
  switch (parameters.schema) {
    case Schema::copy:
      break;
    case Schema::fvi_match_large:
    case Schema::fvi_match_small:
      widest_word_ = run_word_bytes(slices, kMaxAccessBytes);
      launch_ = lower_match(run_word_bytes(slices, slices.alignment));
      break;
    case Schema::orthogonal_distinct:
      launch_ = lower_distinct(slices, grid.size);
      keep_resident_blocks(launch_);
      set_bands(grid.grid, parameters.band_width);
      break;
    case Schema::orthogonal_arbitrary:
      launch_ = lower_slices(slices, layout);
      break;
  }
}

// No more of them than the device holds at once: they walk through the slices.
void Executable::keep_resident_blocks(Launch& launch) const {
  const KernelFigures& kernel = figures_of(parameters.schema, launch.word_bytes, launch.access);
  launch.blocks = static_cast<std::uint32_t>(
      std::min<std::int64_t>(launch.blocks, resident_blocks(*model, kernel, launch.shared_bytes)));
}

Launch Executable::lower_slices(const SlicedProblem& slices,
                                const SharedLayout& shared_layout) const {
  Launch launch = OrthogonalArbitraryPolicy::is_packed(recast.element_bytes())
                      ? lower_arbitrary_packed(slices, shared_layout, grid)
                      : lower_arbitrary(slices, shared_layout, grid.size);
  keep_resident_blocks(launch);
  return launch;
}

Launch Executable::bind(const std::byte* in, const std::byte* out) const {
  if (recast.elements() == 0) return {};
  const std::int64_t in_address = address_of(in) + grid.origin.in;
  const std::int64_t out_address = address_of(out) + grid.origin.out;
  if (parameters.schema == Schema::copy) {
    return lower_copy(recast.bytes(), in_address, out_address);
  }
  const std::int64_t in_alignment = common_power(in_address, kMaxAccessBytes);
  const std::int64_t out_alignment = common_power(out_address, kMaxAccessBytes);
  const std::int64_t alignment_of_both = std::min(in_alignment, out_alignment);
  if (alignment_of_both < recast.element_bytes()) refuse_addresses(recast.element_bytes());
  if (widest_word_ == 0) return bind_orthogonal(in_alignment, out_alignment);
  const std::int64_t word_bytes = std::min(widest_word_, alignment_of_both);
  return word_bytes < FviMatchLargeShiftedPolicy::kWidth && may_shift_
             ? lower_match_large_shifted(sliced(), grid.size, in_address, out_address)
             : bind_match(word_bytes);
}

Launch Executable::bind_match(std::int64_t word_bytes) const {
  return word_bytes == launch_.word_bytes ? launch_ : lower_match(word_bytes);
}

Launch Executable::bind_orthogonal(std::int64_t in_alignment, std::int64_t out_alignment) const {
  const VectorAccess access = aligned_access(launch_.access, parameters.schema,
                                             recast.element_bytes(), in_alignment, out_alignment);
  if (std::holds_alternative<PackedArguments>(launch_.arguments) && access != launch_.access) {
    return bind_worse(std::min(in_alignment, out_alignment));
  }
  Launch launch = launch_;
  launch.access = access;
  return launch;
}

// Words in which runs begin anywhere are laid out for it, and may be too many.
Launch Executable::bind_worse(std::int64_t worse_alignment) const {
  const SlicedProblem slices(recast, parameters, worse_alignment);
  if (exceeded_arbitrary_limit(slices)) refuse_addresses(kBankBytes);
  return lower_slices(slices, {});
}

Launch Executable::lower_match(std::int64_t word_bytes) const {
  return parameters.schema == Schema::fvi_match_large
             ? lower_match_large(sliced(), grid.size, word_bytes)
             : lower_match_small(sliced(), grid.size, word_bytes);
}

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
