// The kernels that work in place, and those between an array and a workspace, on arrays of more
// than 2^32 bytes: some blocks of each launch, on memory that is not allocated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cuda/far_memory.hpp"
#include "cuda/inplace/c2r.hpp"
#include "cuda/inplace/lower.hpp"
#include "cuda/inplace/run_steps.hpp"
#include "cuda/run_kernels.hpp"
#include "tensor/width.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;
using enum InplaceKernel;
using Source = std::function<std::int64_t(std::int64_t)>;

constexpr std::int64_t kOnChip = 226 << 10;

// Runs a sample of a launch's blocks. A workspace has `workspace_bytes`.
void expect_moved(const InplaceLaunch& launch, std::int64_t bytes, std::int64_t workspace_bytes,
                  const Source& source, bool goes_far = true,
                  const std::vector<std::uint32_t>& sample = {}) {
  const auto size = [&](const InplaceLaunch::Location& location) {
    return location.in_workspace ? workspace_bytes : bytes;
  };
  ASSERT_GT(bytes, kFar);
  EXPECT_EQ(run_far({.blocks = launch.launch.blocks,
                     .threads = launch.launch.threads,
                     .shared_bytes = launch.launch.shared_bytes,
                     .sample = sample},
                    {.in_bytes = size(launch.from),
                     .out_bytes = size(launch.to),
                     .source = source,
                     .in_origin = launch.from.offset,
                     .out_origin = launch.to.offset},
                    kernel_of(launch.launch, {}), goes_far),
            Violations{});
}

// Where a byte of a step's result comes from.
std::int64_t source_of(const InplaceStep& step, std::int64_t to) {
  const std::int64_t byte = to % step.element_bytes;
  std::int64_t element = to / step.element_bytes;
  const std::int64_t i = element % step.rows;
  element /= step.rows;
  const std::int64_t t = element % step.between;
  element /= step.between;
  const std::int64_t j = element % step.columns;
  const std::int64_t b = element / step.columns;
  return (((b * step.rows + i) * step.between + t) * step.columns + j) * step.element_bytes + byte;
}

void expect_exchanged(const InplaceStep& step) {
  SCOPED_TRACE(describe(step, 0));
  ASSERT_TRUE(applies(step));
  const std::vector<Launch> launches = lower_square(step, 0);
  // Of several launches, that of the last region.
  expect_moved({.launch = launches.back()}, step.bytes(), 0,
               [&](std::int64_t to) { return source_of(step, to); });
}

TEST(FarInplace, ExchangesTiles) {
  for (const std::int64_t size : kWidths) {
    for (const std::int64_t odd : {0, 1}) {
      const std::int64_t order = (size == 1 ? 72000 : size == 2 ? 50000 : 34000) + odd;
      expect_exchanged({square_v1b, 1, order, 1, order, size, 8});
      // Many matrices, and modes between their rows and columns.
      expect_exchanged({square_v1, 70000, 260 + odd, 1, 260 + odd, size, 0});
      expect_exchanged({square_v2, 3, 260 + odd, 25000, 260 + odd, size, 0});
    }
  }
  for (const InplaceKernel kernel : {square_v1r, square_v2, square_ip}) {
    expect_exchanged({kernel, 1, 34000, 1, 34000, 4, 0});
  }
  expect_exchanged({square_sg, 1, 34000, 1, 34000, 4, 128});
}

