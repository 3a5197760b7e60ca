#include "plan/cuda/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

#include "plan/cuda/shared_layout.hpp"
#include "plan/cuda/slice_geometry.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

constexpr std::array<std::string_view, 5> kSchemaNames{
    "copy", "fvi_match_large", "fvi_match_small", "orthogonal_distinct", "orthogonal_arbitrary"};

// Tensors up to this size keep every slice in a block of its own (T-19).
constexpr std::int64_t kMinCoarsenedBytes = 2 << 20;
constexpr std::int64_t kMinCoarsenedExtent = 4;
constexpr std::int64_t kMaxCoarsenedExtent = 32;

const Mode& mode_of(const Problem& words, int m) {
  return words.modes[static_cast<std::size_t>(m)];
}

bool is_vector_word(std::int64_t bytes) {
  return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

// The mode that is cut on a side, or -1.
int blocked_in_mode(const Parameters& parameters) { return parameters.slice.in_modes - 1; }

int blocked_out_mode(const Problem& words, const Parameters& parameters) {
  const int modes = parameters.slice.out_modes;
  if (modes == 0 || parameters.schema == Schema::fvi_match_large) return -1;
  return words.perm[static_cast<std::size_t>(modes - 1)];
}

GridLoop loop_over(const Mode& mode, std::int64_t block) {
  return {ceil_div(mode.extent, block), block * mode.in_byte_stride, block * mode.out_byte_stride};
}

constexpr bool is_vector_multiple(std::int64_t bytes) { return bytes % kVectorBytes == 0; }

// Whether the modes of `axis` lie in one run on a side, and every piece of that run in which slices
// take it begins and ends at a multiple of 16 bytes.
bool has_vector_runs(const Problem& words, std::span<const int> axis,
                     std::span<const std::int64_t> extents, std::int64_t Mode::* stride) {
  std::uint64_t seen = 0;
  std::int64_t run = words.element_bytes;
  for (const int m : axis) {
    const Mode& mode = mode_of(words, m);
    if (mode.*stride != run) return false;
    seen |= std::uint64_t{1} << m;
    const std::int64_t extent = extents[static_cast<std::size_t>(m)];
    if (extent < mode.extent && !is_vector_multiple(run * extent)) return false;
    run *= mode.extent;
  }
  if (!is_vector_multiple(run)) return false;
  for (std::size_t m = 0; m < words.modes.size(); ++m) {
    if ((seen >> m & 1) == 0 && !is_vector_multiple(words.modes[m].*stride)) return false;
  }
  return true;
}

}  // namespace

std::string_view schema_name(Schema schema) {
  return kSchemaNames[static_cast<std::size_t>(schema)];
}

std::optional<Schema> schema_from_name(std::string_view name) {
  const auto found = std::ranges::find(kSchemaNames, name);
  if (found == kSchemaNames.end()) return std::nullopt;
  return static_cast<Schema>(found - kSchemaNames.begin());
}

std::int64_t place_alignment(const Problem& problem, std::int64_t alignment) {
  return common_power(alignment | problem.in_byte_offset | problem.out_byte_offset, kVectorBytes);
}

Problem word_form(const Problem& problem, std::int64_t alignment) {
  Problem words = problem;
  if (problem.bytes() == 0) return words;
  const bool has_run = !words.modes.empty() &&
                       words.modes.front().in_byte_stride == words.element_bytes &&
                       words.modes.front().out_byte_stride == words.element_bytes;
  const std::int64_t element = words.element_bytes;
  if (has_run) words = fold_run(std::move(words));
  const std::int64_t run = words.element_bytes;
  // Longer runs keep their elements, which the taxonomy counts, except the narrowest.
  const std::int64_t widest =
      is_vector_word(run) ? run : std::max<std::int64_t>(common_power(element, kVectorBytes), 4);
  std::int64_t bits = run | place_alignment(problem, alignment);
  for (const Mode& mode : words.modes) bits |= mode.in_byte_stride | mode.out_byte_stride;
  words.element_bytes = common_power(bits, widest);
  if (words.element_bytes < run) {
    words.modes.insert(words.modes.begin(),
                       {run / words.element_bytes, words.element_bytes, words.element_bytes});
    for (int& m : words.perm) ++m;
    words.perm.insert(words.perm.begin(), 0);
  }
  return words;
}

std::vector<std::int64_t> slice_extents(const Problem& words, const Parameters& parameters) {
  std::vector<std::int64_t> extents(words.modes.size());
  fill_slice_extents(words, parameters, extents);
  return extents;
}

std::vector<GridLoop> grid_loops(const Problem& words, const Parameters& parameters) {
  if (parameters.schema == Schema::copy) return {};
  const std::vector<std::int64_t> extents = slice_extents(words, parameters);
  const int in_mode = blocked_in_mode(parameters);
  const int out_mode = blocked_out_mode(words, parameters);
  std::vector<GridLoop> loops(2, GridLoop{1, 0, 0});
  loops.reserve(words.modes.size() + 2);
  const auto loop = [&](int m) {
    return loop_over(mode_of(words, m), extents[static_cast<std::size_t>(m)]);
  };
  // A mode that both sides cut is one of the input's axis.
  if (out_mode >= 0 && out_mode != in_mode) loops[0] = loop(out_mode);
  loops[1] = loop(in_mode);
  for (const int m : words.perm) {
    if (m == in_mode || m == out_mode || m == parameters.coarsened_mode) continue;
    if (extents[static_cast<std::size_t>(m)] < mode_of(words, m).extent) loops.push_back(loop(m));
  }
  return loops;
}

