#include "plan/cpu/model/terms.hpp"

#include <algorithm>
#include <numeric>

namespace ttlg::cpu {
namespace {

// Calls visit(name, value) for every number.
template <typename Visit>
void for_each_term(const Terms& terms, const Visit& visit) {
  const auto by_level = [&](const std::string& before, const ByLevel& values,
                            const std::string& after = "") {
    static constexpr std::array<const char*, kMemoryLevels> kNames{"l2", "shared", "memory"};
    for (std::size_t i = 0; i < kMemoryLevels; ++i) visit(before + kNames[i] + after, values[i]);
  };
  by_level("read_", terms.read_prefetched_1, "_prefetched_1");
  by_level("read_", terms.read_prefetched_2, "_prefetched_2");
  visit("read_memory_unprefetched", terms.read_memory_unprefetched);
  by_level("read_", terms.read_split, "_split");
  visit("read_continued", terms.read_continued);
  by_level("read_", terms.read_run_below_64, "_run_below_64");
  by_level("read_", terms.read_run_below_2048, "_run_below_2048");
  visit("read_memory_run_below_512", terms.read_memory_run_below_512);
  visit("read_shared_aliasing", terms.read_shared_aliasing);
  visit("read_memory_aliasing", terms.read_memory_aliasing);
  by_level("written_", terms.written_lines, "_lines");
  by_level("written_", terms.written_rows_above_16, "_rows_above_16");
  visit("written_conflicts", terms.written_conflicts);
  visit("written_continued", terms.written_continued);
  visit("written_staged_split", terms.written_staged_split);
  visit("written_staged_run_below_64", terms.written_staged_run_below_64);
  visit("written_direct_lines", terms.written_direct_lines);
  visit("written_direct_split", terms.written_direct_split);
  visit("written_direct_aliasing", terms.written_direct_aliasing);
  visit("all_streamed", terms.all_streamed);
  by_level("copied_", terms.copied);
  by_level("stream_copied_", terms.stream_copied);
  visit("staged", terms.staged);
  visit("stage_above_quarter_of_l1", terms.stage_above_quarter_of_l1);
  visit("streamed_block_above_twice_l1", terms.streamed_block_above_twice_l1);
  visit("carried_rows", terms.carried_rows);
  visit("wide_tiles", terms.wide_tiles);
  visit("narrow_tiles", terms.narrow_tiles);
  visit("lane_tiles", terms.lane_tiles);
  visit("whole_lane_tiles", terms.whole_lane_tiles);
  visit("tile_elements", terms.tile_elements);
  visit("shuffle_moves", terms.shuffle_moves);
  visit("shuffle_steps", terms.shuffle_steps);
  visit("generated_moves", terms.generated_moves);
  visit("gathered_lines", terms.gathered_lines);
  visit("streamed_elements", terms.streamed_elements);
  visit("vectors", terms.vectors);
  visit("calls", terms.calls);
  visit("blocks", terms.blocks);
  visit("call", terms.call);
  visit("team", terms.team);
  visit("team_lines", terms.team_lines);
  visit("fresh_pages", terms.fresh_pages);
}

}  // namespace

const std::array<std::string, kTerms>& term_names() {
  static const std::array<std::string, kTerms> names = [] {
    TermValues numbers;
    std::iota(numbers.begin(), numbers.end(), 0.0);
    std::array<std::string, kTerms> result;
    for_each_term(std::bit_cast<Terms>(numbers), [&](const std::string& name, double number) {
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
