#include "tensor/problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tensor/axes.hpp"
#include "tensor/contiguous_run.hpp"
#include "tensor/inplace_vector.hpp"
#include "tensor/integer.hpp"

namespace ttlg {
namespace {

void check_axes(std::span<const int> axes) {
  std::array<std::int64_t, kMaxRank> given;
  std::array<int, kMaxRank> normalized;
  std::ranges::copy(axes, given.begin());
  const AxesCheck check =
      normalize_axes(std::span(given).first(axes.size()), std::span(normalized).first(axes.size()));
  if (check.error != AxesError::none ||
      std::ranges::any_of(axes, [](int axis) { return axis < 0; })) {
    throw std::invalid_argument("axes must be a permutation of 0.." + std::to_string(axes.size()) +
                                "-1");
  }
}

// Bytes between the first and the last element of one axis.
std::int64_t reach(std::int64_t extent, std::int64_t byte_stride) {
  if (extent <= 1) return 0;
  if (byte_stride == INT64_MIN) throw std::overflow_error("a stride exceeds the 64-bit range");
  return checked_mul(extent - 1, std::abs(byte_stride));
}

// Rejects a request whose sizes disagree or whose offsets leave the 64-bit range, so that no later
// pass has to look again.
void check_request(const Request& request) {
  const std::size_t rank = request.shape.size();
  if (rank > kMaxRank) {
    throw std::invalid_argument("rank " + std::to_string(rank) + " exceeds the limit of " +
                                std::to_string(kMaxRank));
  }
  if (request.in_byte_strides.size() != rank || request.axes.size() != rank ||
      (!request.out_byte_strides.empty() && request.out_byte_strides.size() != rank)) {
    throw std::invalid_argument("shape, strides and axes must have the same length");
  }
  if (request.itemsize < 0) throw std::invalid_argument("itemsize must not be negative");
  if (!std::has_single_bit(static_cast<std::uint64_t>(request.out_alignment))) {
    throw std::invalid_argument("out_alignment must be a power of two, not " +
                                std::to_string(request.out_alignment));
  }
  const auto [from, to] = std::pair(request.map.from, request.map.to);
  if (request.map != ElementMap{} &&
      (from == Type::bits || to == Type::bits || bytes_of(from) != request.itemsize)) {
    throw std::invalid_argument("an element map must have two types, the first of itemsize (" +
                                std::to_string(request.itemsize) + ") bytes");
  }
  if (request.map.axis >= std::ssize(request.shape)) {
    throw std::invalid_argument("an element map's axis must be below the rank");
  }
  check_axes(request.axes);

  const bool empty = std::ranges::find(request.shape, 0) != request.shape.end();
  std::int64_t bytes = std::max(request.itemsize, request.out_itemsize());
  std::int64_t in_span = 0;
  std::int64_t out_span = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (request.shape[i] < 0) throw std::invalid_argument("extents must not be negative");
    bytes = checked_mul(bytes, std::max<std::int64_t>(request.shape[i], 1));
    if (empty) continue;  // no step is taken along any axis, so strides may be anything
    in_span = checked_add(in_span, reach(request.shape[i], request.in_byte_strides[i]));
    if (request.out_byte_strides.empty()) continue;
    const std::int64_t out_extent = request.shape[static_cast<std::size_t>(request.axes[i])];
    out_span = checked_add(out_span, reach(out_extent, request.out_byte_strides[i]));
  }
}

// Whether a mode's stride is the step from one whole run of the mode inside it to the next. That
// step may lie beyond 64 bits where the run itself does not.
bool continues(std::int64_t stride, std::int64_t inner_extent, std::int64_t inner_stride) {
  std::int64_t step;
  return !__builtin_mul_overflow(inner_extent, inner_stride, &step) && stride == step;
}

bool goes_on_from(const Mode& inner, const Mode& mode) {
  return continues(mode.in_byte_stride, inner.extent, inner.in_byte_stride) &&
         continues(mode.out_byte_stride, inner.extent, inner.out_byte_stride);
}

// perm follows from the output strides alone, so every pass that reorders modes ends here.
void set_perm(Problem& problem) {
  problem.perm.resize(problem.modes.size());
  std::iota(problem.perm.begin(), problem.perm.end(), 0);
  insertion_sort(problem.perm, [&](int i, int j) {
    return std::abs(problem.modes[static_cast<std::size_t>(i)].out_byte_stride) <
           std::abs(problem.modes[static_cast<std::size_t>(j)].out_byte_stride);
  });
}

// Runs along a mode in the other direction.
void flip(Problem& problem, Mode& mode) {
  problem.in_byte_offset += (mode.extent - 1) * mode.in_byte_stride;
  problem.out_byte_offset += (mode.extent - 1) * mode.out_byte_stride;
  mode.in_byte_stride = -mode.in_byte_stride;
  mode.out_byte_stride = -mode.out_byte_stride;
  mode.value_step = -mode.value_step;
}

// The fastest modes of a side, in `order`, as many as a vector of any level is filled with.
std::bitset<kMaxRank> modes_of_vectors(const Problem& problem, std::span<const int> order,
                                       std::int64_t Mode::* step, std::int64_t element_bytes) {
  constexpr std::int64_t kVectorBytes = 64;
  std::bitset<kMaxRank> modes;
  ContiguousRun run(element_bytes);
  for (const int index : order) {
    const auto m = static_cast<std::size_t>(index);
    const Mode& mode = problem.modes[m];
    if (run.bytes() >= kVectorBytes || !run.extend(std::abs(mode.*step), mode.extent)) break;
    modes.set(m);
  }
  return modes;
}

}  // namespace

