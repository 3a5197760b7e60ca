#include "plan/planner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

namespace ttlg {
namespace {

// Below this many bytes per thread, waking a second thread costs more than it saves.
constexpr std::int64_t kMinBytesPerThread = 512 << 10;
constexpr std::int64_t kCopyChunkBytes = 256 << 10;

bool is_vector_width(std::int64_t bytes) {
  return bytes <= 16 && std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

bool is_copy(const Problem& folded) { return folded.modes.empty() || folded.elements() == 0; }

bool is_tile(const Problem& folded) {
  if (is_copy(folded) || folded.perm.front() == 0 || !is_vector_width(folded.element_bytes)) {
    return false;
  }
  const Mode& in_mode = folded.modes.front();
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  return in_mode.in_byte_stride == folded.element_bytes &&
         out_mode.out_byte_stride == folded.element_bytes;
}

bool is_run(const Problem& folded) { return !is_copy(folded); }

bool always(const Problem&) { return true; }

constexpr std::array<Rule, 4> kCascade{{
    {Kernel::copy, is_copy, "all modes fused into one run that is contiguous on both sides"},
    {Kernel::tile, is_tile,
     "elements (runs included) of 1, 2, 4, 8 or 16 bytes, and different fastest modes, each of "
     "unit stride on its side"},
    {Kernel::run, is_run, "at least one mode besides the contiguous run"},
    {Kernel::reference, always, "nothing"},
}};

std::int64_t floor_pow2(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

// A block is about square in bytes, so that both sides see runs of similar length, and as large as
// the staging buffer; where one mode is short the other takes what is left.
void choose_block(const Nest& nest, Parameters& parameters) {
  const std::int64_t element = nest.element_bytes;
  const std::int64_t in_extent = nest.in_mode.extent;
  const std::int64_t out_extent = nest.out_mode.extent;
  const std::int64_t budget = std::max<std::int64_t>(kStagingBytes / element, 1);
  std::int64_t side = 1;
  while (4 * side * side <= budget) side *= 2;
  std::int64_t block_in = std::min(in_extent, side);
  std::int64_t block_out = std::min(out_extent, floor_pow2(budget / block_in));
  block_in = std::min(in_extent, floor_pow2(budget / block_out));
  // Rows of the staging buffer are padded to whole lines.
  while (block_in > 1 && block_in * staging_pitch(block_out * element) > kStagingBytes) {
    block_in = floor_pow2(block_in - 1);
  }
  parameters.block_in = std::max<std::int64_t>(block_in, 1);
  parameters.block_out = std::max<std::int64_t>(block_out, 1);
}

// Streaming stores pay once the output no longer fits in the caches: nothing there is evicted for
// it, and whole lines are not read before they are overwritten.
bool worth_streaming(const Nest& nest, std::int64_t bytes, const Machine& machine) {
  const bool contiguous_rows = nest.out_mode.out_byte_stride == nest.element_bytes ||
                               nest.element_bytes >= kDirectRunBytes;
  return contiguous_rows && bytes > machine.last_level_cache_bytes;
}

Kernel choose_kernel(const Problem& folded) {
  return std::ranges::find_if(kCascade, [&](const Rule& rule) { return rule.applies(folded); })
      ->kernel;
}

}  // namespace

std::span<const Rule> cascade() { return kCascade; }

void check_kernel(Kernel kernel, const Problem& folded) {
  const Rule& rule = *std::ranges::find(kCascade, kernel, &Rule::kernel);
  if (!rule.applies(folded)) {
    throw std::invalid_argument("kernel '" + std::string(kernel_name(kernel)) +
                                "' does not apply: it needs " + std::string(rule.requirement));
  }
}

Plan make_plan(const Request& request, const Machine& machine, int threads,
               std::optional<Kernel> forced) {
  Problem problem = make_problem(request);
  const Problem folded = fold_run(problem);
  if (forced) check_kernel(*forced, folded);
  Parameters parameters;
  parameters.kernel = forced.value_or(choose_kernel(folded));
  Nest nest = make_nest(folded, parameters.kernel);
  if (parameters.kernel != Kernel::reference) {
    const std::int64_t bytes = folded.bytes();
    if (parameters.kernel == Kernel::copy) {
      parameters.block_out = std::clamp<std::int64_t>(bytes, 1, kCopyChunkBytes);
    } else {
      choose_block(nest, parameters);
    }
    parameters.threads = static_cast<int>(
        std::clamp<std::int64_t>(bytes / kMinBytesPerThread, 1, std::max(threads, 1)));
    parameters.streaming = worth_streaming(nest, bytes, machine);
  }
  return assemble(request, std::move(problem), std::move(nest), parameters);
}

}  // namespace ttlg