TEST(FarInplace, ExchangesRuns) {
  expect_exchanged({square_tw, 1, 34001, 1, 34001, 4, 0});
  expect_exchanged({runs, 1, 1050, 1, 1050, 4096, 0});
  expect_exchanged({runs, 1, 40, 1, 40, 3'000'004, 0});
  expect_exchanged({runs, 30000, 60, 1, 60, 44, 0});
  expect_exchanged({runs, 3, 60, 10000, 60, 44, 0});
  expect_exchanged({runs, 1, 3, 1, 3, 1'200'000'000, 0});
}

// Blocks that move something in the last matrix: for every one of few parts and cycles, and for
// some of many parts, which come first.
std::vector<std::uint32_t> blocks_of_items(const Launch& launch) {
  const auto& p = std::get<CellsArguments>(launch.arguments);
  const std::int64_t items = p.groups.per_matrix.divisor();
  const std::int64_t chunks = p.groups.chunks.divisor();
  const std::int64_t groups = CellsPolicy::kThreads >> p.groups.group_shift;  // of a block
  const std::int64_t last = p.groups.items / chunks - items;
  std::vector<std::uint32_t> blocks;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(items, 100); ++i) {
    const std::int64_t item = items <= 100 ? i : i * (p.saved - 1) / 99;
    blocks.push_back(static_cast<std::uint32_t>(((last + item) * chunks + chunks / 2) / groups));
  }
  return blocks;
}

// Saves cells, moves the others along their cycles, and brings what was saved to where it belongs.
void expect_moved_by_cells(const InplaceStep& step) {
  SCOPED_TRACE(describe(step, 0));
  ASSERT_TRUE(applies(step));
  const std::vector<InplaceLaunch> launches = lower_cells(step, 0);
  ASSERT_EQ(launches.size(), 3U);
  const std::int64_t cells = step.rows * step.columns;
  const std::int64_t saved = (cells + step.width - 1) / step.width;  // of a matrix
  const std::int64_t workspace = step.batch * saved * step.element_bytes;
  // A single cell of each matrix may be the first one.
  const bool goes_far = saved > 1;
  const auto saved_from = [&](std::int64_t to) {
    const std::int64_t number = to / step.element_bytes;
    const std::int64_t cell = number / saved * cells + number % saved * step.width;
    return cell * step.element_bytes + to % step.element_bytes;
  };
  expect_moved(launches[0], step.bytes(), workspace, saved_from, goes_far);
  expect_moved(
      launches[1], step.bytes(), 0, [&](std::int64_t to) { return source_of(step, to); }, true,
      blocks_of_items(launches[1].launch));
  const auto restored_from = [&](std::int64_t to) {
    const std::int64_t from = source_of(step, to);
    const std::int64_t matrix = from / step.matrix_bytes();
    const std::int64_t cell = from % step.matrix_bytes() / step.element_bytes;
    EXPECT_EQ(cell % step.width, 0);
    return (matrix * saved + cell / step.width) * step.element_bytes + from % step.element_bytes;
  };
  expect_moved(launches[2], step.bytes(), workspace, restored_from, goes_far);
}

TEST(FarInplace, MovesCells) {
  expect_moved_by_cells({cells, 1, 1000, 1, 1100, 4096, 64});
  expect_moved_by_cells({cells, 1, 1000, 1, 1101, 4092, 64});
  // All lie far apart, most of them in cycles of which none is saved, or many.
  expect_moved_by_cells({cells, 1, 5, 1, 7, 300'000'016, 64});
  expect_moved_by_cells({cells, 1, 5, 1, 7, 300'000'016, 2});
  expect_moved_by_cells({cells, 1, 2, 1, 2, 2'200'000'000, 4});
  expect_moved_by_cells({cells, 40, 300, 1, 1000, 400, 64});
  expect_moved_by_cells({cells, 300, 500, 1, 200, 200, 1024});
}

// Element (i, j) of a matrix of m x n comes from the one that a pass of C2R or R2C says.
using Pair = std::pair<std::int64_t, std::int64_t>;
using Pass = std::function<Pair(std::int64_t, std::int64_t)>;

std::int64_t source_of(const PermutedMatrices& matrices, const Pass& pass, std::int64_t to) {
  const std::int64_t matrix = to / matrices.matrix_bytes();
  const std::int64_t in_matrix = to % matrices.matrix_bytes();
  const std::int64_t in_row = in_matrix % matrices.row_bytes();
  const auto [i, j] = pass(in_matrix / matrices.row_bytes(), in_row / matrices.element_bytes);
  return matrix * matrices.matrix_bytes() + i * matrices.row_bytes() + j * matrices.element_bytes +
         in_row % matrices.element_bytes;
}

// Eq. 24: where R2C's row shuffle finds an element, and C2R's brings one to.
std::int64_t shuffled(const C2r& c, std::int64_t i, std::int64_t j) {
  return ((i + j / c.b) % c.m + j * c.m) % c.n;
}

// The j of which that is k. The rest of k - i - j div b modulo c is 0, and its quotient tells where
// in a block of b columns j lies.
std::int64_t unshuffled(const C2r& c, std::int64_t i, std::int64_t k) {
  for (std::int64_t block = 0; block < c.c; ++block) {
    const std::int64_t difference = floor_mod(k - (i + block) % c.m, c.n);
    if (difference % c.c != 0) continue;
    const std::int64_t j = block * c.b + multiply_mod(difference / c.c % c.b, c.a_inverse, c.b);
    if (shuffled(c, i, j) == k) return j;
  }
  ADD_FAILURE() << "no column comes to " << k << " of row " << i;
  return 0;
}

// The row i of which q(i) is r (Eq. 34).
std::int64_t inverse_q(const C2r& c, std::int64_t r) {
  const std::int64_t b_inverse = inverse_mod(c.b, c.a);
  const std::int64_t above = (r + c.c - 1) / c.c % c.a;
  const std::int64_t i = multiply_mod(above, b_inverse, c.a) + floor_mod(-r, c.c) * c.a;
  EXPECT_EQ(c.q(i), r);
  return i;
}

Pass row_shuffle(const PermutedMatrices& matrices) {
  return [&](std::int64_t i, std::int64_t j) {
    const C2r& c = matrices.c2r;
    return Pair(i, matrices.forward ? unshuffled(c, i, j) : shuffled(c, i, j));
  };
}

Pass column_pass(const PermutedMatrices& matrices, ColumnPass pass) {
  return [&matrices, pass](std::int64_t i, std::int64_t j) {
    const C2r& c = matrices.c2r;
    if (pass == ColumnPass::rotation) {  // Eqs. 23 and 36
      return Pair(floor_mod(i + (matrices.forward ? 1 : -1) * (j / c.b), c.m), j);
    }
    return Pair(matrices.forward ? floor_mod(c.q(i) + j, c.m) : inverse_q(c, floor_mod(i - j, c.m)),
                j);
  };
}

PermutedMatrices matrices_of(std::int64_t m, std::int64_t n, bool forward, std::int64_t batch,
                             std::int64_t element_bytes) {
  return {C2r(m, n), forward, batch, element_bytes, 0};
}

std::int64_t bytes_of(const PermutedMatrices& matrices) {
  return matrices.batch * matrices.matrix_bytes();
}

TEST(FarInplace, PermutesRowsAndColumnsOnChip) {
  // Many matrices; rows, and columns, that are most of a matrix.
  for (const auto& [m, n] : {std::pair{600, 7010},
                             {3, 50},
                             {50, 3},
                             {36'000'000, 125},
                             {6000, 900'000},
                             {100, 200'000'000}}) {
    for (const std::int64_t size : {1, 4, 12}) {
      for (const bool forward : {false, true}) {
        const PermutedMatrices matrices =
            matrices_of(m, n, forward, kFar / (size * m * n) * 5 / 4 + 1, size);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " of " + std::to_string(size));
        const auto expect_pass = [&](const Launch& launch, const Pass& pass) {
          expect_moved({.launch = launch}, bytes_of(matrices), 0,
                       [&](std::int64_t to) { return source_of(matrices, pass, to); });
        };
        if (rows_fit(matrices, kOnChip)) {
          expect_pass(lower_row_shuffle(matrices, kOnChip), row_shuffle(matrices));
        }
        if (columns_fit(matrices, kOnChip)) {
          for (const ColumnPass pass : {ColumnPass::rotation, ColumnPass::shuffle}) {
            expect_pass(lower_column_shuffle(matrices, pass, kOnChip), column_pass(matrices, pass));
          }
        }
      }
    }
  }
}

// The first two and the last two of the launches between an array and a workspace.
template <typename Visit>
void for_ends(const std::vector<InplaceLaunch>& launches, const Visit& visit) {
  ASSERT_EQ(launches.size() % 2, 0U);
  ASSERT_GT(launches.size(), 2U);
  visit(launches[0], launches[1], false);
  visit(launches[launches.size() - 2], launches.back(), true);
}

TEST(FarInplace, GathersLongRows) {
  for (const std::int64_t size : {1, 4, 12}) {
    for (const bool forward : {false, true}) {
      for (const auto& [m, n] : {std::pair{64, 30'000'000}, {3, 1'600'000'000}}) {
        const PermutedMatrices matrices = matrices_of(m, n, forward, 4, size);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " of " + std::to_string(size));
        const std::int64_t workspace = 2 * matrices.row_bytes();
        const Pass pass = row_shuffle(matrices);
        for_ends(lower_long_rows(matrices, workspace), [&](const auto& gather, const auto& copy,
                                                           bool is_last) {
          const std::int64_t first = gather.from.offset;
          expect_moved(
              gather, bytes_of(matrices), workspace,
              [&](std::int64_t to) { return source_of(matrices, pass, first + to); }, is_last);
          expect_moved(
              copy, bytes_of(matrices), workspace, [&](std::int64_t to) { return to - first; },
              is_last);
        });
      }
    }
  }
}

// Where groups of columns lie in the workspace, one after another.
class Groups {
 public:
  Groups(const PermutedMatrices& matrices, const ColumnGatherArguments& p)
      : matrices_(matrices), p_(p) {}

  // In the array, of a byte in the workspace; before the pass.
  std::int64_t in_array(std::int64_t byte) const {
    const std::int64_t group_bytes = matrices_.c2r.m * p_.group_bytes;
    const std::int64_t group = p_.first_group + byte / group_bytes;
    const std::int64_t row = byte % group_bytes / p_.group_bytes;
    const std::int64_t column = p_.first_column + group % p_.groups.divisor() * p_.group_columns;
    return group / p_.groups.divisor() * matrices_.matrix_bytes() + row * matrices_.row_bytes() +
           column * matrices_.element_bytes + byte % p_.group_bytes;
  }

  // In the workspace, of a byte in the array.
  std::int64_t in_workspace(std::int64_t byte) const {
    const std::int64_t matrix = byte / matrices_.matrix_bytes();
    const std::int64_t row = byte % matrices_.matrix_bytes() / matrices_.row_bytes();
    const std::int64_t in_groups =
        byte % matrices_.row_bytes() - p_.first_column * matrices_.element_bytes;
    const std::int64_t number =
        matrix * p_.groups.divisor() + in_groups / p_.group_bytes - p_.first_group;
    return (number * matrices_.c2r.m + row) * p_.group_bytes + in_groups % p_.group_bytes;
  }

 private:
  const PermutedMatrices& matrices_;
  const ColumnGatherArguments& p_;
};

TEST(FarInplace, GathersTallColumns) {
  for (const std::int64_t size : {1, 4, 12}) {
    for (const bool forward : {false, true}) {
      for (const auto& [m, n] : {std::pair{2'000'000, 3200}, {150'000'000, 12}, {500'000, 9999}}) {
        const PermutedMatrices matrices = matrices_of(m, n, forward, 4, size);
        SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " of " + std::to_string(size));
        const std::int64_t workspace = 2 * ColumnGatherPolicy::workspace_bytes(m, n, size);
        for (const ColumnPass pass : {ColumnPass::rotation, ColumnPass::shuffle}) {
          const Pass from = column_pass(matrices, pass);
          for_ends(lower_tall_columns(matrices, pass, workspace), [&](const auto& gather,
                                                                      const auto& back,
                                                                      bool is_last) {
            const Groups groups(matrices, std::get<ColumnGatherArguments>(gather.launch.arguments));
            const auto source = [&](std::int64_t to) {
              return source_of(matrices, from, groups.in_array(to));
            };
            const auto in_workspace = [&](std::int64_t to) { return groups.in_workspace(to); };
            expect_moved(gather, bytes_of(matrices), workspace, source, is_last);
            expect_moved(back, bytes_of(matrices), workspace, in_workspace, is_last);
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace ttlg::test
