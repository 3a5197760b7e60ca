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
    {"read_l2_split", 1.15e-11},
    {"read_l2_shared_lines", 2.08e-10},
    {"read_l2_run_below_64", 1.03e-09},
    {"read_l2_run_below_256", 2.14e-10},
    {"read_l2_run_below_8192", 2.54e-10},
    {"read_l2_aliasing", 4.04e-11},
    {"read_l2_new_pages", 5.29e-09},
    {"read_shared_split", 2.43e-09},
    {"read_shared_shared_lines", 1.2e-09},
    {"read_shared_run_below_64", 1.69e-09},
    {"read_shared_pages_above_256", 2.25e-09},
    {"read_memory_lines", 2.91e-09},
    {"read_memory_split", 3.15e-09},
    {"read_memory_run_below_64", 6.8e-10},
    {"read_memory_pages_above_64", 3.04e-09},
    {"read_memory_rows_above_16", 4.99e-09},
    {"read_memory_rows_above_64", 1.87e-09},
    {"read_memory_rows_above_256", 3.86e-09},
    {"read_memory_aliasing", 1.09e-09},
    {"read_memory_conflicts", 7.69e-12},
    {"read_memory_new_pages", 7.23e-09},
    {"written_l2_split", 1.22e-09},
    {"written_l2_shared_lines", 1.14e-09},
    {"written_l2_run_below_512", 2.07e-10},
    {"written_l2_pages_above_16", 1.54e-09},
    {"written_l2_pages_above_64", 2.13e-08},
    {"written_l2_aliasing", 2e-10},
    {"written_l2_conflicts", 1.9e-09},
    {"written_l2_new_pages", 5.26e-09},
    {"written_shared_split", 6.35e-09},
    {"written_shared_shared_lines", 2.03e-09},
    {"written_shared_run_below_64", 9.39e-10},
    {"written_shared_run_below_4096", 2.55e-10},
    {"written_shared_run_below_8192", 4.77e-10},
    {"written_shared_rows_above_16", 1.28e-09},
    {"written_memory_lines", 1.53e-09},
    {"written_memory_split", 2.02e-09},
    {"written_memory_shared_lines", 9.22e-10},
    {"written_memory_run_below_256", 3.82e-09},
    {"written_memory_run_below_1024", 1e-09},
    {"written_memory_run_below_8192", 7.26e-11},
    {"written_memory_pages_above_16", 1.58e-09},
    {"written_memory_pages_above_64", 5.23e-09},
    {"written_memory_pages_above_256", 8.73e-09},
    {"written_memory_rows_above_16", 1.49e-09},
    {"written_memory_aliasing", 5.55e-10},
    {"written_memory_new_pages", 4.9e-09},
    {"written_staged_split", 3.46e-09},
    {"written_staged_shared_lines", 6.02e-10},
    {"written_staged_run_below_64", 4.34e-10},
    {"written_staged_run_below_128", 4.65e-09},
    {"written_staged_run_below_8192", 8.73e-10},
    {"written_staged_conflicts", 3.59e-12},
    {"written_staged_new_pages", 8.62e-09},
    {"written_direct_lines", 5.84e-09},
    {"staged", 1.19e-09},
    {"stage_above_quarters_of_l1_1", 2.91e-09},
    {"stage_above_quarters_of_l1_8", 1.49e-08},
    {"block_above_quarters_of_l1_1", 1.32e-09},
    {"streamed_block_above_quarters_of_l1_1", 3.51e-09},
    {"wide_tiles_1", 9.13e-10},
    {"wide_tiles_2", 5.8e-10},
    {"wide_tiles_4", 1.25e-09},
    {"wide_tiles_8", 2.73e-10},
    {"wide_tiles_16", 4.3e-10},
    {"narrow_tiles_1", 2.58e-08},
    {"narrow_tiles_2", 1.1e-09},
    {"narrow_tiles_4", 1.05e-09},
    {"narrow_tiles_8", 8.07e-10},
    {"narrow_tiles_16", 3.24e-09},
    {"lane_tiles_1", 9.3e-10},
    {"lane_tiles_4", 2.3e-09},
    {"lane_tiles_8", 5.8e-09},
    {"lane_tiles_16", 6.57e-09},
    {"shuffle_moves", 8.15e-10},
    {"shuffle_terms", 3.67e-10},
    {"vectors", 4.61e-10},
    {"loops", 1.2e-10},
    {"calls", 2.68e-09},
    {"blocks", 1.35e-08},
    {"call", 2.89e-07},
    {"team", 6.08e-06},
    {"all_read_memory", 5.74e-10},
    {"all_written_l2", 6.77e-10},
    {"all_written_shared", 1.14e-09},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.593867, .high = 1.92989};
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
