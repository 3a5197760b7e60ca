
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>

#include "plan/cuda/policy.hpp"
#include "plan/cuda/slice/sliced_problem.hpp"
#include "plan/cuda/slice/slices.hpp"
#include "tensor/inplace_vector.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// One side of a slice: its first modes, the last cut into blocks.
struct Cut {
  int modes;
  std::int64_t block;

  bool operator==(const Cut&) const = default;
};

// Distinct ones in the order in which they were found.
using Lengths = InplaceVector<std::int64_t, 16>;
// Two of each length, and the whole of it, for every mode of an axis.
using Cuts = InplaceVector<Cut, 160>;

template <typename T, std::size_t kCapacity>
void add_new(InplaceVector<T, kCapacity>& found, const std::type_identity_t<T>& value) {
  if (std::ranges::find(found, value) == found.end()) found.push_back(value);
}

// Equal parts of at most `block`, in whole grains where those do not exceed it, so that the last is
// not much shorter than the others.
std::int64_t even_block(std::int64_t extent, std::int64_t block, std::int64_t grain) {
  const std::int64_t grains = even_chunk(extent, block, grain);
  return grains <= block ? grains : even_chunk(extent, block);
}

// Cuts of one side of about these lengths, and its whole prefixes up to the longest of them. The
// first mode alone is always among them, cut or whole.
Cuts cuts_of(const Problem& problem, std::span<const int> order, const Lengths& lengths) {
  const std::int64_t longest = *std::ranges::max_element(lengths);
  const std::int64_t sector = std::max<std::int64_t>(kSectorBytes / problem.element_bytes(), 1);
  Cuts cuts;
  std::int64_t inner = 1;
  for (int modes = 1; modes <= std::min<int>(kAxisModes, static_cast<int>(order.size())); ++modes) {
    const auto m = static_cast<std::size_t>(order[static_cast<std::size_t>(modes - 1)]);
    const std::int64_t extent = problem.modes[m].extent;
    for (const std::int64_t length : lengths) {
      const std::int64_t block = length / inner;
      if (block < 1 || block >= extent || (block == 1 && modes > 1)) continue;
      add_new(cuts, {modes, block});
      const bool in_sectors = modes == 1 || block >= 4 * sector;
      add_new(cuts, {modes, even_block(extent, block, in_sectors ? sector : 1)});
    }
    if (extent > longest / inner) break;
    add_new(cuts, {modes, extent});
    inner *= extent;
  }
  return cuts;
}

// Names a slice of Orthogonal-Arbitrary by its longest axes, so that as much of it as possible is
// seen to be contiguous: several names mean the same slice.
void use_longest_axes(SlicedProblem& sliced) {
  const auto lengthen = [&](std::span<const int> order, int& modes, std::int64_t& block) {
    const auto mode_at = [&](int i) { return order[static_cast<std::size_t>(i)]; };
    const auto is_whole = [&](int m) { return sliced.extent(m) == sliced.mode(m).extent; };
    while (modes < static_cast<int>(order.size()) && modes < kAxisModes &&
           is_whole(mode_at(modes - 1)) && sliced.extent(mode_at(modes)) > 1) {
      ++modes;
    }
    block = sliced.extent(mode_at(modes - 1));
  };
  Slice& slice = sliced.parameters.slice;
  lengthen(identity_order(sliced.problem.modes.size()), slice.in_modes, slice.in_block);
  lengthen(sliced.problem.perm, slice.out_modes, slice.out_block);
}

template <typename Fits>
std::vector<Parameters> combine(const Problem& problem, Schema schema, const Lengths& in_lengths,
                                const Lengths& out_lengths, const Fits& fits) {
  const Cuts in_cuts = cuts_of(problem, identity_order(problem.modes.size()), in_lengths);
  const Cuts out_cuts = cuts_of(problem, problem.perm, out_lengths);
  std::vector<Parameters> result;
  for (const Cut& in : in_cuts) {
    for (const Cut& out : out_cuts) {
      Parameters parameters{schema, {in.modes, out.modes, in.block, out.block}};
      if (fits(parameters)) result.push_back(parameters);
    }
  }
  return result;
}

