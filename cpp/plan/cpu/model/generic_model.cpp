// The model of a machine without measurements: fitted together to a Skylake-SP, a Granite Rapids, a
// Zen 4 and a Zen 5, each with a scale of its own, by `python -m ttlg.benchmarks.generic_model`.
// The fit minimizes what the plan that the model prefers takes longer than the fastest plan
// measured of the same problem, smoothed by a softmax of the predicted times, and with less weight
// the error of these. Lines that are put together in registers were measured on the Zen 4 and the
// Zen 5 alone, and what generated code moves on the Zen 4 after that, the rest being fixed. The
// time of a fresh page is that of an earlier fit. All are scaled: the plans that it chooses take
// 0.49 of the predicted time on the Zen 5, 0.83 on the Zen 4, 0.93 on the Granite Rapids and 2.6 on
// the Skylake-SP, in the medians, of which the geometric mean is 1.
#include <array>
#include <string_view>
#include <utility>

#include "plan/cpu/model/time_model.hpp"

namespace ttlg::cpu {
namespace {

constexpr auto kSeconds = std::to_array<std::pair<std::string_view, double>>({
    {"read_l2_prefetched_1", 2.04e-09},
    {"read_shared_prefetched_1", 1.77e-09},
    {"read_memory_prefetched_1", 6.25e-13},
    {"read_l2_prefetched_2", 1.68e-09},
    {"read_shared_prefetched_2", 2.09e-09},
    {"read_memory_prefetched_2", 2.25e-09},
    {"read_memory_unprefetched", 7.56e-09},
    {"read_l2_split", 1.76e-09},
    {"read_shared_split", 3.01e-09},
    {"read_memory_split", 7.8e-09},
    {"read_l2_run_below_64", 1.64e-11},
    {"read_shared_run_below_64", 9.5e-11},
    {"read_memory_run_below_64", 9.88e-10},
    {"read_l2_run_below_2048", 6.39e-10},
    {"read_shared_run_below_2048", 2.91e-11},
    {"read_memory_run_below_2048", 6.07e-10},
    {"read_memory_run_below_512", 1.94e-09},
    {"read_shared_aliasing", 2.18e-10},
    {"read_memory_aliasing", 7.45e-10},
    {"read_continued", 1.18e-09},
    {"written_l2_lines", 2.36e-10},
    {"written_shared_lines", 2.37e-09},
    {"written_memory_lines", 8.16e-09},
    {"written_l2_rows_above_16", 1.33e-09},
    {"written_shared_rows_above_16", 8.46e-10},
    {"written_memory_rows_above_16", 7.41e-09},
    {"written_conflicts", 1.93e-09},
    {"written_continued", 4.62e-10},
    {"written_staged_split", 5.54e-09},
    {"written_staged_run_below_64", 9.16e-09},
    {"written_direct_lines", 2.35e-09},
    {"written_direct_split", 1.39e-08},
    {"written_direct_aliasing", 5.99e-10},
    {"all_streamed", 7.21e-10},
    {"copied_l2", 1.63e-09},
    {"copied_shared", 2.62e-09},
    {"copied_memory", 6.64e-09},
    {"stream_copied_l2", 1.07e-08},
    {"stream_copied_shared", 6.27e-09},
    {"stream_copied_memory", 5.02e-09},
    {"staged", 2.87e-09},
    {"stage_above_quarter_of_l1", 1.23e-09},
    {"streamed_block_above_twice_l1", 2.35e-12},
    {"carried_rows", 1.97e-08},
    {"wide_tiles", 3.22e-10},
    {"narrow_tiles", 2.12e-09},
    {"lane_tiles", 2.28e-09},
    {"whole_lane_tiles", 3.33e-09},
    {"tile_elements", 1.83e-11},
    {"shuffle_moves", 9.56e-10},
    {"shuffle_steps", 6.09e-10},
    {"generated_moves", 4.1e-10},
    {"gathered_lines", 1.09e-09},
    {"streamed_elements", 8.36e-10},
    {"vectors", 5.79e-10},
    {"calls", 1.44e-08},
    {"blocks", 5.99e-08},
    {"fresh_pages", 3.6e-08},
    {"call", 1.3e-07},
    {"team", 1.33e-06},
    {"team_lines", 3.67e-08},
});

}  // namespace

const TimeModel& generic_model() {
  static const TimeModel model = [] {
    TimeModel result{.low = 0.4, .high = 3};
    for (const auto& [name, seconds] : kSeconds) result.seconds.at(term_number(name)) = seconds;
    return result;
  }();
  return model;
}

}  // namespace ttlg::cpu
