#include "plan/cuda/model/launch_terms.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/model/device_model.hpp"
#include "plan/cuda/model/occupancy.hpp"
#include "plan/cuda/model/predict.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

using test::analytic_model;
using test::unfused_problem;

using enum Schema;

// Seconds at a cost of 1, by name; 0 for what is not there.
class Counted {
 public:
  Counted(const DeviceModel& model, const Problem& problem, const cuda::Parameters& parameters)
      : Counted(model, {problem, parameters}) {}
  Counted(const DeviceModel& model, const SlicedProblem& sliced) {
    const LaunchTerms counted = count_terms(model, sliced);
    for (const Term& term : counted.terms()) {
      seconds_[cost_names().at(term.number)] = term.seconds;
    }
  }
  double operator[](const std::string& name) const {
    EXPECT_LT(cost_number(name), cost_names().size()) << name;
    const auto found = seconds_.find(name);
    return found == seconds_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> seconds_;
};

// One byte, one cycle: counts as they are.
DeviceModel unit_model() {
  DeviceModel model = analytic_model();
  model.memory_bytes_per_second = 1;
  model.clock_hz = 1;
  return model;
}

// Runs of pairs that begin and end anywhere are moved in shifted words, by another kernel.
TEST(IssueTerms, KnowTheFormThatShiftsWords) {
  const auto lines = [](std::int64_t run, std::int64_t stride, const char* name) {
    Problem problem = unfused_problem({run, 40, 30}, {0, 2, 1}, 2);
    problem.modes[0].in_byte_stride *= stride;
    return Counted(unit_model(), problem, {fvi_match_large, {1, 1, run, 1}})[name];
  };
  const char* const pairs = "issue.fvi_match_large.lines_2";
  const char* const words = "issue.fvi_match_large.lines_4";
  EXPECT_EQ(lines(257, 1, pairs), 0);
  EXPECT_NEAR(lines(257, 1, words) / lines(258, 1, words),
              kMatchLargeShifted.instructions_per_further_line /
                  figures_of(fvi_match_large, 4, {}).instructions_per_further_line,
              1e-9);
  EXPECT_EQ(lines(257, 2, words), 0) << "every second element";
  EXPECT_GT(lines(257, 2, pairs), 0);
}

// A conflict is one more pass through shared memory for every 32 elements of the busiest
// multiprocessor's share; vectors that a layout splits take more instructions.
TEST(IssueTerms, CountWhatALayoutCosts) {
  const DeviceModel model = unit_model();
  const Problem problem = unfused_problem({64, 64, 132 * 8}, {1, 0, 2}, 4);
  SlicedProblem sliced(problem, {orthogonal_arbitrary, {1, 1, 64, 64}});
  ASSERT_TRUE(planned_access(sliced).vector_in);
  const Counted without(model, sliced);
  sliced.layout_cost.conflicts = 1.5;
  const Counted with(model, sliced);
  EXPECT_NEAR(with["issue.wavefronts"] - without["issue.wavefronts"], 1.5 * 64 * 64 / 32 * 8, 1e-6);
  EXPECT_EQ(with["issue.orthogonal_arbitrary.lines_4"],
            without["issue.orthogonal_arbitrary.lines_4"]);
  sliced.layout_cost.splits_vectors = true;
  const Counted split(model, sliced);
  EXPECT_EQ(split["issue.wavefronts"], with["issue.wavefronts"]);
  EXPECT_NEAR(
      split["issue.orthogonal_arbitrary.lines_4"] / without["issue.orthogonal_arbitrary.lines_4"],
      figures_of(orthogonal_arbitrary, 4, {false, true}).instructions_per_further_line /
          figures_of(orthogonal_arbitrary, 4, {true, true}).instructions_per_further_line,
      1e-9);
}

constexpr cuda::Parameters kTile{orthogonal_distinct, {1, 1, 64, 64}};

TEST(MemoryTerms, CountBytesOfBothSidesAndOfFullRounds) {
  const DeviceModel model = unit_model();
  const KernelFigures& kernel = figures_of(orthogonal_distinct, 4, {true, true});
  const std::int64_t resident = resident_blocks(model, kernel, 64 * 65 * 4);
  for (const std::int64_t slices : {std::int64_t{1}, resident, resident + 1}) {
    const Problem problem = unfused_problem({64, 64, slices}, {1, 0, 2}, 4);
    const Counted found(model, problem, kTile);
    EXPECT_DOUBLE_EQ(found["memory.bytes"], 2 * as_double(problem.bytes()));
    const std::int64_t rounds = ceil_div(slices, resident);
    EXPECT_NEAR(found["memory.round_bytes"], 2.0 * 64 * 64 * 4 * as_double(rounds * resident),
                1e-3);
  }
}

TEST(MemoryTerms, CountShortRunsByTheirLength) {
  const Problem problem = unfused_problem({4096, 4096}, {1, 0}, 4);
  const Counted found(unit_model(), problem, {orthogonal_distinct, {1, 1, 24, 64}});
  EXPECT_EQ(found["memory.read_below_64"], 0);
  for (const char* name : {"memory.read_below_128", "memory.read_below_256",
                           "memory.read_below_512", "memory.written_below_512"}) {
    EXPECT_EQ(found[name], as_double(problem.bytes())) << name;
  }
  EXPECT_EQ(found["memory.written_below_256"], 0);
}

// Runs of 9 floats share a sector with the next, 32 - 4 bytes of it in the mean, of those of 8
// none.
TEST(MemoryTerms, CountSectorsThatTwoRunsShare) {
  DeviceModel model = unit_model();
  model.l2_cache_bytes = std::int64_t{1} << 40;
  const Problem problem = unfused_problem({72 * 64, 4096}, {1, 0}, 4);
  const Counted nines(model, problem, {orthogonal_distinct, {1, 1, 9, 64}});
  EXPECT_DOUBLE_EQ(nines["memory.read_in_l2"], 28.0 * 512 * 4096);
  EXPECT_EQ(nines["memory.read_again"] + nines["memory.written_again"], 0);
  EXPECT_EQ(nines["memory.written_in_l2"], 0);
  const Counted eights(model, problem, {orthogonal_distinct, {1, 1, 8, 64}});
  EXPECT_EQ(eights["memory.read_in_l2"] + eights["memory.read_again"], 0);
}

// The share that is met falls as what fits of the bytes between two visits: no cliff.
TEST(MemoryTerms, MeetLessTheFurtherApartNeighboursAre) {
  DeviceModel model = unit_model();
  const Problem problem = unfused_problem({9 * 1024, 1 << 14}, {1, 0}, 4);
  const auto met = [&](std::int64_t l2) {
    model.l2_cache_bytes = l2;
    const Counted found(model, problem, {orthogonal_distinct, {1, 1, 9, 64}});
    const double all = found["memory.read_in_l2"] + found["memory.read_again"];
    EXPECT_NEAR(all, 28.0 * 1024 * (1 << 14), 1);
    return found["memory.read_in_l2"] / all;
  };
  // Neighbours along the input are a column of 256 slices apart in the grid, fewer than are
  // resident; each is 2 x 9 x 64 floats.
  const KernelFigures& kernel = figures_of(orthogonal_distinct, 4, {false, true});
  const std::int64_t resident = resident_blocks(model, kernel, 64 * 65 * 4);
  ASSERT_GT(resident, 256);
  const std::int64_t distance = resident * 2 * 9 * 64 * 4;
  EXPECT_EQ(met(0), 0);
  EXPECT_DOUBLE_EQ(met(distance / 4), 0.25);
  EXPECT_DOUBLE_EQ(met(distance / 2), 0.5);
  EXPECT_EQ(met(2 * distance), 1);
  // Outputs are cut along the mode that is the fastest in the grid: neighbours are in flight
  // together. In the transposed problem it is the inputs that are, and outputs are a column apart.
  const Problem tall = unfused_problem({9 * 1024, 1 << 20}, {1, 0}, 4);
  model.l2_cache_bytes = distance;
  const Counted far(model, tall, {orthogonal_distinct, {1, 1, 9, 65}});
  const double columns = as_double(ceil_div(1 << 20, 65));
  const double read = far["memory.read_in_l2"] / (28.0 * 1024 * (1 << 20));
  EXPECT_NEAR(read, as_double(distance) / (columns * 2 * 9 * 65 * 4), 0.01 * read);
  EXPECT_GT(far["memory.written_in_l2"], 0.9 * far["memory.written_again"] * 9);
}

TEST(MemoryTerms, FindNothingOfRunsThatNoNeighbourGoesOnWith) {
  Problem problem = unfused_problem({9, 512, 512}, {2, 1, 0}, 4);
  // A gap after every 9 elements.
  for (const std::size_t m : {1U, 2U}) problem.modes[m].in_byte_stride *= 3;
  const Counted found(unit_model(), problem, {orthogonal_distinct, {1, 1, 9, 64}});
  EXPECT_EQ(found["memory.read_in_l2"], 0);
  EXPECT_EQ(found["memory.read_again"], 28.0 * 512 * 512);
}

TEST(IssueTerms, CountInstructionsOfLinesOfTheBusiestMultiprocessor) {
  const DeviceModel model = unit_model();
  const KernelFigures& kernel = figures_of(orthogonal_distinct, 4, {true, true});
  const Problem problem = unfused_problem({64 * 66, 64 * 66}, {1, 0}, 4);
  const Counted found(model, problem, kTile);
  const double lines = as_double(problem.bytes()) / 128;
  // 33 slices for each multiprocessor.
  EXPECT_NEAR(found["issue.orthogonal_distinct.lines_4"],
              lines * kernel.instructions_per_further_line / 132, 1e-3);
  EXPECT_NEAR(found["issue.wavefronts"], 4 * lines / 132, 1e-3) << "global and shared, both ways";
  const double blocks = as_double(resident_blocks(model, kernel, 64 * 65 * 4)) / 132;
  EXPECT_NEAR(found["issue.orthogonal_distinct.slices"], (33 - blocks) * 8, 1e-9)
      << "but the first of each block, by each warp";
  // One slice more, and one multiprocessor has 34.
  const Problem more = unfused_problem({64, 64, 66 * 66 + 1}, {1, 0, 2}, 4);
  EXPECT_NEAR(Counted(model, more, kTile)["issue.orthogonal_distinct.slices"], (34 - blocks) * 8,
              1e-9);
}

TEST(IssueTerms, CountIdleLanes) {
  const Problem full = unfused_problem({64, 64, 1320}, {1, 0, 2}, 4);
  const Problem partial = unfused_problem({65, 64, 1320}, {1, 0, 2}, 4);
  const DeviceModel model = unit_model();
  const auto lanes = [&](const Problem& problem, std::int64_t length) {
    return Counted(model, problem, {orthogonal_distinct, {1, 1, length, 64}})["issue.wavefronts"];
  };
  EXPECT_GT(lanes(partial, 65), 1.4 * lanes(full, 64)) << "a second tile for one column";
  // What the last slice along a mode has left takes whole tiles, as it does all others.
  const Problem ends = unfused_problem({64 + 1, 64, 1320}, {1, 0, 2}, 4);
  EXPECT_NEAR(lanes(ends, 64), lanes(partial, 65), 1e-3 * lanes(ends, 64));
}

// Persistent blocks are set up once, however many slices they take.
TEST(IssueTerms, SetUpResidentBlocksOnceAndOthersForEverySlice) {
  const DeviceModel model = unit_model();
  const auto distinct = [&](std::int64_t slices) {
    return Counted(model, unfused_problem({64, 64, slices}, {1, 0, 2}, 4),
                   kTile)["issue.orthogonal_distinct.set_up"];
  };
  EXPECT_GT(distinct(1), 0);
  EXPECT_DOUBLE_EQ(distinct(132), distinct(1));
  EXPECT_DOUBLE_EQ(distinct(264), 2 * distinct(1));
  EXPECT_DOUBLE_EQ(distinct(100'000), distinct(10'000));
  const auto small = [&](std::int64_t slices) {
    return Counted(model, unfused_problem({5, 8, 8, slices}, {0, 2, 1, 3}, 4),
                   {fvi_match_small, {2, 2, 8, 8}})["issue.fvi_match_small.set_up"];
  };
  EXPECT_NEAR(small(132 * 1000), 10 * small(132 * 100), 1e-6 * small(132 * 1000));
}

TEST(LatencyTerms, CountRoundsOfTheResidentBlocks) {
  const DeviceModel model = unit_model();
  const KernelFigures& kernel = figures_of(orthogonal_distinct, 4, {true, true});
  const std::int64_t resident = resident_blocks(model, kernel, 64 * 65 * 4);
  const auto rounds = [&](std::int64_t slices) {
    const Counted found(model, unfused_problem({64, 64, slices}, {1, 0, 2}, 4), kTile);
    EXPECT_EQ(found["latency.waves"], 1) << "blocks are persistent";
    return found["latency.orthogonal_distinct.rounds"];
  };
  EXPECT_EQ(rounds(1), 1);
  EXPECT_EQ(rounds(resident), 1);
  EXPECT_EQ(rounds(resident + 1), 2);
  EXPECT_EQ(rounds(10 * resident), 10);
  // Two tiles of a slice are a round each; so are the slices of a coarsened mode.
  const Problem long_slices = unfused_problem({128, 64, 8}, {1, 0, 2}, 4);
  const Counted two(model, long_slices, {orthogonal_distinct, {1, 1, 128, 64}});
  EXPECT_EQ(two["latency.orthogonal_distinct.rounds"], 2);
  const Counted coarse(model, long_slices, {orthogonal_distinct, {1, 1, 128, 64}, 2});
  EXPECT_EQ(coarse["latency.orthogonal_distinct.rounds"], 16);
}

// Asynchronous copies of a slice are in flight together, those of narrow elements too.
TEST(LatencyTerms, CountTheLoadsOfASliceOnce) {
  const DeviceModel model = unit_model();
  const auto rounds = [&](const std::vector<std::int64_t>& extents, std::int64_t bytes) {
    const Problem problem = unfused_problem(extents, {1, 0}, bytes);
    return Counted(model, problem,
                   {orthogonal_arbitrary,
                    {1, 1, extents[0], extents[1]}})["latency.orthogonal_arbitrary.rounds"];
  };
  EXPECT_EQ(rounds({63, 63}, 4), 1);
  EXPECT_EQ(rounds({63, 63}, 1), 1);
}

// With two buffers half as many blocks are resident, where shared memory limits them, and all loads
// but the first are in flight while others drain.
TEST(LatencyTerms, CountStagedRoundsApart) {
  DeviceModel model = unit_model();
  // Two buffers of 64 x 65 floats, with 1 KB each.
  model.shared_bytes_per_multiprocessor = 40 << 10;
  const Problem problem = unfused_problem({64, 64, 4 * 132}, {1, 0, 2}, 4);
  const Counted single(model, problem, kTile);
  EXPECT_EQ(single["latency.orthogonal_distinct.rounds"], 2);
  EXPECT_EQ(single["latency.staged_rounds"], 0);
  const Counted staged(model, problem, {orthogonal_distinct, {1, 1, 64, 64}, -1, 2});
  EXPECT_EQ(staged["latency.orthogonal_distinct.rounds"], 1);
  EXPECT_EQ(staged["latency.staged_rounds"], 3);
  const Problem larger = unfused_problem({64, 64, 100 * 132}, {1, 0, 2}, 4);
  EXPECT_LT(
      predict_seconds(analytic_model(), {larger, {orthogonal_distinct, {1, 1, 64, 64}, -1, 2}}),
      predict_seconds(analytic_model(), {larger, kTile}));
}

TEST(LatencyTerms, CountWavesOfBlocksThatComeOneAfterTheOther) {
  const DeviceModel model = unit_model();
  const Problem problem = unfused_problem({8 << 20}, {0}, 4);
  const Counted found(model, problem, {});
  // 256 threads by four words of 16 bytes; 8 blocks of a multiprocessor.
  const std::int64_t waves = ceil_div(problem.bytes() / (256 * 4 * 16), 8 * 132);
  EXPECT_EQ(found["latency.waves"], as_double(waves));
  EXPECT_EQ(found["latency.copy.rounds"], as_double(waves));
}

}  // namespace
}  // namespace ttlg::cuda
