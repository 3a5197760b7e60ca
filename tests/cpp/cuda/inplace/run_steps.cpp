#include "cuda/inplace/run_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <variant>

#include "cuda/aligned.hpp"
#include "cuda/run_kernels.hpp"
#include "moves.hpp"
#include "plan/cuda/cases.hpp"
#include "sample.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

// Calls visit(from, to, row, column), bytes from the beginning of the array, for every element.
template <typename Visit>
void for_each_element(const InplaceStep& step, const Visit& visit) {
  std::int64_t from = 0;
  for (std::int64_t b = 0; b < step.batch; ++b) {
    for (std::int64_t i = 0; i < step.rows; ++i) {
      for (std::int64_t t = 0; t < step.between; ++t) {
        for (std::int64_t j = 0; j < step.columns; ++j) {
          const std::int64_t to = ((b * step.columns + j) * step.between + t) * step.rows + i;
          visit(from, to * step.element_bytes, i, j);
          from += step.element_bytes;
        }
      }
    }
  }
}

std::vector<std::byte> oracle(const InplaceStep& step, std::span<const std::byte> bytes) {
  std::vector<std::byte> result(bytes.size());
  for_each_element(step, [&](std::int64_t from, std::int64_t to, std::int64_t, std::int64_t) {
    std::memcpy(result.data() + to, bytes.data() + from,
                static_cast<std::size_t>(step.element_bytes));
  });
  return result;
}

// Whether a launch is to write an element of one of its matrices.
bool writes(const InplaceStep& step, const RunsArguments&, std::int64_t row, std::int64_t column) {
  (void)step;
  return row != column;
}
bool writes(const InplaceStep& step, const SquareArguments& p, std::int64_t row,
            std::int64_t column) {
  if (!p.tiles.is_region) return true;
  const int order = SquarePolicy(step.element_bytes).tile_order;
  const std::int64_t x = std::min(row, column) / order - p.tiles.first_x;
  const std::int64_t y = std::max(row, column) / order - p.tiles.first_y;
  const std::int64_t region = p.tiles.region.divisor();
  return 0 <= x && x < region && 0 <= y && y < region;
}
template <typename Arguments>
bool writes(const InplaceStep&, const Arguments&, std::int64_t, std::int64_t) {
  return true;
}

std::vector<std::uint8_t> expected_writes(const InplaceStep& step, const Launch& launch) {
  std::vector<std::uint8_t> result(static_cast<std::size_t>(step.bytes()));
  for_each_element(step, [&](std::int64_t, std::int64_t to, std::int64_t i, std::int64_t j) {
    const bool is_written =
        std::visit([&](const auto& p) { return writes(step, p, j, i); }, launch.arguments);
    std::fill_n(result.begin() + to, step.element_bytes, is_written);
  });
  return result;
}

void add(Counts& sum, const Counts& counts) {
  sum.load.sectors += counts.load.sectors;
  sum.store.sectors += counts.store.sectors;
  sum.bank_conflicts += counts.bank_conflicts;
}

void fill_randomly(AlignedBytes& array) {
  std::ranges::generate(array.bytes(), [random = std::minstd_rand(1)]() mutable {
    return static_cast<std::byte>(random() >> 8);
  });
}

}  // namespace

Report run_launches(const std::vector<InplaceLaunch>& launches, AlignedBytes& array,
                    std::int64_t workspace_bytes, bool backwards, const Writes& writes) {
  AlignedBytes workspace(static_cast<std::size_t>(workspace_bytes));
  Report result;
  for (const auto& [launch, from, to] : launches) {
    const auto bytes = [&](const InplaceLaunch::Location& location) {
      return location.in_workspace ? workspace.bytes() : array.bytes();
    };
    const std::vector<std::uint8_t> expected =
        writes ? writes(launch) : std::vector<std::uint8_t>(bytes(to).size(), 1);
    const Report report =
        run_kernel({launch.blocks, launch.threads, launch.shared_bytes, backwards},
                   {.in = bytes(from),
                    .out = bytes(to),
                    .expected_writes = expected,
                    .in_origin = from.offset,
                    .out_origin = to.offset},
                   kernel_of(launch, {}));
    for (const std::string& violation : report.violations) {
      if (writes || !violation.ends_with("never written")) result.violations.push_back(violation);
    }
    add(result.counts, report.counts);
  }
  return result;
}

Report run_step(const InplaceStep& step, std::size_t misalignment, bool backwards) {
  AlignedBytes array(static_cast<std::size_t>(step.bytes()), misalignment);
  fill_randomly(array);
  const std::vector<std::byte> expected = oracle(step, array.bytes());
  const std::int64_t workspace = workspace_bytes(step, analytic_model(), 0);
  const InplaceMemory memory{.address = static_cast<std::int64_t>(misalignment),
                             .workspace_bytes = workspace,
                             .on_chip_bytes = on_chip_bytes(analytic_model())};
  const Writes writes = [&](const Launch& launch) { return expected_writes(step, launch); };
  Report result = run_launches(lower_inplace(step, memory), array, workspace, backwards,
                               workspace == 0 ? writes : Writes{});
  if (!std::ranges::equal(array.bytes(), expected)) result.violations.push_back("wrong bytes");
  return result;
}

void expect_transposed(const InplaceStep& step, std::size_t misalignment) {
  if (!is_sample()) return;
  for (const bool backwards : {false, true}) {
    EXPECT_EQ(run_step(step, misalignment, backwards).violations, Violations{})
        << describe(step, misalignment) << (backwards ? ", backwards" : "");
  }
}

Report run_plan(const InplacePlan& plan, std::size_t misalignment, bool backwards) {
  AlignedBytes array(static_cast<std::size_t>(plan.problem.bytes()), misalignment);
  fill_randomly(array);
  std::vector<std::byte> expected(array.bytes().size());
  for (const auto& [from, to] : unsorted_moves_of(plan.request)) {
    expected[static_cast<std::size_t>(to)] = array.bytes()[static_cast<std::size_t>(from)];
  }
  const LoweredInplacePlan executable(plan);
  Report result =
      run_launches(executable.bind(array.bytes().data()), array, plan.workspace_bytes, backwards);
  if (!std::ranges::equal(array.bytes(), expected)) result.violations.push_back("wrong bytes");
  return result;
}

std::string describe(const InplaceStep& step, std::size_t misalignment) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  return "kernel " + text(static_cast<int>(step.kernel)) + ", " + text(step.batch) + " x " +
         text(step.rows) + " x " + text(step.between) + " x " + text(step.columns) + " of " +
         text(step.element_bytes) + " bytes, width " + text(step.width) + ", " +
         text(static_cast<std::int64_t>(misalignment)) + " bytes misaligned";
}

}  // namespace ttlg::test
