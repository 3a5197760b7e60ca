#include "plan/cuda/inplace/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "messages.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/inplace_steps.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {
namespace {

using test::inplace_request;

const std::shared_ptr<const DeviceModel> kModel =
    std::make_shared<const DeviceModel>(test::analytic_model());

InplacePlan plan_for(const Request& request, const InplaceOptions& options = {}) {
  return make_inplace_plan(request, kModel, options);
}

InplacePlan plan_of_matrix(std::int64_t rows, std::int64_t columns, std::int64_t itemsize,
                           const InplaceOptions& options = {}) {
  return plan_for(inplace_request({rows, columns}, {1, 0}, itemsize), options);
}

std::string text_of(const std::vector<InplaceStep>& steps) {
  std::string text;
  for (const InplaceStep& step : steps) {
    text += std::string(kernel_name(step.kernel)) + " " + std::to_string(step.batch) + " x " +
            std::to_string(step.rows) + " x " + std::to_string(step.between) + " x " +
            std::to_string(step.columns) + " of " + std::to_string(step.element_bytes) +
            " bytes, width " + std::to_string(step.width) + "; ";
  }
  return text;
}

void expect_carried_out(const InplacePlan& plan) {
  EXPECT_TRUE(std::ranges::all_of(plan.steps, [](const auto& step) { return applies(step); }))
      << text_of(plan.steps);
  EXPECT_EQ(test::bytes_after(plan.steps, plan.problem.bytes()), test::expected_bytes(plan.request))
      << text_of(plan.steps);
  EXPECT_LE(plan.workspace_bytes, plan.workspace_limit);
}

// What the planner chooses as a single step.
InplaceStep only_step(const InplacePlan& plan) {
  EXPECT_EQ(plan.steps.size(), 1U) << text_of(plan.steps);
  return plan.steps.empty() ? InplaceStep{} : plan.steps.front();
}

TEST(InplacePlan, RefusesToConvertElements) {
  for (Request& request : test::converting_requests()) {
    request.inplace = true;
    const std::string obstacle = make_problem(request).conversion_obstacle();
    EXPECT_EQ(test::message_of([&] { plan_for(request); }), obstacle);
    EXPECT_EQ(test::message_of([&] { build_inplace_plan(request, {}, kModel, 0); }), obstacle);
  }
}

TEST(InplacePlan, CarriesEveryPermutationOut) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{7, 5},
                                              {6, 6},
                                              {5, 7, 3},
                                              {4, 4, 4},
                                              {3, 4, 3},
                                              {6, 2, 9, 5},
                                              {3, 3, 2, 3},
                                              {3, 4, 2, 5, 3},
                                              {2, 3, 2, 3, 2}}) {
    test::for_each_permutation(shape.size(), [&](const std::vector<int>& axes) {
      for (const std::int64_t itemsize : {4, 3}) {
        expect_carried_out(plan_for(inplace_request(shape, axes, itemsize)));
      }
    });
  }
}

TEST(InplacePlan, TakesAnyRank) {
  test::Random random(3);
  for (const std::size_t rank : {7U, 9U, 11U}) {
    for (int i = 0; i < 3; ++i) {
      const std::vector<std::int64_t> shape(rank, 2);
      expect_carried_out(plan_for(inplace_request(shape, test::random_axes(random, rank), 1)));
    }
  }
}

// By more than the order in which steps are added up makes.
bool takes_less(const InplacePlan& x, const InplacePlan& y) {
  return x.predicted_seconds < (1 - 1e-12) * y.predicted_seconds;
}

TEST(InplacePlan, EveryCandidateCarriesThePermutationOut) {
  for (const std::vector<int>& axes : {std::vector<int>{3, 2, 1, 0}, {0, 3, 2, 1}, {1, 0, 3, 2}}) {
    const InplacePlan plan = plan_for(inplace_request({3, 4, 3, 4}, axes, 4));
    const std::vector<InplacePlan> candidates = inplace_candidates(plan);
    ASSERT_FALSE(candidates.empty());
    EXPECT_EQ(candidates.front(), plan);
    EXPECT_TRUE(std::ranges::is_sorted(candidates, takes_less));
    for (const InplacePlan& each : candidates) expect_carried_out(each);
  }
}

// In little workspace elements move in parts, here in halves of three times 512 words.
TEST(InplacePlan, PartsOfElementsNeedNotEndWhereModesDo) {
  const Request request = inplace_request({6, 2, 3, 8, 8, 8}, {5, 1, 4, 0, 3, 2}, 16);
  const InplacePlan plan = plan_for(request, {.workspace = 1000});
  const std::vector<InplacePlan> candidates = inplace_candidates(plan);
  EXPECT_TRUE(std::ranges::any_of(candidates, [](const InplacePlan& each) {
    return std::ranges::any_of(each.steps, [](const InplaceStep& step) {
      return step.element_bytes == 3 * 8 * 8 * 8 * 16 / 2;
    });
  }));
  for (const InplacePlan& each : candidates) expect_carried_out(each);
}