std::span<const int> identity_order(std::size_t count) {
  static constexpr auto kNumbers = [] {
    std::array<int, kMaxRank> numbers{};
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }();
  return std::span(kNumbers).first(count);
}

std::int64_t Problem::elements() const {
  std::int64_t count = 1;
  for (const Mode& mode : modes) count *= mode.extent;
  return count;
}

std::string Problem::conversion_obstacle() const {
  if (moves_bits()) return "";
  return "elements are to be converted (from " + std::to_string(in_bytes) + " to " +
         std::to_string(out_bytes) + " bytes each), not only moved";
}

void Problem::refuse_conversion() const { throw std::invalid_argument(conversion_obstacle()); }

std::int64_t Request::out_itemsize() const {
  return map.is_identity() ? itemsize : bytes_of(map.to);
}

std::vector<std::int64_t> Request::out_shape() const {
  std::vector<std::int64_t> result;
  result.reserve(axes.size());
  for (const int axis : axes) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

std::vector<std::int64_t> Request::resolved_out_byte_strides() const {
  return out_byte_strides.empty() ? contiguous_byte_strides(out_shape(), out_itemsize())
                                  : out_byte_strides;
}

std::vector<std::int64_t> contiguous_byte_strides(std::span<const std::int64_t> shape,
                                                  std::int64_t itemsize) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = itemsize;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride = checked_mul(stride, std::max<std::int64_t>(shape[axis], 1));
  }
  return strides;
}

Problem drop_unit_modes(Problem problem) {
  std::erase_if(problem.modes, [](const Mode& mode) { return mode.extent == 1; });
  set_perm(problem);
  return problem;
}

Problem flip_negative_strides(Problem problem) {
  for (Mode& mode : problem.modes) {
    if (mode.out_byte_stride < 0) flip(problem, mode);
  }
  set_perm(problem);
  return problem;
}

Problem sort_by_input_stride(Problem problem) {
  // A broadcast mode (stride 0) repeats what lies inside it: it varies slowest.
  const auto key = [](const Mode& mode) {
    const std::int64_t stride = std::abs(mode.in_byte_stride);
    return std::pair{stride == 0 ? INT64_MAX : stride, mode.out_byte_stride};
  };
  insertion_sort(problem.modes, [&](const Mode& x, const Mode& y) { return key(x) < key(y); });
  set_perm(problem);
  return problem;
}

Problem fuse_modes(Problem problem) {
  std::vector<Mode> fused;
  fused.reserve(problem.modes.size());
  for (const Mode& mode : problem.modes) {
    if (!fused.empty()) {
      Mode& inner = fused.back();
      if (goes_on_from(inner, mode) && mode.value_step == inner.value_step * inner.extent) {
        inner.extent *= mode.extent;
        continue;
      }
    }
    fused.push_back(mode);
  }
  problem.modes = std::move(fused);
  set_perm(problem);
  return problem;
}

