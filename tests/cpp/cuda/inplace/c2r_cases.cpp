#include "cuda/inplace/c2r_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "sample.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

using Position = std::pair<std::int64_t, std::int64_t>;

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

// Eq. 26: where C2R's column shuffle finds an element, and R2C's brings one to.
std::int64_t gathered(const C2r& c, std::int64_t i, std::int64_t j) {
  return floor_mod(j + i * c.n - i / c.a, c.m);
}

// The row i of which that is r of column 0 (Eq. 34).
std::int64_t ungathered(const C2r& c, std::int64_t r) {
  const std::int64_t b_inverse = inverse_mod(c.b, c.a);
  const std::int64_t above = (r + c.c - 1) / c.c % c.a;
  const std::int64_t i = multiply_mod(above, b_inverse, c.a) + floor_mod(-r, c.c) * c.a;
  EXPECT_EQ(gathered(c, i, 0), r);
  return i;
}

// What comes to (i, j) of a matrix.
Position moved_from(const C2r& c, C2rPass pass, bool forward, std::int64_t i, std::int64_t j) {
  switch (pass) {
    case C2rPass::rotation:  // Eqs. 23 and 36
      return {floor_mod(i + (forward ? j / c.b : -(j / c.b)), c.m), j};
    case C2rPass::rows:
      return {i, forward ? unshuffled(c, i, j) : shuffled(c, i, j)};
    case C2rPass::shuffle:
      break;
  }
  return {forward ? gathered(c, i, j) : ungathered(c, floor_mod(i - j, c.m)), j};
}

}  // namespace

void PrintTo(const C2rCase& c, std::ostream* stream) {
  *stream << (c.forward ? "C2R" : "R2C") << " of " << c.batch << " x " << c.rows << " x "
          << c.columns << " of " << c.element_bytes << " bytes, " << c.misalignment
          << " bytes misaligned";
}

Source source_of(const C2rCase& c, C2rPass pass) {
  return {c.element_bytes, [c2r = C2r(c.rows, c.columns), pass, forward = c.forward](auto to) {
            const std::int64_t in_matrix = to % (c2r.m * c2r.n);
            const auto [i, j] =
                moved_from(c2r, pass, forward, in_matrix / c2r.n, in_matrix % c2r.n);
            return to - in_matrix + i * c2r.n + j;
          }};
}

// Of C2R, the matrices' elements in the transposes' order; of R2C, the other way round.
Source transpose_of(const C2rCase& c) {
  const std::int64_t m = c.forward ? c.rows : c.columns;
  return {c.element_bytes, [m, n = c.rows * c.columns / m](std::int64_t to) {
            const std::int64_t at = to % (m * n);
            return to - at + at % m * n + at / m;
          }};
}

std::int64_t workspace_bytes(const C2rCase& c, C2rPass pass, std::int64_t parts) {
  return parts * (pass == C2rPass::rows
                      ? c.matrices().row_bytes()
                      : ColumnGatherPolicy::workspace_bytes(c.rows, c.columns, c.element_bytes));
}

static ColumnPass column_pass(C2rPass pass) {
  return pass == C2rPass::rotation ? ColumnPass::rotation : ColumnPass::shuffle;
}

Launch lower_on_chip(const C2rCase& c, C2rPass pass, std::int64_t on_chip_bytes) {
  return pass == C2rPass::rows
             ? lower_row_shuffle(c.matrices(), on_chip_bytes)
             : lower_column_shuffle(c.matrices(), column_pass(pass), on_chip_bytes);
}

std::vector<InplaceLaunch> lower_in_workspace(const C2rCase& c, C2rPass pass,
                                              std::int64_t workspace_bytes) {
  return pass == C2rPass::rows
             ? lower_long_rows(c.matrices(), workspace_bytes)
             : lower_tall_columns(c.matrices(), column_pass(pass), workspace_bytes);
}

Counts expect_pass(const C2rCase& c, C2rPass pass, const C2rRoom& room, bool backwards) {
  SCOPED_TRACE(testing::PrintToString(c) + ", pass " + std::to_string(static_cast<int>(pass)));
  const std::int64_t workspace = workspace_bytes(c, pass, room.workspace_parts);
  std::vector<InplaceLaunch> launches;
  if (workspace > 0) {
    launches = lower_in_workspace(c, pass, workspace);
  } else {
    launches.push_back({lower_on_chip(c, pass, room.on_chip_bytes)});
  }
  return expect_permuted(
      launches,
      {.in_bytes = c.bytes(), .workspace_bytes = workspace, .in_misalignment = c.misalignment},
      source_of(c, pass), {.backwards = backwards});
}

void expect_transposed(const C2rCase& c, const C2rRoom& room) {
  if (!is_sample()) return;
  const bool on_chip = room.workspace_parts == 0;
  for (const C2rPass pass : kC2rPasses) {
    const bool is_needed = pass != C2rPass::rotation || c.matrices().c2r.c > 1;
    if (is_needed || !on_chip) expect_pass(c, pass, room, on_chip);
  }
  std::vector<Source> last_first;
  for (const C2rPass pass : kC2rPasses) last_first.push_back(source_of(c, pass));
  if (c.forward) std::ranges::reverse(last_first);
  const Source transpose = transpose_of(c);
  for (std::int64_t to = 0; to < c.rows * c.columns; ++to) {
    std::int64_t from = to;
    for (const Source& source : last_first) from = source.of(from);
    ASSERT_EQ(from, transpose.of(to)) << testing::PrintToString(c);
  }
}

std::vector<C2rCase> cases_of_large_elements() {
  std::vector<C2rCase> cases;
  for (const std::int64_t bytes : {20, 100, 520, 1000, 1024, 5000}) {
    for (const auto& [rows, columns] : {std::pair{5, 7}, {6, 9}, {12, 8}, {1, 4}}) {
      for (const bool forward : {false, true}) {
        cases.push_back({forward, rows, columns, bytes, 2, 8});
      }
    }
  }
  return cases;
}

}  // namespace ttlg::test
