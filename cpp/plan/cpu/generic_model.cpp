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
    {"read_l2_split", 7.18e-10},
    {"read_l2_shared_lines", 4.27e-10},
    {"read_l2_run_below_64", 6.76e-10},
    {"read_l2_run_below_256", 2.03e-10},
    {"read_l2_run_below_2048", 3.23e-11},
    {"read_l2_conflicts", 3.7e-10},
    {"read_l2_new_pages", 1.2e-09},
    {"read_shared_split", 1.84e-09},
    {"read_shared_shared_lines", 1.35e-09},
    {"read_shared_aliasing", 1.64e-11},
    {"read_memory_lines", 2.11e-09},
    {"read_memory_split", 1.86e-09},
    {"read_memory_shared_lines", 1.1e-09},
    {"read_memory_run_below_64", 6.11e-10},
    {"read_memory_pages_above_64", 5.72e-09},
    {"read_memory_rows_above_16", 4.79e-09},
    {"read_memory_rows_above_64", 1.68e-09},
    {"read_memory_rows_above_256", 4.46e-09},
    {"read_memory_aliasing", 8.21e-10},
    {"read_memory_conflicts", 1.69e-09},
    {"read_memory_new_pages", 5.51e-09},
    {"read_l2_prefetched_1", 3.77e-10},
    {"read_l2_prefetched_2", 1.81e-10},
    {"read_l2_prefetched_4", 1.38e-10},
    {"read_shared_prefetched_2", 4.18e-10},
    {"read_shared_prefetched_4", 5.3e-10},
    {"read_memory_prefetched_0", 1.18e-09},
    {"read_memory_prefetched_1", 2.53e-09},
    {"read_memory_prefetched_2", 6.46e-10},
    {"read_memory_prefetched_4", 9.43e-10},
    {"written_l2_split", 7.51e-10},
    {"written_l2_shared_lines", 5.14e-10},
    {"written_l2_run_below_512", 9.46e-11},
    {"written_l2_run_below_1024", 1.45e-10},
    {"written_l2_rows_above_16", 3.34e-10},
    {"written_l2_rows_above_64", 5.14e-11},
    {"written_l2_conflicts", 1.13e-09},
    {"written_shared_lines", 3.86e-11},
    {"written_shared_split", 3.81e-09},
    {"written_shared_shared_lines", 6.67e-10},
    {"written_shared_run_below_64", 2.11e-10},
    {"written_shared_run_below_1024", 8.06e-10},
    {"written_shared_run_below_8192", 3.28e-10},
    {"written_shared_rows_above_16", 5.07e-10},
    {"written_shared_rows_above_256", 1.54e-09},
    {"written_shared_aliasing", 1.23e-10},
    {"written_shared_conflicts", 1.19e-09},
    {"written_memory_lines", 2.33e-09},
    {"written_memory_split", 1.89e-09},
    {"written_memory_shared_lines", 9.96e-10},
    {"written_memory_run_below_64", 1.12e-09},
    {"written_memory_run_below_128", 6.37e-10},
    {"written_memory_run_below_256", 3.05e-09},
    {"written_memory_pages_above_16", 2.08e-09},
    {"written_memory_pages_above_64", 8.88e-09},
    {"written_memory_rows_above_16", 1.34e-09},
    {"written_memory_aliasing", 2.83e-10},
    {"written_memory_conflicts", 7.99e-10},
    {"written_memory_new_pages", 6.46e-09},
    {"written_staged_split", 3.41e-09},
    {"written_staged_run_below_64", 4.12e-09},
    {"written_staged_run_below_128", 1.8e-09},
    {"written_staged_run_below_8192", 5.1e-10},
    {"written_staged_pages_above_256", 8.34e-10},
    {"written_staged_rows_above_256", 3.78e-09},
    {"written_staged_new_pages", 7.89e-09},
    {"written_direct_lines", 1.73e-09},
    {"written_direct_split", 1.17e-08},
    {"written_direct_shared_lines", 9.28e-09},
    {"written_direct_run_below_128", 2.2e-09},
    {"written_direct_run_below_256", 1.22e-09},
    {"written_direct_pages_above_16", 4.7e-10},
    {"written_direct_pages_above_64", 2.77e-09},
    {"written_direct_pages_above_256", 1.16e-08},
    {"written_direct_aliasing", 3.7e-10},
    {"written_direct_new_pages", 2.78e-09},
    {"copied_l2", 9.71e-10},
    {"copied_shared", 1.33e-09},
    {"copied_memory", 6.98e-09},
    {"stream_copied_l2", 4.35e-09},
    {"stream_copied_shared", 2.73e-09},
    {"stream_copied_memory", 4.1e-09},
    {"staged", 1.33e-09},
    {"stage_above_quarters_of_l1_1", 1.65e-09},
    {"stage_above_quarters_of_l1_2", 4.12e-10},
    {"stage_above_quarters_of_l1_8", 1.8e-08},
    {"block_above_quarters_of_l1_1", 2.43e-10},
    {"block_above_quarters_of_l1_8", 5.18e-10},
    {"block_above_quarters_of_l1_32", 2.88e-07},
    {"streamed_block_above_quarters_of_l1_1", 1.96e-09},
    {"streamed_block_above_quarters_of_l1_32", 1.4e-07},
    {"wide_tiles_1", 1.2e-09},
    {"wide_tiles_2", 1.12e-09},
    {"wide_tiles_4", 7.6e-10},
    {"wide_tiles_8", 3.38e-10},
    {"wide_tiles_16", 7.04e-10},
    {"narrow_tiles_1", 3.49e-09},
    {"narrow_tiles_2", 1.27e-09},
    {"narrow_tiles_4", 1.07e-09},
    {"narrow_tiles_8", 1.74e-09},
    {"narrow_tiles_16", 6.62e-09},
    {"lane_tiles_1", 6.07e-10},
    {"lane_tiles_2", 7.19e-10},
    {"lane_tiles_4", 2.27e-09},
    {"lane_tiles_8", 4.75e-09},
    {"lane_tiles_16", 3.15e-09},
    {"shuffle_moves", 9.1e-10},
    {"shuffle_rounds", 1.03e-10},
    {"shuffle_terms", 3.95e-10},
    {"elements", 3.64e-10},
    {"vectors", 9.13e-11},
    {"loops", 2.93e-10},
    {"calls", 6.41e-09},
    {"blocks", 1.69e-08},
    {"fresh_pages", 7.7e-07},
    {"call", 1.15e-07},
    {"team", 1.84e-06},
    {"all_read_l2", 8.39e-10},
    {"all_read_memory", 4.01e-11},
    {"all_written_l2", 2.98e-10},
    {"all_written_shared", 5.74e-10},
    {"all_written_direct", 7.77e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.63, .high = 2.05};
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
