#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "cpu/execute.hpp"
#include "cpu/inplace/execute.hpp"
#include "cpu/this_machine.hpp"
#include "plan/cpu/inplace/plan.hpp"
#include "plan/cpu/planner.hpp"
#include "plan/inplace_steps.hpp"
#include "requests.hpp"
#include "sample.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

using test::inplace_request;
using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::int64_t count) {
  test::Random random(static_cast<std::uint64_t>(count));
  std::vector<std::uint64_t> words(static_cast<std::size_t>(ceil_div(count, 8)));
  for (std::uint64_t& each : words) each = random();
  Bytes bytes(static_cast<std::size_t>(count));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// A workspace that begins at a line, between bytes that nothing may write to.
class Workspace {
 public:
  explicit Workspace(std::int64_t bytes)
      : bytes_(bytes), raw_(static_cast<std::size_t>(bytes + 3 * kLineBytes), kGuard) {
    begin_ = raw_.data() + kLineBytes;
    while (reinterpret_cast<std::uintptr_t>(begin_) % kLineBytes != 0) ++begin_;
  }
  ~Workspace() {
    const auto is_guard = [](std::byte each) { return each == kGuard; };
    EXPECT_TRUE(std::all_of(raw_.data(), begin_, is_guard));
    EXPECT_TRUE(std::all_of(begin_ + bytes_, raw_.data() + raw_.size(), is_guard));
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::byte* begin() const { return begin_; }

 private:
  static constexpr std::byte kGuard{0x5a};
  std::int64_t bytes_;
  Bytes raw_;
  std::byte* begin_;
};

// What the reference makes of the same bytes.
Bytes expected(Request request, const Bytes& in) {
  request.inplace = false;
  Bytes out(in.size());
  execute_reference(PlanBase(request, make_problem(request)), in.data(), out.data());
  return out;
}

// At one SIMD level after another.
void expect_transposed(const InplacePlan& plan, const std::string& what) {
  static std::size_t calls = 0;
  const auto levels = usable_levels();
  const Kernels& level = *levels[calls++ % levels.size()];
  const std::int64_t bytes = plan.problem.bytes();
  const Bytes in = random_bytes(bytes);
  Bytes data = in;
  const Workspace workspace(plan.workspace_bytes);
  execute_inplace(plan, data.data(), workspace.begin(), level);
  EXPECT_TRUE(data == expected(plan.request, in)) << what << ", " << level.name;
}

// The plan that transposes a batch of matrices with this kernel.
InplacePlan plan_with(InplaceStep step, int threads) {
  const Request request =
      inplace_request({step.batch, step.rows, step.columns}, {0, 2, 1}, step.element_bytes);
  return build_inplace_plan(request, {step}, *this_machine(), threads, 0);
}

std::string text_of(const InplaceStep& step, int threads) {
  return std::string(kernel_name(step.kernel)) + " " + std::to_string(step.batch) + " x " +
         std::to_string(step.rows) + " x " + std::to_string(step.columns) + " of " +
         std::to_string(step.element_bytes) + " bytes, width " + std::to_string(step.width) + ", " +
         std::to_string(threads) + " threads";
}

void expect_step(const InplaceStep& step, int threads) {
  if (!test::is_sample()) return;
  expect_transposed(plan_with(step, threads), text_of(step, threads));
}

InplaceStep step_of(InplaceKernel kernel, std::int64_t rows, std::int64_t columns,
                    std::int64_t element_bytes, std::int64_t width = 0, std::int64_t batch = 1) {
  return {.kernel = kernel,
          .batch = batch,
          .rows = rows,
          .columns = columns,
          .element_bytes = element_bytes,
          .width = width};
}

TEST(C2rInPlace, TransposesEveryMatrix) {
  for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
    for (std::int64_t m = 1; m <= 40; ++m) {
      for (std::int64_t n = 1; n <= 40; ++n) {
        const std::int64_t columns = kernel == InplaceKernel::c2r ? n : m;
        expect_step(step_of(kernel, m, n, 1 + (m * 7 + n) % 17, 1 + (m + n) % columns, 1 + m % 2),
                    n % 5 == 0 ? 2 : (n % 7 == 0 ? 3 : 1));
      }
    }
  }
}

TEST(C2rInPlace, TransposesLargerMatrices) {
  constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {
      {300, 200}, {200, 300}, {128, 96}, {97, 101},  {1024, 64}, {64, 1024},
      {512, 512}, {500, 20},  {20, 500}, {330, 198}, {1000, 7},  {7, 1000}};
  for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
    for (const auto& [m, n] : kSizes) {
      const std::int64_t columns = kernel == InplaceKernel::c2r ? n : m;
      for (const std::int64_t size : {1, 4, 8, 12}) {
        for (const int threads : {1, 2, 5}) {
          expect_step(step_of(kernel, m, n, size, std::min<std::int64_t>(8, columns)), threads);
        }
      }
    }
  }
}

