// The model of a machine that nobody has measured: fitted to two that were, a Skylake-SP and a
// Granite Rapids Xeon, together.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "plan/cpu/time_model.hpp"

namespace ttlg::cpu {
namespace {

constexpr auto kSeconds = std::to_array<std::pair<std::string_view, double>>({
    {"read_l2_split", 1.42e-10},
    {"read_l2_shared_lines", 3.56e-11},
    {"read_l2_run_below_64", 9.99e-10},
    {"read_l2_run_below_256", 1.2e-10},
    {"read_l2_run_below_2048", 5.06e-11},
    {"read_l2_run_below_4096", 8.24e-11},
    {"read_l2_aliasing", 1.54e-11},
    {"read_l2_new_pages", 4.29e-09},
    {"read_shared_split", 1.22e-09},
    {"read_shared_run_below_64", 1.51e-09},
    {"read_shared_run_below_256", 1.65e-10},
    {"read_shared_aliasing", 1.19e-10},
    {"read_memory_lines", 1.73e-09},
    {"read_memory_split", 3.27e-09},
    {"read_memory_shared_lines", 4.62e-10},
    {"read_memory_run_below_64", 2.43e-10},
    {"read_memory_pages_above_64", 4.34e-09},
    {"read_memory_rows_above_16", 5.87e-09},
    {"read_memory_rows_above_64", 1.92e-09},
    {"read_memory_rows_above_256", 3.05e-09},
    {"read_memory_aliasing", 8.52e-10},
    {"read_memory_conflicts", 1.12e-09},
    {"read_memory_new_pages", 7.09e-09},
    {"read_l2_prefetched_1", 3.99e-10},
    {"read_l2_prefetched_2", 3.61e-10},
    {"read_l2_prefetched_4", 3.07e-10},
    {"read_shared_prefetched_1", 1.91e-10},
    {"read_shared_prefetched_2", 5.62e-10},
    {"read_shared_prefetched_4", 6.5e-10},
    {"read_memory_prefetched_0", 3.45e-10},
    {"read_memory_prefetched_1", 2.2e-09},
    {"read_memory_prefetched_2", 1.64e-10},
    {"read_memory_prefetched_4", 2.63e-10},
    {"written_l2_split", 7.36e-10},
    {"written_l2_shared_lines", 5.27e-10},
    {"written_l2_run_below_1024", 2.53e-10},
    {"written_l2_run_below_2048", 5.39e-11},
    {"written_l2_pages_above_16", 1.27e-09},
    {"written_l2_pages_above_64", 2.31e-08},
    {"written_l2_rows_above_16", 2.22e-10},
    {"written_l2_aliasing", 1.45e-10},
    {"written_l2_conflicts", 1.56e-09},
    {"written_l2_new_pages", 4.41e-09},
    {"written_shared_lines", 1.06e-09},
    {"written_shared_split", 4.07e-09},
    {"written_shared_shared_lines", 1.28e-09},
    {"written_shared_run_below_64", 4.74e-10},
    {"written_shared_run_below_1024", 2.96e-10},
    {"written_shared_run_below_8192", 6.86e-10},
    {"written_shared_rows_above_16", 8.04e-10},
    {"written_memory_lines", 1.89e-09},
    {"written_memory_split", 1.69e-09},
    {"written_memory_shared_lines", 6.41e-10},
    {"written_memory_run_below_64", 1.09e-10},
    {"written_memory_run_below_128", 7.22e-10},
    {"written_memory_run_below_256", 3.2e-09},
    {"written_memory_pages_above_64", 8.7e-09},
    {"written_memory_pages_above_256", 1.21e-08},
    {"written_memory_rows_above_16", 1.63e-09},
    {"written_memory_rows_above_64", 4.98e-10},
    {"written_memory_aliasing", 4.63e-10},
    {"written_memory_new_pages", 2.66e-09},
    {"written_staged_split", 4.69e-09},
    {"written_staged_shared_lines", 1.15e-09},
    {"written_staged_run_below_64", 6.43e-10},
    {"written_staged_run_below_128", 3.52e-09},
    {"written_staged_run_below_8192", 9.8e-10},
    {"written_staged_pages_above_256", 2.35e-09},
    {"written_staged_rows_above_256", 1.88e-09},
    {"written_staged_conflicts", 6.88e-10},
    {"written_staged_new_pages", 7.52e-09},
    {"written_direct_lines", 2.88e-09},
    {"written_direct_split", 1.08e-08},
    {"written_direct_shared_lines", 5.15e-09},
    {"written_direct_run_below_64", 3.19e-09},
    {"written_direct_run_below_128", 2.69e-09},
    {"written_direct_pages_above_64", 5.47e-09},
    {"written_direct_pages_above_256", 3.25e-09},
    {"written_direct_new_pages", 1.01e-08},
    {"staged", 1.17e-09},
    {"stage_above_quarters_of_l1_1", 2.41e-09},
    {"stage_above_quarters_of_l1_2", 2.06e-10},
    {"stage_above_quarters_of_l1_8", 1.33e-08},
    {"block_above_quarters_of_l1_1", 4.91e-10},
    {"streamed_block_above_quarters_of_l1_1", 2.29e-09},
    {"wide_tiles_1", 1.19e-09},
    {"wide_tiles_2", 1.12e-09},
    {"wide_tiles_4", 9.72e-10},
    {"wide_tiles_8", 4.46e-10},
    {"wide_tiles_16", 6.08e-10},
    {"narrow_tiles_1", 2.53e-08},
    {"narrow_tiles_2", 1.15e-09},
    {"narrow_tiles_4", 1.2e-09},
    {"narrow_tiles_8", 1.77e-09},
    {"narrow_tiles_16", 4.61e-09},
    {"lane_tiles_1", 1.13e-09},
    {"lane_tiles_2", 6.14e-10},
    {"lane_tiles_4", 1.92e-09},
    {"lane_tiles_8", 5.62e-09},
    {"lane_tiles_16", 7.33e-09},
    {"shuffle_moves", 9.03e-10},
    {"shuffle_rounds", 5.02e-11},
    {"shuffle_terms", 4.01e-10},
    {"vectors", 4.5e-10},
    {"calls", 4.63e-09},
    {"blocks", 1.21e-08},
    {"fresh_pages", 7.7e-07},
    {"call", 2.43e-07},
    {"team", 5.61e-06},
    {"all_read_memory", 2.61e-10},
    {"all_written_l2", 5.47e-10},
    {"all_written_shared", 3.59e-10},
    {"all_written_direct", 2.34e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.59, .high = 1.98};
    const auto& names = term_names();
    for (const auto& [name, seconds] : kSeconds) {
      const auto found = std::ranges::find(names, name);
      result.seconds.at(static_cast<std::size_t>(found - names.begin())) = seconds;
    }
    return result;
  }();
  return model;
}

}  // namespace ttlg::cpu
