#include "plan/planner.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace ttlg {
namespace {

// Below this many bytes per thread, waking a second thread costs more than it saves.
constexpr std::int64_t kMinBytesPerThread = 512 << 10;
constexpr std::int64_t kRunBlockBytes = 6 << 10;
constexpr std::int64_t kTargetRowBytes = 8 * kLineBytes;
constexpr std::int64_t kMinStreamedRows = 9;
constexpr std::int64_t kMinStreamedRowBytes = 3 * kLineBytes;
constexpr std::int64_t kCopyChunkBytes = 256 << 10;

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

// Cuts an extent into pieces near the target, in whole vectors, or leaves a short one whole.
std::int64_t split(std::int64_t extent, std::int64_t target) {
  constexpr std::int64_t kGrain = 8;
  if (extent <= 2 * target) return extent;
  const std::int64_t pieces = extent / target;
  return ceil_div(ceil_div(extent, pieces), kGrain) * kGrain;
}

// Aims at source rows of one or two lines, which keep the requested lines few, and at output rows
// of eight lines, which keep most of them whole; where one mode is short the other takes what is
// left. Found by a sweep over matrices and TTC shapes on a Zen 5.
void choose_tile_block(const Nest& nest, Parameters& parameters) {
  const std::int64_t in = std::max<std::int64_t>(16, kLineBytes / nest.element_bytes);
  const std::int64_t out = kTargetRowBytes / nest.element_bytes;
  const std::int64_t area = in * out / 2;  // halved, because split may double it
  parameters.block_out = split(nest.out_mode.extent, out);
  parameters.block_in = split(nest.in_mode.extent, std::max(in, area / parameters.block_out));
  parameters.block_out = split(nest.out_mode.extent, std::max(out, area / parameters.block_in));
}

// About square, so that both sides visit neighbouring runs, and small: this block's lines, the
// requested ones and the staging buffer share L1. Found by the same sweep.
void choose_run_block(const Nest& nest, Parameters& parameters) {
  const std::int64_t area = std::max<std::int64_t>(kRunBlockBytes / nest.element_bytes, 1);
  std::int64_t in = 1;
  while (4 * in * in <= area) in *= 2;
  parameters.block_in = std::min(nest.in_mode.extent, in);
  parameters.block_out = std::min(nest.out_mode.extent, area / parameters.block_in);
  parameters.block_in = std::min(nest.in_mode.extent, area / parameters.block_out);
}

void choose_block(const Nest& nest, Parameters& parameters) {
  if (parameters.kernel == Kernel::tile) {
    choose_tile_block(nest, parameters);
  } else {
    choose_run_block(nest, parameters);
  }
  // Rows long enough to be streamed must fit in the staging buffer.
  if (parameters.block_out * nest.element_bytes < kMinStreamedRowBytes) return;
  const std::int64_t longest_row = kStagingBytes / parameters.block_in / kLineBytes * kLineBytes;
  parameters.block_out =
      std::clamp<std::int64_t>(longest_row / nest.element_bytes, 1, parameters.block_out);
}

// Streaming stores pay once the output no longer fits in the caches: nothing there is evicted for
// it, and whole lines are not read before they are overwritten. Rows of fewer lines than three are
// mostly partial lines, which are better left to the caches, and so are blocks of a few rows: each
// is one long sequence, which the caches write back in whole lines by themselves.
bool worth_streaming(const Nest& nest, const Parameters& parameters, std::int64_t bytes,
                     const Machine& machine) {
  if (bytes <= machine.last_level_cache_bytes) return false;
  if (parameters.kernel == Kernel::copy || nest.element_bytes >= kDirectRunBytes) return true;
  if (parameters.kernel == Kernel::tile && parameters.block_in < kMinStreamedRows) return false;
  return nest.out_mode.out_byte_stride == nest.element_bytes &&
         parameters.block_out * nest.element_bytes >= kMinStreamedRowBytes;
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
  parameters.kernel = forced ? *forced : choose_kernel(folded);
  Nest nest = make_nest(folded, parameters.kernel);
  if (parameters.kernel != Kernel::reference) {
    const std::int64_t bytes = folded.bytes();
    if (parameters.kernel == Kernel::copy) {
      parameters.block_out = std::clamp<std::int64_t>(bytes, 1, kCopyChunkBytes);
    } else {
      choose_block(nest, parameters);
    }
    parameters.threads = static_cast<int>(std::clamp<std::int64_t>(
        bytes / kMinBytesPerThread, 1, std::clamp(threads, 1, kMaxThreads)));
    parameters.streaming = worth_streaming(nest, parameters, bytes, machine);
  }
  return assemble(request, std::move(problem), std::move(nest), parameters);
}

}  // namespace ttlg