// Columns of matrices of more than 8 MiB are written around the caches, also where a piece of a row
// is no multiple of a vector; with rows that begin anywhere in a line, and with a rotation that is
// a pass of its own, fused with the rows' shuffle or not needed.
TEST(C2rInPlace, StreamsLargeMatrices) {
  const auto levels = usable_levels();
  for (const auto& [m, n, size] : std::vector<std::array<std::int64_t, 3>>{
           {2999, 3001, 1}, {3008, 2880, 1}, {2048, 2112, 2}, {2077, 2077 + 31, 2}}) {
    const Request request = inplace_request({1, m, n}, {0, 2, 1}, size);
    const Bytes in = random_bytes(m * n * size);
    const Bytes out = expected(request, in);
    for (const InplaceKernel kernel : {InplaceKernel::c2r, InplaceKernel::r2c}) {
      for (std::size_t level = 0; level < levels.size(); ++level) {
        const int threads = 1 + static_cast<int>(level % 2);
        const InplaceStep step = step_of(
            kernel, m, n, size, (2 * kLineBytes + 5 * static_cast<std::int64_t>(level)) / size);
        const InplacePlan plan = plan_with(step, threads);
        ASSERT_GT(step.matrix_bytes(), 8 << 20);
        Bytes data = in;
        const Workspace workspace(plan.workspace_bytes);
        execute_inplace(plan, data.data(), workspace.begin(), *levels[level]);
        EXPECT_TRUE(data == out) << text_of(step, threads) << ", " << levels[level]->name;
      }
    }
  }
}

TEST(CellsInPlace, TransposeEveryMatrix) {
  for (std::int64_t m = 1; m <= 40; ++m) {
    for (std::int64_t n = 1; n <= 40; ++n) {
      expect_step(step_of(InplaceKernel::cells, m, n, 1 + (m * 7 + n) % 90, 0, 1 + m % 3),
                  n % 5 == 0 ? 2 : (n % 7 == 0 ? 3 : 1));
    }
  }
}

TEST(CellsInPlace, TransposeLargerMatrices) {
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {300, 200}, {2, 3}, {97, 101}, {512, 6}, {3, 500}}) {
    for (const std::int64_t size : {16, 700, 70000}) {
      if (m * n * size > 50000000) continue;
      for (const int threads : {1, 2, 5}) {
        expect_step(step_of(InplaceKernel::cells, m, n, size), threads);
      }
    }
  }
}

TEST(BufferedInPlace, TransposesMatricesTogetherAndApart) {
  for (const std::int64_t batch : {1, 2, 30}) {
    for (const int threads : {1, 2, 5}) {
      expect_step(step_of(InplaceKernel::buffered, 70, 33, 5, 0, batch), threads);
    }
  }
}

TEST(PiecesInPlace, TransposeLongMatrices) {
  for (std::int64_t fields = 1; fields < 20; ++fields) {
    for (std::int64_t count = 20; count < 400; count += 37) {
      for (const auto& [rows, columns] : {std::pair{count, fields}, {fields, count}}) {
        expect_step(step_of(InplaceKernel::pieces, rows, columns, 1 + (fields * 7 + count) % 17,
                            1 + (count * fields) % 19, 1 + fields % 3),
                    count % 5 == 0 ? 2 : 1);
      }
    }
  }
}

