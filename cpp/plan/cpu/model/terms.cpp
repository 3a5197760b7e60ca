#include "plan/cpu/model/terms.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace ttlg::cpu {
namespace {

// Calls visit(name, value) for every number.
template <typename Visit>
void for_each_term(const LevelTerms& terms, const Visit& visit) {
  static constexpr std::array<const char*, kWriteLevels> kLevels{"l2", "shared", "memory", "staged",
                                                                 "direct"};
  const auto list = [&](const std::string& name, const auto& values, const auto& label) {
    for (std::size_t i = 0; i < values.size(); ++i) visit(name + label(i), values[i]);
  };
  const auto run = [](std::size_t i) { return std::to_string(static_cast<int>(kRunLimits[i])); };
  const auto limit = [](std::size_t i) {
    return std::to_string(static_cast<int>(kCountLimits[i]));
  };
  const auto width = [](std::size_t i) { return std::to_string(kWidths[i]); };
  const auto part = [](std::size_t i) {
    return std::to_string(static_cast<int>(4 * kPartsOfL1[i]));
  };
  const auto level = [](std::size_t i) { return std::string(kLevels[i]); };
  const auto side = [&](const std::string& name, const SideTerms& each) {
    visit(name + "lines", each.lines);
    visit(name + "split", each.split);
    visit(name + "shared_lines", each.shared);
    list(name + "run_below_", each.run_below, run);
    list(name + "pages_above_", each.pages_above, limit);
    list(name + "rows_above_", each.rows_above, limit);
    visit(name + "aliasing", each.aliasing);
    visit(name + "conflicts", each.conflicts);
    visit(name + "new_pages", each.new_pages);
  };
  for (std::size_t i = 0; i < terms.read.size(); ++i) side("read_" + level(i) + "_", terms.read[i]);
  for (std::size_t i = 0; i < terms.unprefetched.size(); ++i) {
    side("unprefetched_" + level(i) + "_", terms.unprefetched[i]);
  }
  for (std::size_t i = 0; i < terms.written.size(); ++i) {
    side("written_" + level(i) + "_", terms.written[i]);
  }
  const auto distance = [](std::size_t i) { return std::to_string(i == 3 ? 4 : i); };
  for (std::size_t i = 0; i < terms.prefetched.size(); ++i) {
    list("read_" + level(i) + "_prefetched_", terms.prefetched[i], distance);
  }
  list("copied_", terms.work.copied, level);
  list("stream_copied_", terms.work.stream_copied, level);
  visit("staged", terms.work.staged);
  list("stage_above_quarters_of_l1_", terms.work.staging_above, part);
  list("block_above_quarters_of_l1_", terms.work.block_above, part);
  list("streamed_block_above_quarters_of_l1_", terms.work.streamed_block_above, part);
  visit("overlap", terms.work.overlap);
  visit("carried_rows", terms.work.carried_rows);
  list("wide_tiles_", terms.work.wide_tiles, width);
  list("narrow_tiles_", terms.work.narrow_tiles, width);
  list("lane_tiles_", terms.work.lane_tiles, width);
  visit("shuffle_moves", terms.work.shuffle_moves);
  visit("shuffle_rounds", terms.work.shuffle_rounds);
  visit("shuffle_terms", terms.work.shuffle_terms);
  visit("gathered_lines", terms.work.gathered_lines);
  visit("gathered_elements", terms.work.gathered_elements);
  visit("elements", terms.work.elements);
  visit("odd_elements", terms.work.odd_elements);
  visit("streamed_elements", terms.work.streamed_elements);
  visit("vectors", terms.work.vectors);
  visit("loops", terms.work.loops);
  visit("calls", terms.work.calls);
  visit("blocks", terms.work.blocks);
  visit("call", terms.work.call);
  visit("team", terms.work.team);
  visit("team_rows", terms.work.team_rows);
  visit("team_lines", terms.work.team_lines);
  list("all_read_", terms.all_read, level);
  list("all_written_", terms.all_written, level);
  visit("fresh_pages", terms.work.fresh_pages);
}

SideTerms weighed(const SideTerms& side, double weight) {
  auto counts = std::bit_cast<std::array<double, sizeof(SideTerms) / sizeof(double)>>(side);
  for (double& count : counts) count *= weight;
  return std::bit_cast<SideTerms>(counts);
}

}  // namespace

TermValues values_of(const Terms& terms) {
  LevelTerms by_level{.work = terms};
  for (std::size_t i = 0; i < terms.read_from.size(); ++i) {
    const double weight = terms.read_from[i];
    by_level.read[i] = weighed(terms.read, weight);
    if (terms.prefetched[0] > 0) by_level.unprefetched[i] = by_level.read[i];
    for (std::size_t k = 0; k < terms.prefetched.size(); ++k) {
      by_level.prefetched[i][k] = weight * terms.prefetched[k];
    }
    by_level.all_read[i] = weight * terms.all_read;
  }
  for (std::size_t i = 0; i < terms.written_to.size(); ++i) {
    by_level.written[i] = weighed(terms.written, terms.written_to[i]);
    by_level.all_written[i] = terms.written_to[i] * terms.all_written;
  }
  return std::bit_cast<TermValues>(by_level);
}

const std::array<std::string, kTerms>& term_names() {
  static const std::array<std::string, kTerms> names = [] {
    TermValues numbers;
    std::iota(numbers.begin(), numbers.end(), 0.0);
    std::array<std::string, kTerms> result;
    for_each_term(std::bit_cast<LevelTerms>(numbers), [&](const std::string& name, double number) {
      result[static_cast<std::size_t>(number)] = name;
    });
    return result;
  }();
  return names;
}

std::size_t term_number(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(term_names(), name) - term_names().begin());
}

}  // namespace ttlg::cpu
