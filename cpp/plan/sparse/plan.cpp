#include "plan/sparse/plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace ttlg::sparse {
namespace {

// Below, threads take longer to begin than to do their part.
constexpr std::int64_t kNonzerosPerThread = 1 << 14;

}  // namespace

int bits_of(std::int64_t extent) {
  return extent > 1 ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(extent - 1))) : 0;
}

Key key_of(const Problem& problem, std::span<const int> out_modes) {
  Key key;
  for (auto mode = out_modes.rbegin(); mode != out_modes.rend(); ++mode) {
    const int in_mode = problem.perm[static_cast<std::size_t>(*mode)];
    const std::int64_t extent = problem.extents[static_cast<std::size_t>(in_mode)];
    const int bits = bits_of(extent);
    if (bits == 0) continue;
    key.fields.push_back({.in_mode = in_mode, .out_mode = *mode, .shift = key.bits, .bits = bits});
    key.max |= static_cast<std::uint64_t>(extent - 1) << key.bits;
    key.bits += bits;
  }
  std::ranges::reverse(key.fields);
  return key;
}

SortedBits bits_to_sort(const Key& key, int sorted_modes) {
  // The input's modes with fields, in its order.
  std::vector<int> in_modes;
  for (const Field& field : key.fields) in_modes.push_back(field.in_mode);
  std::ranges::sort(in_modes);

  SortedBits sorted{.low = 0, .high = key.bits};
  for (std::size_t i = 0; i < key.fields.size(); ++i) {
    const Field& field = key.fields[i];
    if (field.in_mode != in_modes[i] || field.in_mode >= sorted_modes) break;
    sorted.high = field.shift;
  }
  int inner = sorted_modes;
  for (auto field = key.fields.rbegin(); field != key.fields.rend(); ++field) {
    if (field->in_mode >= inner || field->shift >= sorted.high) break;
    inner = field->in_mode;
    sorted.low = field->shift + field->bits;
  }
  return sorted;
}

bool may_scatter(const Plan& plan) {
  if (!plan.fits_key || plan.sorted.low >= plan.sorted.high) return false;
  if (plan.sorted.high < plan.key.bits) return false;
  return plan.key.max >> plan.sorted.low <
         static_cast<std::uint64_t>(plan.problem.nonzeros / plan.threads);
}

std::int64_t sampled_window(const Plan& plan) {
  const std::int64_t lines = plan.cache_bytes / 2 / 64;
  return std::min(lines / placed_arrays(plan.problem),
                  plan.problem.nonzeros / (8 * kSampledWindows));
}

std::int64_t placed_arrays(const Problem& problem) {
  return problem.rank() + (problem.out_rows ? 0 : 1);
}

int modes_in_order(const Problem& problem) { return problem.in_rows ? 1 : 0; }

bool depends_on_order(const Problem& problem, Algorithm algorithm) {
  if (algorithm != Algorithm::automatic && algorithm != Algorithm::no_sort) return false;
  const Plan known = make_plan(problem, algorithm, modes_in_order(problem), 1, 0);
  const Plan all = make_plan(problem, algorithm, problem.rank(), 1, 0);
  return !known.fits_key || known.sorted.low != all.sorted.low ||
         known.sorted.high != all.sorted.high;
}

Plan make_plan(const Problem& problem, Algorithm algorithm, int sorted_modes, int threads,
               std::int64_t cache_bytes) {
  Plan plan{.problem = problem,
            .algorithm = algorithm,
            .sorted_modes = sorted_modes,
            .threads = static_cast<int>(
                std::clamp<std::int64_t>(problem.nonzeros / kNonzerosPerThread, 1, threads)),
            .cache_bytes = cache_bytes,
            .key = {},
            .fits_key = true,
            .sorted = {}};
  int bits = 0;
  for (const std::int64_t extent : problem.extents) bits += bits_of(extent);
  plan.fits_key = bits <= kMaxKeyBits;
  if (!plan.fits_key) return plan;
  std::vector<int> modes(problem.perm.size());
  std::iota(modes.begin(), modes.end(), 0);
  plan.key = key_of(problem, modes);
  plan.sorted = bits_to_sort(plan.key, sorted_modes);
  return plan;
}

}  // namespace ttlg::sparse