std::vector<Parameters> distinct_slices(const Problem& problem) {
  const OrthogonalDistinctPolicy policy(problem.element_bytes());
  Lengths columns;
  Lengths rows;
  for (const std::int64_t tiles : {1, 2, 3, 4, 6, 8}) {
    add_new(columns, tiles * policy.tile_columns);
    add_new(rows, tiles * policy.tile_rows);
  }
  return combine(problem, Schema::orthogonal_distinct, columns, rows,
                 [&](const Parameters& parameters) {
                   const Slice& slice = parameters.slice;
                   return axis_modes(problem, slice) == slice.in_modes + slice.out_modes;
                 });
}

std::vector<Parameters> arbitrary_slices(const Problem& problem, std::int64_t alignment) {
  Lengths lengths;
  add_new(lengths, 1);  // all that fits where elements lie far apart
  for (const std::int64_t sectors : {1, 2, 4, 8, 16, 32, 128}) {
    add_new(lengths, sectors * kSectorBytes / problem.element_bytes());
  }
  add_new(lengths, OrthogonalArbitraryPolicy::max_elements(problem.element_bytes()));
  std::vector<Parameters> slices =
      combine(problem, Schema::orthogonal_arbitrary, lengths, lengths, [&](Parameters& parameters) {
        SlicedProblem sliced(problem, parameters, alignment);
        use_longest_axes(sliced);
        parameters = sliced.parameters;
        return !exceeded_arbitrary_limit(sliced);
      });
  const auto key = [](const Parameters& p) {
    return std::tuple(p.slice.in_modes, p.slice.out_modes, p.slice.in_block, p.slice.out_block);
  };
  std::ranges::sort(slices, {}, key);
  const auto repeated = std::ranges::unique(slices);
  slices.erase(repeated.begin(), repeated.end());
  return slices;
}

Lengths small_blocks(std::int64_t extent) {
  Lengths blocks;
  for (const std::int64_t block : {32, 24, 16, 12, 8, 4, 1}) {
    add_new(blocks, std::min(block, extent));
    add_new(blocks, even_block(extent, block, 1));
  }
  return blocks;
}

std::vector<Parameters> small_slices(const Problem& problem) {
  const std::int64_t run = problem.modes[0].extent * problem.element_bytes();
  const Lengths in_blocks = small_blocks(problem.modes[1].extent);
  const auto k = static_cast<std::size_t>(problem.perm[1]);
  const Lengths out_blocks = small_blocks(problem.modes[k].extent);
  std::vector<Parameters> result;
  for (const std::int64_t in : in_blocks) {
    for (const std::int64_t out : out_blocks) {
      if (run * in * out <= FviMatchSmallPolicy::kSliceBytes)
        result.push_back({Schema::fvi_match_small, {2, 2, in, out}});
    }
  }
  return result;
}

// Chunks that all lanes of a block move at once, or in several rounds.
std::vector<Parameters> large_slices(const Problem& problem) {
  using Policy = FviMatchLargePolicy;
  Lengths chunks;
  for (const std::int64_t bytes : {Policy::kThreads * kMaxAccessBytes, Policy::kChunkBytes}) {
    add_new(chunks, std::min(bytes / problem.element_bytes(), problem.modes.front().extent));
  }
  std::vector<Parameters> result;
  for (const std::int64_t chunk : chunks) {
    result.push_back({Schema::fvi_match_large, {1, 1, chunk, 1}});
  }
  return result;
}

}  // namespace

std::vector<Parameters> slices_of(const Problem& problem, Schema schema, std::int64_t alignment) {
  switch (schema) {
    case Schema::copy:
      return {Parameters{}};
    case Schema::fvi_match_large:
      return large_slices(problem);
    case Schema::fvi_match_small:
      return small_slices(problem);
    case Schema::orthogonal_distinct:
      return distinct_slices(problem);
    case Schema::orthogonal_arbitrary:
      return arbitrary_slices(problem, alignment);
  }
  return {};
}

}  // namespace ttlg::cuda