// Kernels step through whole vectors of either side forwards, and around them in any direction.
Problem place_signs(Problem problem) {
  if (std::ranges::none_of(problem.modes, [](const Mode& m) { return m.in_byte_stride < 0; })) {
    return problem;
  }
  const auto read = modes_of_vectors(problem, identity_order(problem.modes.size()),
                                     &Mode::in_byte_stride, problem.in_bytes);
  const auto written =
      modes_of_vectors(problem, problem.perm, &Mode::out_byte_stride, problem.out_bytes);
  for (std::size_t m = 0; m < problem.modes.size(); ++m) {
    if (problem.modes[m].in_byte_stride < 0 && read[m] && !written[m]) {
      flip(problem, problem.modes[m]);
    }
  }
  return problem;
}

Problem fold_run(Problem problem) {
  if (problem.moves_bits() && !problem.modes.empty()) {
    const Mode& first = problem.modes.front();
    if (first.in_byte_stride == problem.in_bytes && first.out_byte_stride == problem.out_bytes) {
      problem.in_bytes = problem.out_bytes = problem.in_bytes * first.extent;
      problem.modes.erase(problem.modes.begin());
      set_perm(problem);
    }
  }
  return problem;
}

Problem gather_bits(const Problem& problem) {
  if (problem.moves_bits()) return fold_run(problem);
  Problem bits = problem;
  bits.out_bytes = bits.in_bytes;
  bits.map = {};
  bits.out_alignment = 1;
  Conversion conversion{
      .map = problem.map, .from_bytes = problem.in_bytes, .to_bytes = problem.out_bytes};
  // Where fused modes go; the axis of the values is inside of one.
  bits.modes.clear();
  for (Mode mode : problem.modes) {
    if (mode.out_byte_stride % problem.out_bytes != 0) {
      throw std::invalid_argument(
          "elements that are converted need an output whose steps are "
          "multiples of their " +
          std::to_string(problem.out_bytes) + " bytes");
    }
    mode.out_byte_stride = checked_mul(mode.out_byte_stride / problem.out_bytes, problem.in_bytes);
    const bool goes_on = !bits.modes.empty() && goes_on_from(bits.modes.back(), mode);
    if (mode.value_step != 0) {
      conversion.values = {.mode = static_cast<int>(bits.modes.size()) - (goes_on ? 1 : 0),
                           .inner = goes_on ? bits.modes.back().extent : 1,
                           .extent = mode.extent,
                           .is_reversed = mode.value_step < 0};
      mode.value_step = 0;
    }
    if (goes_on) {
      bits.modes.back().extent *= mode.extent;
    } else {
      bits.modes.push_back(mode);
    }
  }
  set_perm(bits);
  const std::size_t modes = bits.modes.size();
  bits = fold_run(std::move(bits));
  if (bits.modes.size() < modes) --conversion.values.mode;
  bits.conversion = conversion;
  return bits;
}

Problem make_problem(const Request& request) {
  check_request(request);
  Problem problem;
  problem.in_bytes = request.itemsize;
  problem.out_bytes = request.out_itemsize();
  problem.map = request.map;
  const std::size_t rank = request.shape.size();
  const bool empty =
      request.itemsize == 0 || std::ranges::find(request.shape, 0) != request.shape.end();
  if (empty) {
    problem.modes = {Mode{0, problem.in_bytes, problem.out_bytes}};
    set_perm(problem);
    return problem;
  }
  const std::vector<std::int64_t> out_strides = request.resolved_out_byte_strides();
  // The input's last axis is mode 0.
  problem.modes.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<std::size_t>(request.axes[i]);
    problem.modes[rank - 1 - axis] =
        Mode{request.shape[axis], request.in_byte_strides[axis], out_strides[i],
             request.map.varies() && request.map.axis == static_cast<int>(axis) ? 1 : 0};
  }
  problem = flip_negative_strides(drop_unit_modes(std::move(problem)));
  problem = fuse_modes(sort_by_input_stride(std::move(problem)));
  // In place, what is turned around stays where it is.
  if (!request.inplace) problem = place_signs(std::move(problem));
  problem.out_alignment = common_power(problem.out_byte_offset, request.out_alignment);
  return problem;
}

bool is_free_of_self_overlap(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> byte_strides, std::int64_t itemsize) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // |stride|, extent
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return true;
    if (shape[axis] > 1) steps.emplace_back(std::abs(byte_strides[axis]), shape[axis]);
  }
  std::ranges::sort(steps);
  std::int64_t reach = itemsize;  // bytes spanned by everything inside the current axis
  for (const auto& [stride, extent] : steps) {
    if (stride < reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

}  // namespace ttlg