// Gorawski and Lorek, section 7: the modes are named in the order x, y, z from the fastest.
TEST(InplacePlan, InvolutionsAreOneStep) {
  const auto step_of = [](std::vector<std::int64_t> shape, std::vector<int> axes) {
    const InplacePlan plan = plan_for(inplace_request(std::move(shape), std::move(axes), 4));
    expect_carried_out(plan);
    return only_step(plan);
  };
  const InplaceKernel v1b = InplaceKernel::square_v1b;
  EXPECT_EQ(step_of({5, 130, 130}, {0, 2, 1}),  // T_yxz
            (InplaceStep{v1b, 5, 130, 1, 130, 4, 2}));
  EXPECT_EQ(step_of({130, 5, 130}, {2, 1, 0}),  // T_zyx
            (InplaceStep{v1b, 1, 130, 5, 130, 4, 2}));
  EXPECT_EQ(step_of({130, 130, 5}, {1, 0, 2}),  // T_xzy
            (InplaceStep{InplaceKernel::runs, 1, 130, 1, 130, 20, 0}));
  EXPECT_EQ(step_of({70, 70, 4}, {1, 0, 2}), (InplaceStep{v1b, 1, 70, 1, 70, 16, 2}));
  // Batched.
  EXPECT_EQ(step_of({2, 40, 3, 40}, {0, 3, 2, 1}), (InplaceStep{v1b, 2, 40, 3, 40, 4, 1}));
  EXPECT_EQ(step_of({2, 20, 3, 20, 7}, {0, 3, 2, 1, 4}),
            (InplaceStep{InplaceKernel::runs, 2, 20, 3, 20, 28, 0}));
  // Groups of several modes.
  EXPECT_EQ(step_of({4, 9, 5, 6, 6}, {3, 4, 2, 0, 1}), (InplaceStep{v1b, 1, 36, 5, 36, 4, 1}));
}

TEST(InplacePlan, ExchangesGroupsOfOneVolumeOnly) {
  for (const InplaceStep& step : plan_for(inplace_request({70, 5, 71}, {2, 1, 0}, 4)).steps) {
    EXPECT_EQ(step.between, 1);
  }
}

TEST(InplacePlan, PrefersBandsOfSquareMatrices) {
  for (const std::int64_t size : kWidths) {
    const InplaceStep step = only_step(plan_of_matrix(4096, 4096, size));
    EXPECT_EQ(step.kernel, InplaceKernel::square_v1b);
    EXPECT_EQ(step.width, 8);
  }
  EXPECT_EQ(only_step(plan_of_matrix(50, 50, 4)).width, 1);    // a tile
  EXPECT_EQ(only_step(plan_of_matrix(300, 300, 4)).width, 4);  // five
  EXPECT_EQ(only_step(plan_of_matrix(4096, 4096, 12)).kernel, InplaceKernel::runs);
  EXPECT_EQ(only_step(plan_of_matrix(4096, 4096, 200)).kernel, InplaceKernel::runs);
}

// Catanzaro et al., section 5.2.
TEST(InplacePlan, PrefersTheShorterRows) {
  for (const std::int64_t size : {4, 3, 20}) {
    EXPECT_EQ(only_step(plan_of_matrix(1001, 1000, size)).kernel, InplaceKernel::c2r);
    EXPECT_EQ(only_step(plan_of_matrix(1000, 1001, size)).kernel, InplaceKernel::r2c);
    EXPECT_EQ(only_step(plan_of_matrix(1002, 1000, size)).kernel, InplaceKernel::c2r);
  }
  // Where neither may be expected to be faster, both are candidates.
  const std::vector<InplacePlan> candidates = inplace_candidates(plan_of_matrix(1001, 1000, 4));
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].predicted_seconds, candidates[1].predicted_seconds);
  EXPECT_EQ(only_step(candidates[1]).kernel, InplaceKernel::r2c);
}

