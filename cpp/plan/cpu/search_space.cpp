#include "plan/cpu/search_space.hpp"

#include <algorithm>
#include <span>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/block/grow_block.hpp"
#include "plan/cpu/loop_order.hpp"
#include "plan/cpu/memory_units.hpp"
#include "plan/cpu/shuffle_tile.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kMaxBlockBytes = 256 << 10;

std::int64_t staging_bytes(const SideRuns& runs) {
  return runs.count * (runs.bytes + 2 * kLineBytes);
}

// The loops over blocks, the innermost along the input's runs or the output's.
void order_loops(const Problem& folded, std::span<const std::int64_t> block,
                 std::span<const int> ranked, bool along_input, std::vector<int>& order) {
  choose_loop_order(folded, block, ranked, order);
  if (along_input) {
    continue_runs(folded, block, identity_order(folded.modes.size()), &Mode::in_byte_stride, order);
  } else {
    continue_runs(folded, block, folded.perm, &Mode::out_byte_stride, order);
  }
}

StorePath path_of(const Parameters& parameters) {
  if (parameters.staged) return parameters.streaming ? StorePath::staged : StorePath::cached_staged;
  return parameters.streaming ? StorePath::direct : StorePath::cached;
}

}  // namespace

SearchSpace::SearchSpace(const Problem& folded)
    : folded_(folded),
      grain_(std::max(folded.element_bytes(), kLineBytes) * (folded.keeps_fastest_mode() ? 16 : 1)),
      ranked_(rank_loops(folded.perm)) {}

const Parameters* SearchSpace::parameters_of(const SearchPoint& point) {
  set_block({.in_doublings = point.in_doublings,
             .out_doublings = point.out_doublings,
             .for_shuffle = point.kernel == Kernel::shuffle});
  parameters_.kernel = point.kernel;
  if (!can_take(point.path)) return nullptr;
  order_loops(folded_, parameters_.block, ranked_, point.along_input, parameters_.loop_order);
  parameters_.streaming = point.path == StorePath::staged || point.path == StorePath::direct;
  parameters_.staged = point.path == StorePath::staged || point.path == StorePath::cached_staged;
  parameters_.prefetch = point.prefetch;
  parameters_.threads = static_cast<int>(std::min<std::int64_t>(point.threads, runs_.blocks));
  return &parameters_;
}

std::optional<SearchPoint> SearchSpace::point_of(const Parameters& parameters) {
  SearchPoint point{.kernel = parameters.kernel,
                    .path = path_of(parameters),
                    .threads = parameters.threads,
                    .prefetch = parameters.prefetch};
  for (; point.in_doublings <= kMaxInDoublings; ++point.in_doublings) {
    for (point.out_doublings = 0; point.out_doublings <= kMaxOutDoublings; ++point.out_doublings) {
      for (const bool along_input : {false, true}) {
        point.along_input = along_input;
        const Parameters* const found = parameters_of(point);
        if (found == nullptr || found->block != parameters.block) break;
        if (*found == parameters) return point;
      }
    }
  }
  return std::nullopt;
}

void SearchSpace::set_block(const Shape& shape) {
  if (shape == shape_) return;
  shape_ = shape;
  if (shape.for_shuffle && shuffle_tile_.empty()) shuffle_tile_ = shuffle_tile(folded_);
  const std::span<const std::int64_t> tile =
      shape.for_shuffle ? std::span(shuffle_tile_) : std::span<std::int64_t>();
  grow_block(folded_, tile, grain_ << shape.in_doublings, grain_ << shape.out_doublings,
             kMaxBlockBytes, parameters_.block);
  runs_ = block_runs(folded_, parameters_.block);
}

bool SearchSpace::can_take(StorePath path) const {
  const std::optional<Conversion>& conversion = folded_.conversion;
  if (path == StorePath::cached) return !conversion;
  const bool streaming = path != StorePath::cached_staged;
  std::int64_t run_bytes = runs_.out.bytes;
  if (conversion) {
    if (path == StorePath::direct || (streaming && conversion->map.accumulates)) return false;
    run_bytes = conversion->out_bytes_of(run_bytes);
  }
  if (streaming && run_bytes < kMinStreamedRunBytes) return false;
  return path == StorePath::direct ? parameters_.kernel != Kernel::shuffle
                                   : staging_bytes(runs_.out) <= kStagingBytes;
}

std::vector<std::vector<int>> loop_orders(const Problem& folded,
                                          std::span<const std::int64_t> block) {
  std::vector<std::vector<int>> orders;
  if (block.size() != folded.modes.size()) return {{}};
  for (const bool along_input : {false, true}) {
    order_loops(folded, block, rank_loops(folded.perm), along_input, orders.emplace_back());
  }
  return orders;
}

std::vector<Parameters> neighbors_of(const Problem& folded, const Parameters& parameters) {
  SearchSpace space(folded);
  const std::optional<SearchPoint> from = space.point_of(parameters);
  std::vector<Parameters> result;
  if (!from) return result;
  const auto add = [&](const SearchPoint& point) {
    const Parameters* const found = space.parameters_of(point);
    if (found != nullptr && *found != parameters) result.push_back(*found);
  };
  for (int SearchPoint::* const side : {&SearchPoint::in_doublings, &SearchPoint::out_doublings}) {
    for (const int step : {-1, 1}) {
      SearchPoint point = *from;
      for (point.*side += step; is_within(point); point.*side += step) {
        const Parameters* const found = space.parameters_of(point);
        if (found == nullptr || found->block == parameters.block) continue;
        result.push_back(*found);
        break;
      }
    }
  }
  SearchPoint other = *from;
  other.along_input = !other.along_input;
  add(other);
  for (const int prefetch : kPrefetches) {
    other = *from;
    other.prefetch = prefetch;
    add(other);
  }
  return result;
}

}  // namespace ttlg::cpu
