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
    {"read_l2_split", 7.1e-10},
    {"read_l2_shared_lines", 4.41e-10},
    {"read_l2_run_below_64", 6.67e-10},
    {"read_l2_run_below_256", 1.33e-10},
    {"read_l2_run_below_1024", 2.31e-11},
    {"read_l2_run_below_2048", 1.66e-12},
    {"read_l2_conflicts", 1.4e-11},
    {"read_l2_new_pages", 7.73e-10},
    {"read_shared_split", 2.18e-09},
    {"read_shared_shared_lines", 1.73e-09},
    {"read_shared_run_below_64", 2.83e-10},
    {"read_shared_run_below_8192", 3.8e-11},
    {"read_shared_pages_above_64", 2.24e-10},
    {"read_shared_pages_above_256", 9.07e-12},
    {"read_shared_aliasing", 3.86e-10},
    {"read_shared_new_pages", 3.57e-10},
    {"read_memory_lines", 1.48e-09},
    {"read_memory_split", 1.33e-09},
    {"read_memory_shared_lines", 8.39e-10},
    {"read_memory_run_below_64", 7.42e-10},
    {"read_memory_pages_above_64", 5.95e-09},
    {"read_memory_rows_above_16", 4.63e-09},
    {"read_memory_rows_above_64", 2.29e-09},
    {"read_memory_rows_above_256", 3.94e-09},
    {"read_memory_aliasing", 6.21e-10},
    {"read_memory_conflicts", 1.82e-09},
    {"read_memory_new_pages", 4.73e-09},
    {"read_l2_prefetched_1", 3.56e-10},
    {"read_l2_prefetched_2", 1.81e-10},
    {"read_l2_prefetched_4", 1.29e-10},
    {"read_shared_prefetched_1", 2.86e-10},
    {"read_shared_prefetched_2", 4.72e-10},
    {"read_shared_prefetched_4", 6.36e-10},
    {"read_memory_prefetched_0", 5.59e-10},
    {"read_memory_prefetched_1", 1.92e-09},
    {"read_memory_prefetched_2", 1.59e-10},
    {"read_memory_prefetched_4", 4.61e-10},
    {"written_l2_split", 7.65e-10},
    {"written_l2_shared_lines", 5.01e-10},
    {"written_l2_run_below_1024", 2.42e-10},
    {"written_l2_rows_above_16", 2.19e-10},
    {"written_l2_rows_above_64", 9.66e-11},
    {"written_l2_aliasing", 7.42e-11},
    {"written_l2_conflicts", 6.1e-10},
    {"written_shared_lines", 4.84e-10},
    {"written_shared_split", 3.96e-09},
    {"written_shared_shared_lines", 1.22e-09},
    {"written_shared_run_below_1024", 1.61e-10},
    {"written_shared_run_below_8192", 9.25e-10},
    {"written_shared_pages_above_64", 3.82e-10},
    {"written_shared_rows_above_16", 8.52e-10},
    {"written_shared_rows_above_256", 1.46e-09},
    {"written_shared_aliasing", 4.46e-10},
    {"written_memory_lines", 2.78e-09},
    {"written_memory_split", 1.84e-09},
    {"written_memory_shared_lines", 8.52e-10},
    {"written_memory_run_below_64", 3.72e-11},
    {"written_memory_run_below_128", 9.91e-10},
    {"written_memory_run_below_256", 3.29e-09},
    {"written_memory_pages_above_16", 1.41e-09},
    {"written_memory_pages_above_64", 8.14e-09},
    {"written_memory_rows_above_16", 1.54e-09},
    {"written_memory_rows_above_64", 4.56e-10},
    {"written_memory_aliasing", 3.79e-10},
    {"written_memory_new_pages", 4.93e-09},
    {"written_staged_split", 2.99e-09},
    {"written_staged_run_below_64", 3.28e-09},
    {"written_staged_run_below_128", 2.37e-09},
    {"written_staged_run_below_8192", 9.63e-10},
    {"written_staged_pages_above_256", 7.78e-10},
    {"written_staged_rows_above_256", 3.15e-09},
    {"written_staged_conflicts", 2.18e-10},
    {"written_staged_new_pages", 8.35e-09},
    {"written_direct_lines", 2e-09},
    {"written_direct_split", 1.1e-08},
    {"written_direct_shared_lines", 9.3e-09},
    {"written_direct_run_below_128", 2.06e-09},
    {"written_direct_run_below_256", 1.32e-09},
    {"written_direct_pages_above_64", 2.55e-09},
    {"written_direct_pages_above_256", 1.19e-08},
    {"written_direct_aliasing", 4.73e-10},
    {"written_direct_new_pages", 2.92e-09},
    {"copied_l2", 9.77e-10},
    {"copied_shared", 1.43e-09},
    {"copied_memory", 6.89e-09},
    {"stream_copied_l2", 4.35e-09},
    {"stream_copied_shared", 2.88e-09},
    {"stream_copied_memory", 3.88e-09},
    {"staged", 1.36e-09},
    {"stage_above_quarters_of_l1_1", 1.63e-09},
    {"stage_above_quarters_of_l1_2", 4.5e-10},
    {"stage_above_quarters_of_l1_8", 1.81e-08},
    {"block_above_quarters_of_l1_1", 2.78e-10},
    {"block_above_quarters_of_l1_8", 2.9e-10},
    {"block_above_quarters_of_l1_32", 3.05e-07},
    {"streamed_block_above_quarters_of_l1_1", 2.55e-09},
    {"streamed_block_above_quarters_of_l1_32", 1.18e-07},
    {"wide_tiles_1", 1.22e-09},
    {"wide_tiles_2", 1.15e-09},
    {"wide_tiles_4", 8.51e-10},
    {"wide_tiles_8", 4.33e-10},
    {"wide_tiles_16", 7.75e-10},
    {"narrow_tiles_1", 3.59e-09},
    {"narrow_tiles_2", 1.31e-09},
    {"narrow_tiles_4", 1.17e-09},
    {"narrow_tiles_8", 2.12e-09},
    {"narrow_tiles_16", 6.58e-09},
    {"lane_tiles_1", 6.72e-10},
    {"lane_tiles_2", 6.43e-10},
    {"lane_tiles_4", 2.46e-09},
    {"lane_tiles_8", 4.83e-09},
    {"lane_tiles_16", 3.46e-09},
    {"shuffle_moves", 1.01e-09},
    {"shuffle_rounds", 4.4e-11},
    {"shuffle_terms", 3.85e-10},
    {"elements", 3.74e-10},
    {"vectors", 8.16e-11},
    {"loops", 4.94e-10},
    {"calls", 6.2e-09},
    {"blocks", 1.72e-08},
    {"fresh_pages", 7.7e-07},
    {"call", 1.14e-07},
    {"team", 1.88e-06},
    {"all_read_l2", 3.83e-10},
    {"all_written_l2", 6.89e-10},
    {"all_written_shared", 7.28e-10},
    {"all_written_direct", 9.72e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.60, .high = 2.09};
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