std::int64_t grid_blocks(const Problem& words, const Parameters& parameters) {
  std::int64_t blocks = 1;
  for (const GridLoop& loop : grid_loops(words, parameters)) {
    blocks = checked_mul(blocks, loop.count);
  }
  return blocks;
}

std::int64_t coarsening(const Problem& words, const Parameters& parameters) {
  return parameters.coarsened_mode < 0 ? 1 : mode_of(words, parameters.coarsened_mode).extent;
}

int coarsened_mode(const Problem& words, const Parameters& parameters) {
  if (parameters.schema == Schema::copy || words.bytes() <= kMinCoarsenedBytes) return -1;
  const std::span out_order =
      std::span(words.perm).first(static_cast<std::size_t>(parameters.slice.out_modes));
  for (int m = parameters.slice.in_modes; m < static_cast<int>(words.modes.size()); ++m) {
    const std::int64_t extent = mode_of(words, m).extent;
    if (extent < kMinCoarsenedExtent || extent > kMaxCoarsenedExtent) continue;
    if (std::ranges::find(out_order, m) == out_order.end()) return m;
  }
  return -1;
}

VectorAccess vector_access_of(const Problem& words, const Parameters& parameters,
                              std::int64_t in_alignment, std::int64_t out_alignment) {
  const bool in_aligned = is_vector_multiple(in_alignment);
  const bool out_aligned = is_vector_multiple(out_alignment);
  if (words.element_bytes == kVectorBytes) return {in_aligned, out_aligned};
  if (parameters.schema == Schema::copy) {
    const bool vector = in_aligned && out_aligned;
    return {vector, vector};
  }
  std::array<std::int64_t, kMaxRank> storage;
  const std::span extents(storage.data(), words.modes.size());
  fill_slice_extents(words, parameters, extents);
  const auto in_modes = static_cast<std::size_t>(parameters.slice.in_modes);
  const auto out_modes = static_cast<std::size_t>(parameters.slice.out_modes);
  if (parameters.schema == Schema::orthogonal_arbitrary ||
      parameters.schema == Schema::orthogonal_distinct) {
    const auto in_axis = identity_order(words.modes.size()).first(in_modes);
    const auto out_axis = std::span(words.perm).first(out_modes);
    return {in_aligned && has_vector_runs(words, in_axis, extents, &Mode::in_byte_stride),
            out_aligned && has_vector_runs(words, out_axis, extents, &Mode::out_byte_stride)};
  }
  const auto run = identity_order(1);
  const bool vector = in_aligned && out_aligned &&
                      has_vector_runs(words, run, extents, &Mode::in_byte_stride) &&
                      has_vector_runs(words, run, extents, &Mode::out_byte_stride);
  return {vector, vector};
}

std::int64_t run_word_bytes(const Problem& words, std::int64_t chunk, std::int64_t alignment) {
  const Mode& run = words.modes.front();
  if (run.in_byte_stride != words.element_bytes || run.out_byte_stride != words.element_bytes) {
    return words.element_bytes;
  }
  std::int64_t bits = (chunk | run.extent) * words.element_bytes | alignment;
  for (const Mode& mode : std::span(words.modes).subspan(1)) {
    bits |= mode.in_byte_stride | mode.out_byte_stride;
  }
  return common_power(bits, kVectorBytes);
}

int run_lanes(std::int64_t chunk_words, std::int64_t word_bytes) {
  constexpr std::int64_t kSteps = 4;  // that a thread has in flight
  std::int64_t best = std::min<std::int64_t>(kBlockThreads, 128 / word_bytes);
  if (chunk_words <= best) {
    return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(chunk_words)));
  }
  for (std::int64_t lanes = 2 * best; lanes <= kBlockThreads; lanes *= 2) {
    const auto places = [&](std::int64_t n) { return ceil_div(chunk_words, n) * n; };
    if (ceil_div(chunk_words, best) > kSteps || places(lanes) < places(best)) best = lanes;
  }
  return static_cast<int>(best);
}

Plan assemble(const Request& request, std::int64_t alignment, Problem problem, Problem words,
              const Parameters& parameters, std::string device) {
  Plan plan(request, std::move(problem), parameters);
  plan.alignment = alignment;
  plan.words = std::move(words);
  plan.device = std::move(device);
  const std::int64_t places = place_alignment(plan.words, alignment);
  const std::string reason = misfit(plan.words, parameters, places);
  if (!reason.empty()) {
    throw std::invalid_argument("kernel '" + std::string(schema_name(parameters.schema)) +
                                "' does not apply so: " + reason);
  }
  if (parameters.schema == Schema::orthogonal_arbitrary) {
    plan.skew = choose_skew(slice_in_output_order(plan.words, parameters), plan.words.element_bytes,
                            vector_access_of(plan.words, parameters, places, places));
  }
  return plan;
}

Plan build_plan(const Request& request, std::int64_t alignment, const Parameters& parameters,
                std::string device) {
  Problem problem = make_problem(request);
  Problem words = word_form(problem, alignment);
  return assemble(request, alignment, std::move(problem), std::move(words), parameters,
                  std::move(device));
}

}  // namespace ttlg::cuda
