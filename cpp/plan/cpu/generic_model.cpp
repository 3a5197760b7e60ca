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
    {"read_l2_split", 3.61e-10},
    {"read_l2_shared_lines", 2.01e-10},
    {"read_l2_run_below_64", 9.35e-10},
    {"read_l2_run_below_256", 5.37e-11},
    {"read_l2_run_below_4096", 2.24e-10},
    {"read_l2_aliasing", 7.29e-11},
    {"read_l2_new_pages", 4.25e-09},
    {"read_shared_split", 2.14e-09},
    {"read_shared_shared_lines", 6.32e-10},
    {"read_shared_run_below_64", 1.5e-09},
    {"read_shared_run_below_256", 1.44e-10},
    {"read_shared_pages_above_256", 2.54e-10},
    {"read_shared_rows_above_256", 1.97e-10},
    {"read_shared_aliasing", 3.88e-11},
    {"read_memory_lines", 1.97e-09},
    {"read_memory_split", 2.18e-09},
    {"read_memory_run_below_64", 7.77e-10},
    {"read_memory_pages_above_64", 2.97e-09},
    {"read_memory_rows_above_16", 4.77e-09},
    {"read_memory_rows_above_64", 1.97e-09},
    {"read_memory_rows_above_256", 3.68e-09},
    {"read_memory_aliasing", 8.14e-10},
    {"read_memory_conflicts", 3.49e-10},
    {"read_memory_new_pages", 7.19e-09},
    {"read_l2_prefetched_1", 3.69e-10},
    {"read_l2_prefetched_2", 2.7e-10},
    {"read_l2_prefetched_4", 2.33e-10},
    {"read_shared_prefetched_1", 3.28e-10},
    {"read_shared_prefetched_2", 4.7e-10},
    {"read_shared_prefetched_4", 5.98e-10},
    {"read_memory_prefetched_1", 2.06e-09},
    {"read_memory_prefetched_2", 1.11e-10},
    {"read_memory_prefetched_4", 1.56e-10},
    {"written_l2_split", 1.37e-09},
    {"written_l2_shared_lines", 8.51e-10},
    {"written_l2_run_below_1024", 2.84e-10},
    {"written_l2_pages_above_16", 1.34e-09},
    {"written_l2_pages_above_64", 2.19e-08},
    {"written_l2_rows_above_16", 2.46e-10},
    {"written_l2_rows_above_64", 2.81e-10},
    {"written_l2_aliasing", 1.12e-10},
    {"written_l2_conflicts", 1.85e-09},
    {"written_l2_new_pages", 3.44e-09},
    {"written_shared_lines", 3.16e-10},
    {"written_shared_split", 4.6e-09},
    {"written_shared_shared_lines", 1.53e-09},
    {"written_shared_run_below_64", 7.34e-10},
    {"written_shared_run_below_1024", 2.07e-10},
    {"written_shared_run_below_8192", 5.87e-10},
    {"written_shared_rows_above_16", 1.23e-09},
    {"written_memory_lines", 1.56e-09},
    {"written_memory_split", 2.7e-09},
    {"written_memory_shared_lines", 7.66e-10},
    {"written_memory_run_below_256", 3.99e-09},
    {"written_memory_run_below_1024", 2.85e-10},
    {"written_memory_run_below_2048", 4.95e-11},
    {"written_memory_pages_above_16", 6.98e-10},
    {"written_memory_pages_above_64", 7e-09},
    {"written_memory_pages_above_256", 8.37e-09},
    {"written_memory_rows_above_16", 1.69e-09},
    {"written_memory_aliasing", 5.71e-10},
    {"written_memory_new_pages", 3.13e-09},
    {"written_staged_split", 3.88e-09},
    {"written_staged_shared_lines", 8.79e-10},
    {"written_staged_run_below_64", 4.3e-10},
    {"written_staged_run_below_128", 4.09e-09},
    {"written_staged_run_below_1024", 1.08e-10},
    {"written_staged_run_below_8192", 8.96e-10},
    {"written_staged_rows_above_256", 1.04e-09},
    {"written_staged_conflicts", 1.44e-10},
    {"written_staged_new_pages", 8.14e-09},
    {"written_direct_lines", 2.3e-09},
    {"written_direct_split", 9.32e-09},
    {"written_direct_shared_lines", 8.8e-09},
    {"written_direct_run_below_64", 2.79e-09},
    {"written_direct_run_below_128", 2.15e-09},
    {"written_direct_pages_above_16", 1.86e-10},
    {"written_direct_pages_above_64", 7.46e-09},
    {"written_direct_rows_above_256", 6.64e-10},
    {"written_direct_aliasing", 1.31e-10},
    {"written_direct_new_pages", 1.33e-08},
    {"staged", 1.12e-09},
    {"stage_above_quarters_of_l1_1", 2.91e-09},
    {"stage_above_quarters_of_l1_8", 1.59e-08},
    {"block_above_quarters_of_l1_1", 6.79e-10},
    {"streamed_block_above_quarters_of_l1_1", 2.07e-09},
    {"wide_tiles_1", 9.58e-10},
    {"wide_tiles_2", 1.1e-09},
    {"wide_tiles_4", 1.09e-09},
    {"wide_tiles_8", 4.93e-10},
    {"wide_tiles_16", 5.64e-10},
    {"narrow_tiles_1", 2.83e-08},
    {"narrow_tiles_2", 1.26e-09},
    {"narrow_tiles_4", 1.25e-09},
    {"narrow_tiles_8", 1.66e-09},
    {"narrow_tiles_16", 4.23e-09},
    {"lane_tiles_1", 9.61e-10},
    {"lane_tiles_2", 4.04e-10},
    {"lane_tiles_4", 2.36e-09},
    {"lane_tiles_8", 5.41e-09},
    {"lane_tiles_16", 6.82e-09},
    {"shuffle_moves", 9.66e-10},
    {"shuffle_rounds", 2.84e-11},
    {"shuffle_terms", 3.64e-10},
    {"vectors", 4.76e-10},
    {"calls", 4.95e-09},
    {"blocks", 1.41e-08},
    {"call", 2.7e-07},
    {"team", 7.7e-06},
    {"all_read_memory", 3.38e-10},
    {"all_written_l2", 3.75e-10},
    {"all_written_shared", 1.04e-09},
    {"all_written_direct", 6.76e-10},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.61, .high = 1.917};
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
