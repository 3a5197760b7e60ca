#include <algorithm>

#include "plan/cuda/slice/packed_slice.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "plan/cuda/taxonomy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

std::string more_than(std::string_view what, std::int64_t limit) {
  return std::string(what) + " may be at most " + std::to_string(limit);
}

std::string axis_rejection(const Problem& problem, std::span<const int> order, int modes,
                           std::int64_t block, const std::string& side) {
  if (modes < 1 || modes > std::min<int>(kAxisModes, static_cast<int>(order.size()))) {
    return "a slice combines from 1 to " + std::to_string(kAxisModes) + " modes of the " + side;
  }
  const auto last = static_cast<std::size_t>(order[static_cast<std::size_t>(modes - 1)]);
  if (block >= 1 && block <= problem.modes[last].extent) return {};
  return "the block of the " + side + "'s last mode must be from 1 to its extent, " +
         std::to_string(problem.modes[last].extent);
}

std::int64_t checked_volume(const SlicedProblem& sliced) {
  std::int64_t volume = 1;
  for (const std::int64_t extent : sliced.extents()) volume = checked_mul(volume, extent);
  return volume;
}

std::string large_rejection(const SlicedProblem& sliced) {
  using Policy = FviMatchLargePolicy;
  const Slice& slice = sliced.parameters.slice;
  if (slice.in_modes != 1 || slice.out_modes != 1 || slice.out_block != 1) {
    return "it cuts the first mode alone";
  }
  const std::int64_t bytes = checked_volume(sliced) * sliced.problem.element_bytes();
  return bytes > Policy::kChunkBytes ? more_than("the bytes of a chunk", Policy::kChunkBytes) : "";
}

std::string small_rejection(const SlicedProblem& sliced) {
  using Policy = FviMatchSmallPolicy;
  const Slice& slice = sliced.parameters.slice;
  if (slice.in_modes != 2 || slice.out_modes != 2) return "it cuts two modes";
  if (std::max(slice.in_block, slice.out_block) > Policy::kMaxBlock) {
    return more_than("a block", Policy::kMaxBlock);
  }
  const std::int64_t bytes = checked_volume(sliced) * sliced.problem.element_bytes();
  return bytes > Policy::kSliceBytes ? more_than("the bytes of a slice", Policy::kSliceBytes) : "";
}

std::string distinct_rejection(const SlicedProblem& sliced) {
  const Slice& slice = sliced.parameters.slice;
  if (checked_volume(sliced) > INT32_MAX) return more_than("the elements of a slice", INT32_MAX);
  return axis_modes(sliced.problem, slice) == slice.in_modes + slice.out_modes
             ? ""
             : "the modes of the input and of the output in a slice must be distinct";
}

std::string arbitrary_rejection(const SlicedProblem& sliced) {
  const auto exceeded = exceeded_arbitrary_limit(sliced);
  return exceeded ? more_than(exceeded->what, exceeded->limit) : "";
}

std::string slice_rejection(const SlicedProblem& sliced) {
  switch (sliced.parameters.schema) {
    case Schema::fvi_match_large:
      return large_rejection(sliced);
    case Schema::fvi_match_small:
      return small_rejection(sliced);
    case Schema::orthogonal_distinct:
      return distinct_rejection(sliced);
    case Schema::orthogonal_arbitrary:
      return arbitrary_rejection(sliced);
    case Schema::copy:
      break;
  }
  return {};
}

std::string coarsening_rejection(const SlicedProblem& sliced) {
  const int mode = sliced.parameters.coarsened_mode;
  if (mode == -1) return {};
  const auto out_axis = sliced.out_axis();
  const bool is_outside = mode >= sliced.parameters.slice.in_modes &&
                          mode < static_cast<int>(sliced.problem.modes.size()) &&
                          std::ranges::find(out_axis, mode) == out_axis.end();
  if (!is_outside) return "the coarsened mode must lie outside the slice";
  return sliced.repeats() > INT32_MAX ? more_than("the extent of the coarsened mode", INT32_MAX)
                                      : "";
}