TEST(InplacePlan, GoesBySquaresWhereThatTakesLess) {
  const InplacePlan plan = plan_of_matrix(64, 4096, 4);
  expect_carried_out(plan);
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_EQ(plan.steps[0], (InplaceStep{InplaceKernel::runs, 1, 64, 1, 64, 256, 0}));
  EXPECT_EQ(plan.steps[1], (InplaceStep{InplaceKernel::square_v1b, 64, 64, 1, 64, 4, 1}));
  EXPECT_EQ(inplace_candidates(plan).size(), 3U);
  only_step(plan_of_matrix(64, 96, 4));  // would be three
  only_step(plan_of_matrix(64, 4096, 4, {.forced = InplaceKernel::r2c}));
  const InplacePlan forced = plan_of_matrix(64, 4096, 4, {.forced = InplaceKernel::runs});
  expect_carried_out(forced);
  ASSERT_EQ(forced.steps.size(), 2U);
  EXPECT_EQ(forced.steps[1].kernel, InplaceKernel::runs);
  EXPECT_EQ(inplace_candidates(plan_of_matrix(64, 96, 4)).size(), 2U);
}

// Of so small squares a thread block would move next to nothing.
TEST(InplacePlan, DoesNotGoBySmallSquares) {
  for (const InplaceStep& step : plan_of_matrix(4096 * 8, 8, 8).steps) {
    EXPECT_NE(step.kernel, InplaceKernel::square_v1b);
  }
}

TEST(InplacePlan, MovesMoreThan32BitsOfBytesAsCells) {
  const InplacePlan plan = plan_for(inplace_request({1000, 1100, 1024}, {1, 0, 2}, 4));
  EXPECT_EQ(only_step(plan), (InplaceStep{InplaceKernel::cells, 1, 1000, 1, 1100, 4096, 64}));
  EXPECT_EQ(plan.workspace_bytes, 17188 * 4096);  // one cell of 64
}

TEST(InplacePlan, MovesLargeElementsAsCells) {
  const InplaceStep step = only_step(plan_for(inplace_request({8, 512, 32, 128}, {0, 2, 1, 3}, 2)));
  EXPECT_EQ(step, (InplaceStep{InplaceKernel::cells, 8, 512, 1, 32, 256, 64}));
  // As many as the workspace holds.
  const InplacePlan tight = plan_of_matrix(900, 1000, 400, {.workspace = 900 * 400});
  EXPECT_EQ(only_step(tight).width, 1024);
  EXPECT_LE(tight.workspace_bytes, 900 * 400);
}

TEST(InplacePlan, CutsLongMatricesIntoPieces) {
  for (const auto& [rows, columns] : {std::pair{10000000, 40}, {40, 10000000}}) {
    const InplacePlan plan = plan_of_matrix(rows, columns, 16);
    ASSERT_EQ(plan.steps.size(), 2U) << text_of(plan.steps);
    const InplaceStep& cells = plan.steps[rows < columns ? 0 : 1];
    EXPECT_EQ(cells.kernel, InplaceKernel::cells);
    EXPECT_LE(plan.workspace_bytes, plan.problem.bytes() / 64);
  }
}

// Catanzaro et al., section 6.1, have 2 to 31 fields of 8 bytes.
TEST(InplacePlan, TakesFewRowsOrColumnsInTwoPasses) {
  for (std::int64_t fields = 2; fields <= 31; ++fields) {
    for (const std::int64_t structures : {9'999'991, 1'000'000, 4'194'304}) {
      for (const bool is_tall : {true, false}) {
        const InplacePlan plan =
            is_tall ? plan_of_matrix(structures, fields, 8) : plan_of_matrix(fields, structures, 8);
        const InplaceStep step = only_step(plan);
        EXPECT_EQ(step.kernel, InplaceKernel::skinny);
        EXPECT_LE(step.bytes(), plan.workspace_bytes * 65);
        EXPECT_LE(plan.workspace_bytes, plan.problem.bytes() / 60);
        const double moving = plan.predicted_seconds -
                              static_cast<double>(launches(step, *kModel)) * kModel->launch_seconds;
        EXPECT_LT(moving * kModel->memory_bytes_per_second,
                  2.2 * 2 * static_cast<double>(step.bytes()))
            << text_of(plan.steps);
      }
    }
  }
  // Where the structures end with sectors, so do cells, and nothing is left over.
  const InplaceStep even = only_step(plan_of_matrix(1'000'000, 7, 8));
  EXPECT_EQ(1'000'000 % even.width, 0);
  EXPECT_EQ(even.width * 8 % 32, 0);
}

TEST(InplacePlan, TakesSmallMatricesInOnePass) {
  const InplacePlan plan = plan_for(inplace_request({5000, 300, 7}, {0, 2, 1}, 8));
  EXPECT_EQ(only_step(plan), (InplaceStep{InplaceKernel::skinny, 5000, 300, 1, 7, 8, 300}));
  EXPECT_EQ(plan.workspace_bytes, 0);
  expect_carried_out(plan_for(inplace_request({5, 300, 7}, {0, 2, 1}, 4)));
}

