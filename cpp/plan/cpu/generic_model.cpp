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
    {"read_l2_split", 7.25e-10},
    {"read_l2_shared_lines", 4.59e-10},
    {"read_l2_run_below_64", 6.75e-10},
    {"read_l2_run_below_256", 1.76e-10},
    {"read_l2_run_below_1024", 3.82e-12},
    {"read_l2_conflicts", 3.42e-11},
    {"read_l2_new_pages", 1.14e-09},
    {"read_shared_lines", 1.9e-10},
    {"read_shared_split", 2.2e-09},
    {"read_shared_shared_lines", 1.73e-09},
    {"read_shared_run_below_64", 1.51e-10},
    {"read_shared_pages_above_64", 1.36e-10},
    {"read_shared_pages_above_256", 2.03e-10},
    {"read_shared_aliasing", 3.9e-10},
    {"read_shared_new_pages", 3.17e-10},
    {"read_memory_lines", 1.57e-09},
    {"read_memory_split", 1.35e-09},
    {"read_memory_shared_lines", 8.42e-10},
    {"read_memory_run_below_64", 7.02e-10},
    {"read_memory_pages_above_64", 6.02e-09},
    {"read_memory_rows_above_16", 4.63e-09},
    {"read_memory_rows_above_64", 2.29e-09},
    {"read_memory_rows_above_256", 3.98e-09},
    {"read_memory_aliasing", 6.09e-10},
    {"read_memory_conflicts", 1.86e-09},
    {"read_memory_new_pages", 4.72e-09},
    {"read_l2_prefetched_1", 3.64e-10},
    {"read_l2_prefetched_2", 1.4e-10},
    {"read_l2_prefetched_4", 1.03e-10},
    {"read_shared_prefetched_1", 4.01e-10},
    {"read_shared_prefetched_2", 7.95e-10},
    {"read_shared_prefetched_4", 8.62e-10},
    {"read_memory_prefetched_0", 7.68e-10},
    {"read_memory_prefetched_1", 2.01e-09},
    {"read_memory_prefetched_2", 2.39e-10},
    {"read_memory_prefetched_4", 5.58e-10},
    {"written_l2_split", 7.84e-10},
    {"written_l2_shared_lines", 4.97e-10},
    {"written_l2_run_below_1024", 2.2e-10},
    {"written_l2_rows_above_16", 2.94e-10},
    {"written_l2_rows_above_64", 1.1e-10},
    {"written_l2_aliasing", 7.93e-11},
    {"written_l2_conflicts", 5.76e-10},
    {"written_shared_lines", 9.21e-10},
    {"written_shared_split", 4.03e-09},
    {"written_shared_shared_lines", 1.23e-09},
    {"written_shared_run_below_1024", 1.73e-10},
    {"written_shared_run_below_8192", 4.53e-10},
    {"written_shared_pages_above_64", 3.69e-10},
    {"written_shared_rows_above_16", 8.12e-10},
    {"written_shared_rows_above_256", 1.46e-09},
    {"written_shared_aliasing", 4.43e-10},
    {"written_memory_lines", 2.7e-09},
    {"written_memory_split", 1.85e-09},
    {"written_memory_shared_lines", 8.59e-10},
    {"written_memory_run_below_64", 3.71e-11},
    {"written_memory_run_below_128", 1.09e-09},
    {"written_memory_run_below_256", 3.12e-09},
    {"written_memory_pages_above_16", 1.37e-09},
    {"written_memory_pages_above_64", 8.2e-09},
    {"written_memory_rows_above_16", 1.5e-09},
    {"written_memory_rows_above_64", 4.4e-10},
    {"written_memory_aliasing", 3.78e-10},
    {"written_memory_new_pages", 4.91e-09},
    {"written_staged_lines", 3.84e-10},
    {"written_staged_split", 3.09e-09},
    {"written_staged_run_below_64", 3.23e-09},
    {"written_staged_run_below_128", 2.38e-09},
    {"written_staged_run_below_8192", 5.58e-10},
    {"written_staged_pages_above_256", 7.93e-10},
    {"written_staged_rows_above_256", 3.27e-09},
    {"written_staged_conflicts", 2.95e-10},
    {"written_staged_new_pages", 8.28e-09},
    {"written_direct_lines", 2.12e-09},
    {"written_direct_split", 1.11e-08},
    {"written_direct_shared_lines", 8.97e-09},
    {"written_direct_run_below_128", 2.03e-09},
    {"written_direct_run_below_256", 1.35e-09},
    {"written_direct_pages_above_16", 5.06e-11},
    {"written_direct_pages_above_64", 2.7e-09},
    {"written_direct_pages_above_256", 1.21e-08},
    {"written_direct_aliasing", 4.58e-10},
    {"written_direct_new_pages", 2.55e-09},
    {"staged", 1.23e-09},
    {"stage_above_quarters_of_l1_1", 1.64e-09},
    {"stage_above_quarters_of_l1_2", 5.96e-10},
    {"stage_above_quarters_of_l1_8", 1.82e-08},
    {"block_above_quarters_of_l1_1", 2.8e-10},
    {"block_above_quarters_of_l1_8", 2.11e-10},
    {"block_above_quarters_of_l1_32", 3.04e-07},
    {"streamed_block_above_quarters_of_l1_1", 2.24e-09},
    {"streamed_block_above_quarters_of_l1_32", 1.17e-07},
    {"wide_tiles_1", 1.19e-09},
    {"wide_tiles_2", 1.14e-09},
    {"wide_tiles_4", 8.49e-10},
    {"wide_tiles_8", 4.35e-10},
    {"wide_tiles_16", 7.95e-10},
    {"narrow_tiles_1", 3.57e-09},
    {"narrow_tiles_2", 1.25e-09},
    {"narrow_tiles_4", 1.2e-09},
    {"narrow_tiles_8", 2.03e-09},
    {"narrow_tiles_16", 6.18e-09},
    {"lane_tiles_1", 6.95e-10},
    {"lane_tiles_2", 6.41e-10},
    {"lane_tiles_4", 2.46e-09},
    {"lane_tiles_8", 4.75e-09},
    {"lane_tiles_16", 3.39e-09},
    {"shuffle_moves", 9.95e-10},
    {"shuffle_rounds", 4.57e-11},
    {"shuffle_terms", 3.83e-10},
    {"elements", 3.47e-10},
    {"vectors", 1.07e-10},
    {"loops", 4.75e-10},
    {"calls", 6.06e-09},
    {"blocks", 1.72e-08},
    {"fresh_pages", 7.7e-07},
    {"call", 1.31e-07},
    {"team", 1.87e-06},
    {"all_read_l2", 4.71e-10},
    {"all_written_l2", 5.53e-10},
    {"all_written_shared", 5.86e-10},
    {"all_written_direct", 8.05e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.60, .high = 2.07};
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
