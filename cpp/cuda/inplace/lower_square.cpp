#include <algorithm>
#include <bit>
#include <stdexcept>

#include "cuda/inplace/lower.hpp"
#include "cuda/inplace/lower_groups.hpp"
#include "cuda/lower_common.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

std::int64_t matrices_of(const InplaceStep& step) { return step.batch * step.between; }

// All but the first matrix.
SquareMatrices lower_matrices(const InplaceStep& step) {
  const std::int64_t inner_step = step.columns * step.element_bytes;
  const std::int64_t row_stride = step.between * inner_step;
  return {.first = 0,
          .between = FastDivisor(step.between),
          .inner_step = inner_step,
          .outer_step = step.rows * row_stride,
          .row_stride = row_stride};
}

// The logarithm of a power of two.
std::uint32_t logarithm(std::int64_t power) {
  return static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(power)));
}

class SquareLowering {
 public:
  SquareLowering(const InplaceStep& step, std::int64_t address)
      : step_(step), policy_(step.element_bytes), tiles_(ceil_div(step.rows, policy_.tile_order)) {
    launch_.word_bytes = static_cast<int>(step.element_bytes);
    // Rows of whole vectors, each of them aligned.
    const bool vectors = (step.columns * step.element_bytes | address) % kMaxAccessBytes == 0;
    launch_.access = {.vector_in = vectors, .vector_out = vectors};
    launch_.threads = block_threads(step);
    const int groups = std::max(launch_.threads / SquarePolicy::kThreads, 1);
    const int parts =
        policy_.tile_bytes / OrthogonalDistinctPolicy(step.element_bytes).buffer_bytes;
    groups_of_pair_ = std::min(groups, 2 * parts);
    pairs_ = groups / groups_of_pair_;
    launch_.shared_bytes = pairs_ * 2 * policy_.tile_bytes;
  }

  std::vector<Launch> all() {
    switch (step_.kernel) {
      case InplaceKernel::square_ip:
        append_region(tiles_, 0, 0);
        break;
      case InplaceKernel::square_sg:
        append_regions();
        break;
      case InplaceKernel::square_v1r:
        append_scheme(Scheme::v1r, 1);
        break;
      case InplaceKernel::square_v1:
        append_scheme(Scheme::v1, 1);
        break;
      case InplaceKernel::square_v2:
        append_scheme(Scheme::v2, 1);
        break;
      case InplaceKernel::square_v1b:
        append_scheme(Scheme::v1b, step_.width);
        break;
      case InplaceKernel::square_tw:
      case InplaceKernel::runs:
      case InplaceKernel::cells:
      case InplaceKernel::skinny:
      case InplaceKernel::c2r:
      case InplaceKernel::r2c:
        throw std::logic_error("this kernel has no tiles");
    }
    return std::move(launches_);
  }

 private:
  // As many launches as the limit of a grid asks for.
  void append(TileOrder tiles, std::int64_t visits) {
    SquareArguments arguments{.matrices = lower_matrices(step_),
                              .order = narrow32(step_.rows),
                              .visits = FastDivisor32(visits),
                              .count = 0,
                              .tiles = tiles,
                              .shares = {.threads = narrow32(launch_.threads),
                                         .groups_shift = logarithm(groups_of_pair_),
                                         .pairs_shift = logarithm(pairs_)}};
    const std::int64_t max_matrices = std::max<std::int64_t>(kMaxGridBlocks / visits, 1);
    for (std::int64_t first = 0; first < matrices_of(step_); first += max_matrices) {
      arguments.matrices.first = first;
      arguments.count = narrow32(std::min(max_matrices, matrices_of(step_) - first) * visits);
      launch_.blocks = narrow32(ceil_div(arguments.count, pairs_));
      launch_.arguments = arguments;
      launches_.push_back(launch_);
    }
  }

  void append_scheme(Scheme scheme, std::int64_t band) {
    const Enumeration<std::uint32_t> tiles(scheme, {.m = tiles_ + 1, .w = band});
    append({.scheme = tiles, .is_region = false, .region = {}, .first_x = 0, .first_y = 0},
           tiles.count());
  }

  void append_region(std::int64_t order, std::int64_t x, std::int64_t y) {
    append({.scheme = {Scheme::v1, {}},
            .is_region = true,
            .region = FastDivisor32(order),
            .first_x = narrow32(x),
            .first_y = narrow32(y)},
           order * order);
  }

  // The super grid (Gorawski and Lorek, Listings 3 and 4): a launch for each region on and below
  // the diagonal.
  void append_regions() {
    for (std::int64_t y = 0; y < tiles_; y += step_.width) {
      for (std::int64_t x = 0; x <= y; x += step_.width) append_region(step_.width, x, y);
    }
  }

  const InplaceStep& step_;
  const SquarePolicy policy_;
  const std::int64_t tiles_;
  Launch launch_{};
  int groups_of_pair_ = 1;
  int pairs_ = 1;  // of a block
  std::vector<Launch> launches_{};
};

// Lanes lie side by side on a run as far as a line of memory or the run goes, and then take several
// words each.
std::vector<Launch> lower_runs(const InplaceStep& step, std::int64_t address) {
  constexpr std::int64_t kLine = 128;
  const std::int64_t word = common_power(step.element_bytes | address, kMaxAccessBytes);
  const std::int64_t words = step.element_bytes / word;
  const std::int64_t threads = block_threads(step);
  const std::int64_t wanted =
      std::max(ceil_div(words, RunsPolicy::kBatch), std::min(words, kLine / word));
  const auto lanes = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::min(wanted, threads))));
  const std::int64_t chunk = lanes * RunsPolicy::kBatch;
  // With a single band this is V1.
  const std::int64_t band = step.kernel == InplaceKernel::runs ? RunsPolicy::kBand : step.rows;
  const Enumeration<std::int64_t> pairs(Scheme::v1b, {.m = step.rows, .w = band});
  const std::int64_t items = pairs.count() * ceil_div(words, chunk);  // of a matrix
  RunsArguments arguments{.matrices = lower_matrices(step),
                          .items = 0,
                          .pairs = FastDivisor(pairs.count()),
                          .chunks = FastDivisor(ceil_div(words, chunk)),
                          .scheme = pairs,
                          .words = words,
                          .chunk_words = narrow32(chunk),
                          .lane_words = narrow32(ceil_div(std::min(words, chunk), lanes)),
                          .group_lanes = narrow32(lanes),
                          .group_shift = logarithm(lanes),
                          .threads = narrow32(threads)};
  std::vector<Launch> launches;
  const std::int64_t groups = threads / lanes;  // of a block
  const std::int64_t max_count = std::max<std::int64_t>(kMaxGridBlocks * groups / items, 1);
  for (std::int64_t first = 0; first < matrices_of(step); first += max_count) {
    arguments.matrices.first = first;
    arguments.items = std::min(max_count, matrices_of(step) - first) * items;
    launches.push_back({.word_bytes = static_cast<int>(word),
                        .access = {},
                        .blocks = blocks_of(ceil_div(arguments.items, groups)),
                        .threads = static_cast<int>(threads),
                        .shared_bytes = 0,
                        .arguments = arguments});
  }
  return launches;
}

}  // namespace

std::vector<Launch> lower_square(const InplaceStep& step, std::int64_t address) {
  if (step.rows == 1) return {};
  const bool by_elements = step.kernel == InplaceKernel::runs ||
                           step.kernel == InplaceKernel::square_tw ||
                           address % step.element_bytes != 0;
  return by_elements ? lower_runs(step, address) : SquareLowering(step, address).all();
}

}  // namespace ttlg::cuda
