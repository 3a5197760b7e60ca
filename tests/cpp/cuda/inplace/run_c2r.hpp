// Carries passes of C2R and R2C out on the host executor, and says what they are to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/aligned.hpp"
#include "cuda/executor.hpp"
#include "cuda/inplace/c2r.hpp"

namespace ttlg::test {

enum class C2rPass : std::uint8_t { rotation, rows, shuffle };

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

// An array of random bytes.
class C2rArray {
 public:
  explicit C2rArray(const C2rCase& c);

  // What a pass, or all of them, makes of it, by the paper's equations in their plainest form.
  std::vector<std::byte> expected(C2rPass pass) const;
  std::vector<std::byte> expected_transpose() const;

  // A launch in place.
  Report run(const cuda::Launch& launch, bool backwards = false);
  // Launches through a workspace of this many bytes.
  Report run(const std::vector<cuda::InplaceLaunch>& launches, std::int64_t workspace_bytes);

  bool equals(const std::vector<std::byte>& bytes);

 private:
  template <typename From>
  std::vector<std::byte> gathered(const From& from) const;

  C2rCase case_;
  mutable AlignedBytes array_;
};

// Runs one pass on the array.
using C2rRun = std::function<Report(C2rArray&, C2rPass)>;

// Expects the run to do what the paper says of the pass, or all passes to transpose.
Counts expect_pass(const C2rCase& c, C2rPass pass, const C2rRun& run);
void expect_transposed(const C2rCase& c, const C2rRun& run);

inline constexpr std::int64_t kElementBytes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
std::vector<C2rCase> cases_of_large_elements();

}  // namespace ttlg::test
