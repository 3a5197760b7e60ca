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
    {"read_l2_split", 7.3e-10},
    {"read_l2_shared_lines", 4.37e-10},
    {"read_l2_run_below_64", 6.67e-10},
    {"read_l2_run_below_256", 1.85e-10},
    {"read_l2_run_below_2048", 2.97e-11},
    {"read_l2_conflicts", 4.23e-10},
    {"read_l2_new_pages", 1.15e-09},
    {"read_shared_split", 1.85e-09},
    {"read_shared_shared_lines", 1.36e-09},
    {"read_shared_aliasing", 1.26e-11},
    {"read_memory_lines", 2.11e-09},
    {"read_memory_split", 1.87e-09},
    {"read_memory_shared_lines", 1.09e-09},
    {"read_memory_run_below_64", 6.39e-10},
    {"read_memory_pages_above_64", 5.73e-09},
    {"read_memory_rows_above_16", 4.78e-09},
    {"read_memory_rows_above_64", 1.66e-09},
    {"read_memory_rows_above_256", 4.48e-09},
    {"read_memory_aliasing", 8.11e-10},
    {"read_memory_conflicts", 1.73e-09},
    {"read_memory_new_pages", 5.53e-09},
    {"read_l2_prefetched_1", 3.77e-10},
    {"read_l2_prefetched_2", 1.78e-10},
    {"read_l2_prefetched_4", 1.38e-10},
    {"read_shared_prefetched_2", 3.99e-10},
    {"read_shared_prefetched_4", 5.39e-10},
    {"read_memory_prefetched_0", 1.18e-09},
    {"read_memory_prefetched_1", 2.53e-09},
    {"read_memory_prefetched_2", 6.41e-10},
    {"read_memory_prefetched_4", 9.46e-10},
    {"written_l2_split", 7.51e-10},
    {"written_l2_shared_lines", 5.16e-10},
    {"written_l2_run_below_512", 6.52e-11},
    {"written_l2_run_below_1024", 1.59e-10},
    {"written_l2_pages_above_64", 1.49e-10},
    {"written_l2_rows_above_16", 3.71e-10},
    {"written_l2_rows_above_64", 6.29e-11},
    {"written_l2_aliasing", 7.27e-11},
    {"written_l2_conflicts", 5.77e-10},
    {"written_shared_split", 3.81e-09},
    {"written_shared_shared_lines", 7.09e-10},
    {"written_shared_run_below_1024", 7.98e-10},
    {"written_shared_run_below_8192", 3.53e-10},
    {"written_shared_rows_above_16", 4.8e-10},
    {"written_shared_rows_above_64", 2.52e-10},
    {"written_shared_rows_above_256", 1.69e-09},
    {"written_shared_aliasing", 4.14e-10},
    {"written_memory_lines", 2.35e-09},
    {"written_memory_split", 1.91e-09},
    {"written_memory_shared_lines", 9.98e-10},
    {"written_memory_run_below_64", 9.92e-10},
    {"written_memory_run_below_128", 5.32e-10},
    {"written_memory_run_below_256", 2.99e-09},
    {"written_memory_pages_above_16", 1.93e-09},
    {"written_memory_pages_above_64", 9.39e-09},
    {"written_memory_rows_above_16", 1.64e-09},
    {"written_memory_aliasing", 4.49e-10},
    {"written_memory_new_pages", 6.37e-09},
    {"written_staged_split", 3.4e-09},
    {"written_staged_run_below_64", 4.11e-09},
    {"written_staged_run_below_128", 1.8e-09},
    {"written_staged_run_below_8192", 5.19e-10},
    {"written_staged_pages_above_256", 8.41e-10},
    {"written_staged_rows_above_256", 3.78e-09},
    {"written_staged_new_pages", 7.9e-09},
    {"written_direct_lines", 1.74e-09},
    {"written_direct_split", 1.17e-08},
    {"written_direct_shared_lines", 9.29e-09},
    {"written_direct_run_below_128", 2.19e-09},
    {"written_direct_run_below_256", 1.22e-09},
    {"written_direct_pages_above_16", 4.62e-10},
    {"written_direct_pages_above_64", 2.75e-09},
    {"written_direct_pages_above_256", 1.16e-08},
    {"written_direct_aliasing", 3.69e-10},
    {"written_direct_new_pages", 2.78e-09},
    {"copied_l2", 9.71e-10},
    {"copied_shared", 1.33e-09},
    {"copied_memory", 6.98e-09},
    {"stream_copied_l2", 4.34e-09},
    {"stream_copied_shared", 2.73e-09},
    {"stream_copied_memory", 4.1e-09},
    {"staged", 1.32e-09},
    {"stage_above_quarters_of_l1_1", 1.65e-09},
    {"stage_above_quarters_of_l1_2", 4.01e-10},
    {"stage_above_quarters_of_l1_8", 1.8e-08},
    {"block_above_quarters_of_l1_1", 2.68e-10},
    {"block_above_quarters_of_l1_8", 4.44e-10},
    {"block_above_quarters_of_l1_32", 2.83e-07},
    {"streamed_block_above_quarters_of_l1_1", 1.97e-09},
    {"streamed_block_above_quarters_of_l1_32", 1.41e-07},
    {"wide_tiles_1", 1.24e-09},
    {"wide_tiles_2", 1.11e-09},
    {"wide_tiles_4", 7.55e-10},
    {"wide_tiles_8", 3.32e-10},
    {"wide_tiles_16", 7.01e-10},
    {"narrow_tiles_1", 3.49e-09},
    {"narrow_tiles_2", 1.27e-09},
    {"narrow_tiles_4", 1.07e-09},
    {"narrow_tiles_8", 1.74e-09},
    {"narrow_tiles_16", 6.61e-09},
    {"lane_tiles_1", 5.99e-10},
    {"lane_tiles_2", 7.43e-10},
    {"lane_tiles_4", 2.31e-09},
    {"lane_tiles_8", 4.75e-09},
    {"lane_tiles_16", 3.14e-09},
    {"shuffle_moves", 9.04e-10},
    {"shuffle_rounds", 1.03e-10},
    {"shuffle_terms", 3.96e-10},
    {"elements", 3.68e-10},
    {"vectors", 8.69e-11},
    {"loops", 3.02e-10},
    {"calls", 6.38e-09},
    {"blocks", 1.71e-08},
    {"fresh_pages", 7.7e-07},
    {"call", 1.15e-07},
    {"team", 1.84e-06},
    {"all_read_l2", 8.43e-10},
    {"all_read_memory", 3.82e-11},
    {"all_written_l2", 3.02e-10},
    {"all_written_shared", 5.93e-10},
    {"all_written_direct", 7.75e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.63, .high = 2.07};
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