// Of more than 8 MiB: the next piece is prefetched, from behind a gap too.
TEST(PiecesInPlace, TransposeMatricesLargerThanTheCaches) {
  for (const auto& [rows, columns] : {std::pair{200003, 6}, {6, 200003}}) {
    for (const int threads : {1, 2}) {
      const InplaceStep step = step_of(InplaceKernel::pieces, rows, columns, 8, 700);
      ASSERT_GT(step.matrix_bytes(), 8 << 20);
      expect_step(step, threads);
    }
  }
}

TEST(SquareInPlace, TransposesEveryOrder) {
  for (std::int64_t order = 1; order <= 70; ++order) {
    for (const std::int64_t size : {1, 2, 3, 4, 8, 16, 24}) {
      expect_step(step_of(InplaceKernel::square, order, order, size, 1 + order % 9, 1 + order % 3),
                  1 + static_cast<int>(order % 3));
    }
  }
  for (const std::int64_t size : {1, 4, 8}) {
    expect_step(step_of(InplaceKernel::square, 600, 600, size, 32, 2), 2);
  }
}

TEST(InplacePlan, CarriesEveryPermutationOut) {
  const Machine machine = *this_machine();
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {5, 7, 3}, {4, 4, 4}, {6, 2, 9, 5}, {3, 4, 2, 5, 3}, {40, 30, 50}, {16, 17, 18, 19}}) {
    test::for_each_permutation(shape.size(), [&](const std::vector<int>& axes) {
      for (const std::int64_t itemsize : {4, 3}) {
        const Request request = inplace_request(shape, axes, itemsize);
        const std::int64_t bytes = make_problem(request).bytes();
        for (const auto workspace :
             {std::optional<std::int64_t>{}, std::optional(bytes * 6 / 10)}) {
          if (workspace && *workspace < 100000) continue;  // less than a few rows and columns
          const InplacePlan plan =
              make_inplace_plan(request, machine, {.threads = 2, .workspace = workspace});
          if (workspace) {
            EXPECT_LE(plan.workspace_bytes, *workspace);
          }
          std::string what;
          for (const InplaceStep& step : plan.steps) what += text_of(step, plan.threads) + "; ";
          expect_transposed(plan, what);
        }
      }
    });
  }
}

TEST(InplacePlan, TakesAnyRank) {
  const Machine machine = *this_machine();
  test::Random random(3);
  for (const std::size_t rank : {7U, 9U, 12U, 15U}) {
    for (int i = 0; i < 5; ++i) {
      const std::vector<std::int64_t> shape(rank, 2);
      expect_transposed(
          make_inplace_plan(inplace_request(shape, test::random_axes(random, rank), 8), machine,
                            {.threads = 2, .workspace = 200000}),
          "rank " + std::to_string(rank));
    }
  }
}

TEST(InplacePlan, GivesEveryThreadABufferOfItsOwn) {
  for (const std::int64_t batch : {200, 3}) {
    const Request request = inplace_request({batch, 1200 / batch, 60}, {0, 2, 1}, 8);
    const InplacePlan plan = make_inplace_plan(request, *this_machine(), {.threads = 2});
    ASSERT_EQ(plan.steps.size(), 1U);
    EXPECT_EQ(plan.steps.front().kernel, InplaceKernel::buffered);
    EXPECT_EQ(plan.threads, 2);
    for (int i = 0; i < 40; ++i) expect_transposed(plan, "batch of " + std::to_string(batch));
  }
}

TEST(InplacePlan, TakesFortranOrder) {
  Request request = inplace_request({30, 40, 5}, {2, 0, 1}, 4);
  request.in_byte_strides = {4, 120, 4800};
  request.out_byte_strides = {4, 20, 600};
  const InplacePlan plan = make_inplace_plan(request, *this_machine(), {});
  expect_transposed(plan, "Fortran order");
}

TEST(InplacePlan, RefusesGapsAndTooSmallAWorkspace) {
  Request request = inplace_request({30, 40}, {1, 0}, 4);
  EXPECT_THROW(make_inplace_plan(request, *this_machine(), {.workspace = 16}),
               std::invalid_argument);
  request.in_byte_strides = {200, 4};
  EXPECT_THROW(make_inplace_plan(request, *this_machine(), {}), std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::cpu
