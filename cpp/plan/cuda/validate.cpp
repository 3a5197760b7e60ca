// Whether given parameters fit a problem, and else why not: the limits of the kernels.
#include <algorithm>
#include <string>

#include "plan/cuda/planner.hpp"
#include "plan/cuda/slice_geometry.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

std::string more_than(std::string_view what, std::int64_t limit) {
  return std::string(what) + " may be at most " + std::to_string(limit);
}

std::string axis_misfit(const Problem& words, std::span<const int> order, int modes,
                        std::int64_t block, const std::string& side) {
  if (modes < 1 || modes > std::min<int>(kAxisModes, static_cast<int>(order.size()))) {
    return "a slice combines from 1 to " + std::to_string(kAxisModes) + " modes of the " + side;
  }
  const auto last = static_cast<std::size_t>(order[static_cast<std::size_t>(modes - 1)]);
  if (block >= 1 && block <= words.modes[last].extent) return {};
  return "the block of the " + side + "'s last mode must be from 1 to its extent, " +
         std::to_string(words.modes[last].extent);
}

std::string large_misfit(const Slice& slice, std::int64_t bytes) {
  if (slice.in_modes != 1 || slice.out_modes != 1 || slice.out_block != 1) {
    return "it cuts the first mode alone";
  }
  return bytes > kChunkBytes ? more_than("the bytes of a chunk", kChunkBytes) : "";
}

std::string small_misfit(const Slice& slice, std::int64_t bytes) {
  if (slice.in_modes != 2 || slice.out_modes != 2) return "it cuts two modes";
  if (std::max(slice.in_block, slice.out_block) > kMaxSmallBlock) {
    return more_than("a block", kMaxSmallBlock);
  }
  return bytes > kSliceBytes ? more_than("the bytes of a slice", kSliceBytes) : "";
}

std::string arbitrary_misfit(int modes, std::int64_t elements, std::int64_t limit) {
  if (modes > kAxisModes) return more_than("the modes of a slice", kAxisModes);
  return elements > limit ? more_than("the elements of a slice", limit) : "";
}

std::string slice_misfit(const Problem& words, const Parameters& parameters,
                         std::int64_t alignment) {
  const Slice& slice = parameters.slice;
  const std::span<const int> in_order = identity_order(words.modes.size());
  std::string reason = axis_misfit(words, in_order, slice.in_modes, slice.in_block, "input");
  if (!reason.empty()) return reason;
  reason = axis_misfit(words, words.perm, slice.out_modes, slice.out_block, "output");
  if (!reason.empty()) return reason;
  int modes = slice.in_modes;
  for (int i = 0; i < slice.out_modes; ++i) {
    modes += words.perm[static_cast<std::size_t>(i)] >= slice.in_modes;
  }
  const std::vector<std::int64_t> extents = slice_extents(words, parameters);
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) elements = checked_mul(elements, extent);
  switch (parameters.schema) {
    case Schema::fvi_match_large:
      return large_misfit(slice, elements * words.element_bytes);
    case Schema::fvi_match_small:
      return small_misfit(slice, elements * words.element_bytes);
    case Schema::orthogonal_arbitrary:
      if (slice_span(words, extents) > INT32_MAX) {
        return more_than("the distance of two elements of a slice", INT32_MAX);
      }
      return arbitrary_misfit(
          modes, elements,
          arbitrary_slice_limit(words.element_bytes,
                                vector_access_of(words, parameters, alignment, alignment)));
    case Schema::orthogonal_distinct:
      if (elements > INT32_MAX) return more_than("the elements of a slice", INT32_MAX);
      return modes == slice.in_modes + slice.out_modes
                 ? ""
                 : "the modes of the input and of the output in a slice must be distinct";
    case Schema::copy:
      break;
  }
  return {};
}

bool is_outside(const Problem& words, const Slice& slice, int mode) {
  const auto place = std::ranges::find(words.perm, mode) - words.perm.begin();
  return mode >= slice.in_modes && mode < static_cast<int>(words.modes.size()) &&
         place >= slice.out_modes;
}

}  // namespace

std::string misfit(const Problem& words, const Parameters& parameters, std::int64_t alignment) {
  if (!is_admissible(parameters.schema, words)) {
    return "it needs " + std::string(requirement_of(parameters.schema));
  }
  if (parameters.schema == Schema::copy) {
    return parameters == Parameters{} ? "" : "it has neither slice nor coarsened mode";
  }
  const std::string reason = slice_misfit(words, parameters, alignment);
  if (!reason.empty() || parameters.coarsened_mode == -1) return reason;
  if (!is_outside(words, parameters.slice, parameters.coarsened_mode)) {
    return "the coarsened mode must lie outside the slice";
  }
  return coarsening(words, parameters) > INT32_MAX
             ? more_than("the extent of the coarsened mode", INT32_MAX)
             : "";
}

}  // namespace ttlg::cuda