std::string stages_rejection(const SlicedProblem& sliced) {
  const int stages = sliced.parameters.stages;
  const bool is_orthogonal = sliced.parameters.schema == Schema::orthogonal_distinct ||
                             sliced.parameters.schema == Schema::orthogonal_arbitrary;
  if (stages < 1 || stages > (is_orthogonal ? kMaxStages : 1)) {
    return "stages must be 1, or up to " + std::to_string(kMaxStages) + " of an orthogonal kernel";
  }
  return {};
}

std::string band_rejection(const Parameters& parameters) {
  const bool has_bands = parameters.schema == Schema::orthogonal_distinct;
  if (parameters.band_width >= 0 && (has_bands || parameters.band_width == 0)) return {};
  return "the width of a band must be at least 1 slice of orthogonal_distinct, or 0 for none";
}

// Runs that begin or end within words make more of them.
std::optional<ExceededLimit> exceeded_packed_limit(const SlicedProblem& sliced) {
  using Policy = OrthogonalArbitraryPolicy;
  // Words end a little behind the last byte.
  constexpr std::int64_t kMaxBytes = INT32_MAX - 2 * kBankBytes;
  if (sliced.max_distance() > kMaxBytes / sliced.problem.element_bytes()) {
    return ExceededLimit{"the distance of two bytes of a slice", kMaxBytes};
  }
  constexpr std::int64_t kLanes = Policy::kThreads * Policy::kOffsetsPerThread;
  const PackedSlice slice = packed_slice(sliced);
  const std::int64_t idle = kLanes / kWarpSize * slice.idle_lanes();
  if (slice.in.all_words <= kLanes && slice.out.all_words <= kLanes - idle) return std::nullopt;
  return ExceededLimit{"the words of a slice", kLanes - idle};
}

}  // namespace

std::optional<ExceededLimit> exceeded_arbitrary_limit(const SlicedProblem& sliced) {
  using Policy = OrthogonalArbitraryPolicy;
  const std::int64_t element_bytes = sliced.problem.element_bytes();
  std::int64_t volume = 1;
  for (const std::int64_t extent : sliced.extents()) {
    if (extent > Policy::kSliceBytes / volume) {
      return ExceededLimit{"the elements of a slice", Policy::kSliceBytes / element_bytes};
    }
    volume *= extent;
  }
  if (axis_modes(sliced.problem, sliced.parameters.slice) > kAxisModes) {
    return ExceededLimit{"the modes of a slice", kAxisModes};
  }
  if (sliced.max_distance() > INT32_MAX) {
    return ExceededLimit{"the distance of two elements of a slice", INT32_MAX};
  }
  const std::int64_t limit = Policy::max_elements(element_bytes);
  if (volume > limit) return ExceededLimit{"the elements of a slice", limit};
  return Policy::is_packed(element_bytes) ? exceeded_packed_limit(sliced) : std::nullopt;
}

std::string obstacle(const Problem& problem, const Parameters& parameters, std::int64_t alignment) {
  std::string reason = obstacle(parameters.schema, problem);
  if (!reason.empty()) return reason;
  if (parameters.schema == Schema::copy) {
    return parameters == Parameters{} ? "" : "it has neither slice nor coarsened mode";
  }
  const Slice& slice = parameters.slice;
  const std::span<const int> in_order = identity_order(problem.modes.size());
  reason = axis_rejection(problem, in_order, slice.in_modes, slice.in_block, "input");
  if (!reason.empty()) return reason;
  reason = axis_rejection(problem, problem.perm, slice.out_modes, slice.out_block, "output");
  if (!reason.empty()) return reason;
  const SlicedProblem sliced(problem, parameters, alignment);
  reason = slice_rejection(sliced);
  if (reason.empty()) reason = coarsening_rejection(sliced);
  if (reason.empty()) reason = stages_rejection(sliced);
  return reason.empty() ? band_rejection(parameters) : reason;
}

}  // namespace ttlg::cuda
