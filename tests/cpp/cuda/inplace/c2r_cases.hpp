// The passes of C2R and R2C: what they are to do, by the paper's equations in their plainest form,
// and the launches that do it.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/inplace/c2r.hpp"
#include "cuda/permuted.hpp"

namespace ttlg::test {

enum class C2rPass : std::uint8_t { rotation, rows, shuffle };
inline constexpr C2rPass kC2rPasses[] = {C2rPass::rotation, C2rPass::rows, C2rPass::shuffle};

// The matrices that a pass finds, as the array that holds them begins some bytes beyond a
// 256-byte boundary.
struct C2rCase {
  bool forward = true;
  std::int64_t rows = 1;  // of those that C2R makes transposes of
  std::int64_t columns = 1;
  std::int64_t element_bytes = 4;
  std::int64_t batch = 1;
  std::int64_t misalignment = 0;

  cuda::PermutedMatrices matrices() const {
    return {C2r(rows, columns), forward, batch, element_bytes, misalignment};
  }
  std::int64_t bytes() const { return batch * rows * columns * element_bytes; }
};

// How GoogleTest prints one.
void PrintTo(const C2rCase& c, std::ostream* stream);

// What a pass, or all of them, makes of the matrices.
Source source_of(const C2rCase& c, C2rPass pass);
Source transpose_of(const C2rCase& c);

constexpr std::int64_t kHopperBytes = (227 << 10) - (1 << 10);

// What a pass has to work with: shared memory of a block, or a workspace for some rows or groups of
// columns.
struct C2rRoom {
  std::int64_t on_chip_bytes = kHopperBytes;
  std::int64_t workspace_parts = 0;
};

std::int64_t workspace_bytes(const C2rCase& c, C2rPass pass, std::int64_t parts);
cuda::Launch lower_on_chip(const C2rCase& c, C2rPass pass, std::int64_t on_chip_bytes);
std::vector<cuda::InplaceLaunch> lower_in_workspace(const C2rCase& c, C2rPass pass,
                                                    std::int64_t workspace_bytes);

// Expects a pass to do what the paper says, or all passes, which together transpose.
Counts expect_pass(const C2rCase& c, C2rPass pass, const C2rRoom& room = {},
                   bool backwards = false);
void expect_transposed(const C2rCase& c, const C2rRoom& room = {});

inline constexpr std::int64_t kElementBytes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
std::vector<C2rCase> cases_of_large_elements();

}  // namespace ttlg::test
