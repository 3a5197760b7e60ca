#include "plan/cpu/model/time_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/cpu/block/runs.hpp"
#include "plan/cpu/model/count_terms.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/cpu/random_plans.hpp"
#include "requests.hpp"

namespace ttlg::cpu {
namespace {

using test::contiguous_request;

// Plans by every kernel, through the caches and around them, staged or not, on machines of caches
// of many sizes.
template <typename Check>
void for_plans_of_every_kind(int seed, const Check& check) {
  test::Random random(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < 600; ++i) {
    const Request request = i % 3 == 0   ? test::random_request(random)
                            : i % 3 == 1 ? test::many_modes_request(random)
                                         : test::long_runs_request(random);
    const Problem folded = fold_run(make_problem(request));
    Machine machine;
    machine.l1_cache_bytes = 1 << test::pick(random, 8, 15);
    machine.l2_cache_bytes = 1 << test::pick(random, 6, 20);
    machine.model.cached_bytes = 1 << test::pick(random, 6, 22);
    for (const Kernel kernel : kKernels) {
      if (!applies(kernel, folded)) continue;
      check(folded, test::random_plan(random, request, folded, kernel), machine);
    }
  }
}

TermValues count(const Plan& plan, bool fresh = false) {
  return values_of(count_terms(fold_run(plan.problem), plan.parameters, Machine{}, fresh));
}

double value_of(const std::string& name, const TermValues& values) {
  return values.at(term_number(name));
}

TEST(TermNames, NameEveryNumberOnce) {
  const std::set<std::string> names(term_names().begin(), term_names().end());
  EXPECT_EQ(names.size(), kTerms);
  EXPECT_FALSE(names.contains(""));
}

TEST(Terms, AreNeverNegative) {
  for_plans_of_every_kind(40, [](const Problem& folded, const Plan& plan, const Machine& machine) {
    const TermValues values = values_of(count_terms(folded, plan.parameters, machine, true));
    EXPECT_GE(*std::ranges::min_element(values), 0);
    EXPECT_EQ(value_of("call", values), 1);
  });
}

// A plane of 8-byte elements, 100 by 100 in blocks of 40 by 30: what is counted by hand.
TEST(Terms, CountBlocksRunsAndTiles) {
  const Plan plan = build_plan(contiguous_request({100, 100}, {1, 0}, 8), {.kernel = Kernel::tile,
                                                                           .block = {40, 30},
                                                                           .loop_order = {0, 1},
                                                                           .staged = true,
                                                                           .streaming = true,
                                                                           .prefetch = 1,
                                                                           .threads = 1});
  const TermValues values = count(plan, true);
  EXPECT_EQ(value_of("blocks", values), 12);
  EXPECT_EQ(value_of("all_streamed", values), 1250);
  // 400 runs of 30, 30, 30 and 10 elements; every second line of the output begins within a line.
  EXPECT_EQ(value_of("written_staged_run_below_64", values), 400);
  EXPECT_EQ(value_of("staged", values), 1250);
  EXPECT_EQ(value_of("wide_tiles", values), (5 + 5 + 3) * (4 + 4 + 4 + 2) * 8);
  EXPECT_EQ(value_of("tile_elements", values), 8 * value_of("wide_tiles", values));
  EXPECT_EQ(value_of("fresh_pages", values), 80000.0 / kPageBytes);
  EXPECT_EQ(value_of("fresh_pages", count(plan)), 0);
}

// 64 rows of 12.5 lines in three blocks each, which begin 16 bytes into a line or further: only at
// their ends are lines written in parts.
TEST(Terms, CountTheEndsOfRowsOfDirectBlocks) {
  const auto count_in_blocks = [](bool streaming) {
    return count(build_plan(
        contiguous_request({100, 64}, {1, 0}, 8),
        {.kernel = Kernel::tile, .block = {64, 40}, .loop_order = {1}, .streaming = streaming}));
  };
  EXPECT_EQ(value_of("written_direct_split", count_in_blocks(true)), 64 * 0.75);
  EXPECT_EQ(value_of("written_continued", count_in_blocks(true)), 0);
  EXPECT_EQ(value_of("written_continued", count_in_blocks(false)), 3 * 64 * 0.75);
}

// Two rows of 12.5 lines begin at different places of their lines, of 12 lines at the same.
TEST(Terms, CountTheRowsThatAreCarried) {
  const auto count_rows_of = [](std::int64_t elements, bool staged) {
    return value_of("carried_rows", count(build_plan(contiguous_request({elements, 64}, {1, 0}, 8),
                                                     {.kernel = Kernel::tile,
                                                      .block = {64, 40},
                                                      .loop_order = {1},
                                                      .staged = staged,
                                                      .streaming = true})));
  };
  EXPECT_EQ(count_rows_of(100, false), 64 * 3);
  EXPECT_EQ(count_rows_of(100, true), 0);
  EXPECT_EQ(count_rows_of(96, false), 0);
}

// Rows of 9 lines, 8 to a block, which begin at lines where the output does.
TEST(Terms, CountPartialLinesByWhereTheOutputBegins) {
  Request request = contiguous_request({72, 64}, {1, 0}, 8);
  const auto count_at = [&](std::int64_t alignment) {
    request.out_alignment = alignment;
    return count(build_plan(
        request, {.kernel = Kernel::tile, .block = {8, 72}, .loop_order = {0}, .threads = 2}));
  };
  const TermValues unknown = count_at(1);
  const TermValues at_lines = count_at(64);
  for (const std::string name : {"written_continued", "team_lines"}) {
    EXPECT_GT(value_of(name, unknown), 0) << name;
    EXPECT_EQ(value_of(name, count_at(16)), value_of(name, unknown)) << name;
    EXPECT_EQ(value_of(name, at_lines), 0) << name;
  }
  EXPECT_EQ(value_of("read_l2_split", at_lines), value_of("read_l2_split", unknown));
}

TEST(Terms, AreSharedByThreads) {
  const Request request = contiguous_request({1000, 1000}, {1, 0}, 8);
  Parameters parameters{
      .kernel = Kernel::tile, .block = {100, 50}, .loop_order = {0, 1}, .streaming = true};
  const TermValues alone = count(build_plan(request, parameters));
  parameters.threads = 4;
  const TermValues shared = count(build_plan(request, parameters));
  EXPECT_EQ(value_of("wide_tiles", shared), value_of("wide_tiles", alone) / 4);
  EXPECT_EQ(value_of("all_streamed", shared), value_of("all_streamed", alone));
  EXPECT_EQ(value_of("team", alone), 0);
  EXPECT_EQ(value_of("team", shared), 2);
}

// A last-level cache of 24 MiB begins to run empty at half of that, and has at 34.
TEST(Terms, FindLargeArraysInMemory) {
  const auto count_rows = [](std::int64_t rows, bool streaming) {
    return count(build_plan(
        contiguous_request({rows, 1024}, {1, 0}, 8),
        {.kernel = Kernel::tile, .block = {64, 64}, .loop_order = {1, 0}, .streaming = streaming}));
  };
  for (const bool streaming : {false, true}) {
    const std::int64_t both = streaming ? 1 : 2;  // what is written through the caches counts
    const TermValues few = count_rows(1400 / both, streaming);
    EXPECT_GT(value_of("read_shared_run_below_2048", few), 0);
    EXPECT_EQ(value_of("read_memory_run_below_2048", few), 0);
    const TermValues more = count_rows(2400 / both, streaming);
    EXPECT_GT(value_of("read_shared_run_below_2048", more), 0);
    EXPECT_GT(value_of("read_memory_run_below_2048", more), 0);
    const TermValues many = count_rows(4400 / both, streaming);
    EXPECT_EQ(value_of("read_shared_run_below_2048", many), 0);
    EXPECT_GT(value_of("read_memory_run_below_2048", many), 0);
  }
}

// 128 MB in blocks that are prefetched not at all, one ahead, and more.
TEST(Terms, CountLinesByHowFarAheadTheyArePrefetched) {
  const std::vector<std::string> names{"read_memory_unprefetched", "read_memory_prefetched_1",
                                       "read_memory_prefetched_2"};
  for (const auto& [prefetch, expected] : {std::pair{0, 0}, {1, 1}, {2, 2}, {4, 2}}) {
    const TermValues values = count(build_plan(
        contiguous_request({4096, 4096}, {1, 0}, 8),
        {.kernel = Kernel::tile, .block = {64, 64}, .loop_order = {0, 1}, .prefetch = prefetch}));
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(value_of(names[i], values) > 0, static_cast<int>(i) == expected) << prefetch;
    }
  }
}

// Of 32 KiB of L1: 64 rows of a staging buffer, of 512 bytes and a line between them, have 2.25
// times a half, and a block of 128 by 128 has 4 times all of it.
TEST(Terms, CountBuffersThatAreLargerThanAPartOfL1) {
  const auto count_in_blocks = [](std::int64_t extent, bool staged) {
    return count(build_plan(contiguous_request({1024, 1024}, {1, 0}, 8), {.kernel = Kernel::tile,
                                                                          .block = {extent, extent},
                                                                          .loop_order = {0, 1},
                                                                          .staged = staged,
                                                                          .streaming = true}));
  };
  const double lines = 1024 * 1024 / 8;
  EXPECT_EQ(value_of("staged", count_in_blocks(64, true)), lines);
  EXPECT_EQ(value_of("staged", count_in_blocks(64, false)), 0);
  EXPECT_NEAR(value_of("stage_above_quarter_of_l1", count_in_blocks(64, true)),
              lines * (1 - 1 / 4.5), 1e-6);
  EXPECT_EQ(value_of("stage_above_quarter_of_l1", count_in_blocks(16, true)), 0);
  EXPECT_EQ(value_of("streamed_block_above_twice_l1", count_in_blocks(128, false)), lines / 2);
  EXPECT_EQ(value_of("streamed_block_above_twice_l1", count_in_blocks(64, false)), 0);
}

// 64 rows of 64 elements, 32 KiB apart: all begin at the same place of a page, of which they use an
// eighth, and of the sets of L1. Where rows have 8 elements more they do not.
TEST(Terms, CountWhatPowersOfTwoInStridesShare) {
  const auto count_rows_of = [](std::int64_t elements, bool streaming) {
    return count(build_plan(
        contiguous_request({elements, elements}, {1, 0}, 8),
        {.kernel = Kernel::tile, .block = {64, 64}, .loop_order = {0, 1}, .streaming = streaming}));
  };
  const TermValues direct = count_rows_of(4096, true);
  const double lines = value_of("written_direct_lines", direct);
  EXPECT_EQ(lines, 4096 * 4096 / 8);
  EXPECT_EQ(value_of("written_direct_aliasing", direct), 3 * lines);
  EXPECT_EQ(value_of("read_memory_aliasing", direct), 3 * lines);
  const TermValues through = count_rows_of(4096, false);
  EXPECT_EQ(value_of("written_conflicts", through), lines * (1 - static_cast<double>(kWays) / 64));
  for (const bool streaming : {false, true}) {
    const TermValues others = count_rows_of(4104, streaming);
    for (const std::string name :
         {"written_direct_aliasing", "read_memory_aliasing", "written_conflicts"}) {
      EXPECT_EQ(value_of(name, others), 0) << name;
    }
  }
}

// Where vectors are lines, runs of a line or more are put together in them, also those of a KiB,
// which otherwise leave one by one, with parts of lines at their ends.
TEST(Terms, CountLinesThatAreGathered) {
  const auto count_runs = [](std::int64_t elements, int vector_bytes) {
    const Plan plan = build_plan(contiguous_request({60, 50, elements}, {1, 0, 2}, 8),
                                 {.kernel = Kernel::strided_copy,
                                  .block = {4, 30},
                                  .loop_order = {0, 1},
                                  .streaming = true});
    const Machine machine{.vector_bytes = vector_bytes};
    return values_of(
        count_terms(fold_run(make_problem(plan.request)), plan.parameters, machine, false));
  };
  for (const std::int64_t elements : {8, 20, 128}) {
    const TermValues gathered = count_runs(elements, 64);
    EXPECT_EQ(value_of("gathered_lines", gathered), 3000.0 * static_cast<double>(elements) / 8);
    EXPECT_EQ(value_of("vectors", gathered), 0);
    const TermValues moved = count_runs(elements, 32);
    EXPECT_EQ(value_of("gathered_lines", moved), 0);
    EXPECT_EQ(value_of("vectors", moved), 3000.0 * static_cast<double>(elements) / 4);
    EXPECT_EQ(value_of("streamed_elements", moved), elements == 128 ? 0 : 3000);
  }
  EXPECT_EQ(value_of("gathered_lines", count_runs(7, 64)), 0);
}

// Vectors of 64 bytes that are loaded and stored, whether by generated code or by a program that is
// interpreted.
TEST(Terms, CountWhatGeneratedCodeMoves) {
  const auto moves = [](const Request& request, std::vector<std::int64_t> block) {
    Parameters parameters;
    parameters.kernel = Kernel::shuffle;
    parameters.block = std::move(block);
    parameters.loop_order = test::cut_modes(fold_run(make_problem(request)), parameters.block);
    const TermValues values = count(build_plan(request, parameters));
    return std::pair(value_of("generated_moves", values), value_of("shuffle_moves", values));
  };
  const Request channels = contiguous_request({640, 3}, {1, 0}, 4);
  EXPECT_EQ(moves(channels, {3, 640}), std::pair(2 * 120.0, 0.0));
  // The output's fastest modes are 7, 1, 5 and 4, the input's 0 to 3: a tile of 128 elements.
  const Request twos = contiguous_request({2, 2, 2, 2, 2, 2, 2, 2}, {7, 5, 4, 1, 3, 2, 6, 0}, 4);
  EXPECT_EQ(moves(twos, {2, 2, 2, 2, 2, 2, 2, 2}), std::pair(2 * 16.0, 0.0));
  // The last tile along 40 lies over the one before.
  const Request rows = contiguous_request({40, 8}, {1, 0}, 4);
  EXPECT_EQ(moves(rows, {8, 40}), std::pair(2 * 3 * 8.0, 0.0));
  EXPECT_EQ(moves(rows, {8, 8}).first, 0) << "blocks without a whole tile";
  EXPECT_EQ(moves(contiguous_request({64, 64}, {1, 0}, 4), {64, 64}).first, 0) << "no bit stays";
}

TEST(SideRuns, AreCountedAndPlaced) {
  const Problem folded = fold_run(make_problem(contiguous_request({64, 100}, {1, 0}, 8)));
  const std::vector<std::int64_t> block{30, 64};
  const SideRuns in = side_runs(folded, block, identity_order(2), &Mode::in_byte_stride);
  EXPECT_EQ(in.bytes, 240);
  EXPECT_EQ(in.count, 64);
  EXPECT_EQ(in.total, 4 * 64);
  EXPECT_EQ(in.alignment, 16) << "of multiples of 240 and 800 bytes";
  EXPECT_EQ(in.continues, 0);
  const SideRuns out = side_runs(folded, block, folded.perm, &Mode::out_byte_stride);
  EXPECT_EQ(out.bytes, 64 * 30 * 8) << "whole rows follow one another";
  EXPECT_EQ(out.count, 1);
  EXPECT_EQ(out.continues, 0);
}

// The sum that the planner takes is that of the counts by name, to which models are fitted.
TEST(PredictedSeconds, AreLinearInTheTerms) {
  test::Random random(41);
  TimeModel model;
  for (double& seconds : model.seconds) seconds = static_cast<double>(test::pick(random, 1, 1000));
  TermValues all{};
  for_plans_of_every_kind(42, [&](const Problem& folded, const Plan& plan, const Machine& machine) {
    for (const bool fresh : {false, true}) {
      const Terms terms = count_terms(folded, plan.parameters, machine, fresh);
      const TermValues values = values_of(terms);
      const double sum =
          std::inner_product(values.begin(), values.end(), model.seconds.begin(), 0.0);
      EXPECT_NEAR(predicted_seconds(terms, model) / sum, 1, 1e-12);
      for (std::size_t i = 0; i < kTerms; ++i) all[i] += values[i];
    }
  });
  for (std::size_t i = 0; i < kTerms; ++i) {
    const std::string& name = term_names()[i];
    const bool needs_large_strides = name == "written_conflicts" || name.ends_with("_aliasing");
    if (needs_large_strides) continue;
    EXPECT_GT(all[i], 0) << name;
  }
}

// Nothing is ever predicted to take less than a call, nor more of a mode less than little of it.
TEST(PredictedSeconds, GrowWithTheProblem) {
  const TimeModel& model = generic_model();
  const double call = value_of("call", model.seconds);
  EXPECT_GT(call, 0);
  for (const std::int64_t itemsize : {1, 4, 8}) {
    double before = call;
    for (std::int64_t rows = 32; rows <= 1 << 20; rows *= 32) {
      const Plan plan = make_plan(contiguous_request({rows, 64, 8}, {2, 0, 1}, itemsize), {}, 1);
      EXPECT_GT(plan.warm_seconds, before);
      EXPECT_GT(plan.fresh_seconds, plan.warm_seconds);
      before = plan.warm_seconds;
    }
  }
}

}  // namespace
}  // namespace ttlg::cpu