TEST(InplacePlan, FewRowsOrColumnsAreForTheirKernel) {
  const InplaceOptions forced{.forced = InplaceKernel::skinny};
  EXPECT_EQ(only_step(plan_of_matrix(100'003, 31, 8, forced)).kernel, InplaceKernel::skinny);
  for (const auto& [rows, columns, size] :
       {std::array{100'003, 32, 8}, {32, 100'003, 8}, {100'003, 31, 33}, {31, 31, 8}}) {
    EXPECT_THROW(plan_of_matrix(rows, columns, size, forced), std::invalid_argument);
  }
  EXPECT_THROW(plan_of_matrix(9'999'991, 7, 8, {.workspace = 1 << 20, .forced = forced.forced}),
               std::invalid_argument);
}

TEST(InplacePlan, ForcedKernelsTakeEveryStep) {
  for (const InplaceKernel kernel : kInplaceKernels) {
    const std::int64_t size = kernel == InplaceKernel::cells ? 40 : 4;
    const std::int64_t columns = kernel == InplaceKernel::skinny ? 5 : 80;
    const InplacePlan plan = plan_of_matrix(80, columns, size, {.forced = kernel});
    expect_carried_out(plan);
    EXPECT_EQ(only_step(plan).kernel, kernel);
  }
  const Request rotation = inplace_request({4, 6, 5}, {2, 1, 0}, 4);
  for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
    const InplacePlan plan = plan_for(rotation, {.forced = kernel});
    expect_carried_out(plan);
    for (const InplaceStep& step : plan.steps) EXPECT_EQ(step.kernel, kernel);
  }
}

void expect_refused(const Request& request, const InplaceOptions& options,
                    const std::string& message) {
  EXPECT_EQ(test::message_of([&] { plan_for(request, options); }), message);
}

TEST(InplacePlan, SaysWhatAKernelCannotDo) {
  const auto refusal = [](const std::string& kernel, const std::string& bytes) {
    return "kernel '" + kernel + "' cannot carry out every step to transpose " + bytes +
           " bytes in place";
  };
  for (const InplaceKernel kernel : {InplaceKernel::square_v1b, InplaceKernel::square_ip,
                                     InplaceKernel::square_sg, InplaceKernel::runs}) {
    expect_refused(inplace_request({30, 40}, {1, 0}, 4), {.forced = kernel},
                   refusal(std::string(kernel_name(kernel)), "4800"));
  }
  expect_refused(inplace_request({30, 30}, {1, 0}, 12), {.forced = InplaceKernel::square_v1b},
                 refusal("square_v1b", "10800"));
}

// The message names the least workspace that will do: with it there is a plan, with a byte less
// there is none.
void expect_least_named(const Request& request, InplaceOptions options) {
  options.workspace = 16;
  const std::string message = test::message_of([&] { plan_for(request, options); });
  const std::string marker = "pass at least ";
  const std::size_t place = message.find(marker);
  ASSERT_NE(place, std::string::npos) << message;
  options.workspace = std::stoll(message.substr(place + marker.size()));
  const InplacePlan plan = plan_for(request, options);
  EXPECT_LE(plan.workspace_bytes, options.workspace);
  --*options.workspace;
  EXPECT_THROW(plan_for(request, options), std::invalid_argument);
}

TEST(InplacePlan, NamesTheLeastWorkspace) {
  const Request matrix = inplace_request({1001, 400000}, {1, 0}, 4);
  expect_least_named(matrix, {});
  expect_least_named(matrix, {.forced = InplaceKernel::c2r});
  expect_least_named(inplace_request({60, 610, 62, 63}, {3, 2, 1, 0}, 8), {});
}

TEST(InplacePlan, RefusesGaps) {
  Request request = inplace_request({400000, 400001}, {1, 0}, 4);
  request.in_byte_strides[0] *= 2;
  expect_refused(request, {},
                 "only an array that fills its memory without gaps can be transposed in place");
}

// Rows of 226 KB, and columns of as much with a sector of each row.
TEST(InplacePlan, KeepsToTheWorkspace) {
  EXPECT_EQ(plan_of_matrix(7231, 57850, 4, {.forced = InplaceKernel::c2r}).workspace_bytes, 0);
  const std::int64_t row = 60000 * 4;
  const auto plan_with = [](std::int64_t workspace) {
    return plan_of_matrix(7001, 60000, 4, {.workspace = workspace, .forced = InplaceKernel::c2r});
  };
  for (const std::int64_t rows : {1, 2, 7}) {
    for (const std::int64_t more : {std::int64_t{0}, row - 1}) {
      const InplacePlan plan = plan_with(rows * row + more);
      EXPECT_EQ(plan.workspace_bytes, rows * row);
      EXPECT_EQ(plan.workspace_limit, rows * row + more);
    }
  }
  // One for each multiprocessor.
  EXPECT_EQ(plan_with(1 << 30).workspace_bytes, kModel->multiprocessors * row);
  EXPECT_THROW(plan_with(row - 1), std::invalid_argument);
  // As many as there are.
  const InplacePlan wide = plan_of_matrix(50, 60000, 4, {.forced = InplaceKernel::c2r});
  EXPECT_EQ(wide.workspace_bytes, 50 * row);
  // Groups of columns, a line wide.
  const std::int64_t group = 60000 * 128;
  const InplacePlan tall =
      plan_of_matrix(60000, 7001, 4, {.workspace = 3 * group, .forced = InplaceKernel::c2r});
  EXPECT_EQ(tall.workspace_bytes, 3 * group);
  EXPECT_EQ(tall.predicted_seconds,
            plan_of_matrix(60000, 7001, 4, {.forced = InplaceKernel::c2r}).predicted_seconds);
}

TEST(InplacePlan, DividesElementsThatAreTooLarge) {
  const InplacePlan plan = plan_of_matrix(3, 2, 60 << 20);
  EXPECT_EQ(plan.steps.size(), 2U);
  EXPECT_LT(plan.steps[0].element_bytes, 16 << 10);
  EXPECT_LT(plan.workspace_limit, plan.problem.bytes());
}

TEST(InplacePlan, RowsOnChipDependOnTheDevice) {
  const auto k40c = std::make_shared<const DeviceModel>(test::k40c_model());
  const Request request = inplace_request({1001, 20000}, {1, 0}, 4);
  const InplaceOptions options{.workspace = 1 << 30, .forced = InplaceKernel::c2r};
  EXPECT_EQ(make_inplace_plan(request, kModel, options).workspace_bytes, 0);
  EXPECT_EQ(make_inplace_plan(request, k40c, options).workspace_bytes, 15 * 80000);
}

TEST(InplacePlan, TakesFortranOrderAndWhatIsEmpty) {
  Request request = inplace_request({6, 4, 5}, {2, 0, 1}, 4);
  request.in_byte_strides = {4, 24, 96};
  request.out_byte_strides = {4, 20, 120};
  expect_carried_out(plan_for(request));
  const InplacePlan empty = plan_for(inplace_request({0, 4}, {1, 0}, 4));
  EXPECT_TRUE(empty.steps.empty());
  EXPECT_EQ(inplace_candidates(empty).size(), 1U);
  const InplacePlan unmoved = plan_for(inplace_request({6, 4}, {0, 1}, 4));
  EXPECT_TRUE(unmoved.steps.empty());
  EXPECT_EQ(unmoved.predicted_seconds, 0);
}

TEST(InplacePlan, IsWhatItWasBuiltFrom) {
  const Request request = inplace_request({130, 5, 130}, {2, 1, 0}, 4);
  const InplacePlan plan = plan_for(request);
  const auto build = [&](const InplaceStep& step) {
    return build_inplace_plan(request, {step}, kModel, plan.workspace_limit);
  };
  const InplacePlan again = build(plan.steps[0]);
  EXPECT_EQ(again, plan);
  EXPECT_EQ(again.predicted_seconds, plan.predicted_seconds);
  InplaceStep narrow = plan.steps[0];
  narrow.width = 1;
  EXPECT_NE(build(narrow), plan);
  EXPECT_NE(plan_for(request, {.workspace = 1000}), plan);
  for (const InplaceStep& wrong : std::vector<InplaceStep>{
           {InplaceKernel::square_v1b, 1, 130, 5, 130, 4, 0},
           {InplaceKernel::square_v1b, 1, 130, 5, 130, 4, 3},  // there are three tiles
           {InplaceKernel::square_v1, 1, 130, 5, 130, 4, 1},
           {InplaceKernel::square_sg, 1, 130, 5, 130, 4, 4},
           {InplaceKernel::c2r, 1, 130, 5, 130, 4, 0},
           {InplaceKernel::runs, 1, 130, 5, 130, 4, 1},
           {InplaceKernel::runs, 5, 130, 1, 130, 4, 0},
           {InplaceKernel::runs, 1, 130, 1, 130, 20, 0}}) {
    EXPECT_THROW(build(wrong), std::invalid_argument) << text_of({wrong});
  }
}

}  // namespace
}  // namespace ttlg::cuda
