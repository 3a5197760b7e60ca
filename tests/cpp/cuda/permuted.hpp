// Carries launches out on the host executor and compares what they move with what belongs there:
// all of their blocks on arrays, or some on offsets beyond 32 bits, in arrays that are not
// allocated.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/executor.hpp"
#include "cuda/inplace/lower.hpp"

namespace ttlg::test {

// Where the elements of the output come from, both counted from the beginning of their array; none
// where that is negative.
struct Source {
  std::int64_t element_bytes;
  std::function<std::int64_t(std::int64_t)> of;

  std::int64_t operator()(std::int64_t byte) const {
    const std::int64_t element = of(byte / element_bytes);
    return element < 0 ? -1 : element * element_bytes + byte % element_bytes;
  }
};

// Which bytes of the output a launch is to write.
using Writes = std::function<std::vector<std::uint8_t>(const cuda::Launch&)>;

// The arrays that launches move elements between. Misalignments are bytes beyond a 256-byte
// boundary.
struct Memory {
  std::int64_t in_bytes = 0;
  std::int64_t out_bytes = 0;  // or 0 where they work in place
  std::int64_t workspace_bytes = 0;
  std::int64_t in_misalignment = 0;
  std::int64_t out_misalignment = 0;
};

struct NearOptions {
  bool backwards = false;  // the order of the blocks
  // Every element with a source, where there are none. If there is a workspace, or if it `leaves`
  // elements, what has to be written is for the result alone to show.
  Writes writes{};
  bool leaves = false;
  cuda::AnyGrid grid{};  // of a kernel for slices
};

// That the output is not what it should be afterwards, beside the elements too, is a violation like
// any other. Of several launches, counts of sectors and conflicts are added up.
Report run_near(const std::vector<cuda::InplaceLaunch>& launches, const Memory& memory,
                const Source& source, const NearOptions& options = {});

inline constexpr std::int64_t kFar = std::int64_t{1} << 32;

struct FarOptions {
  bool goes_far = true;
  std::vector<std::uint32_t> sample{};  // the blocks; the first, the last and some between
  cuda::AnyGrid grid{};
};

// Where a launch `goes_far`, that none of its blocks has moved anything beyond 2^32 bytes, on a
// side that is longer than that, is a violation like any other.
Violations run_far(const cuda::InplaceLaunch& launch, const Memory& memory, const Source& source,
                   const FarOptions& options = {});

// Expect runs without violations, the near one in forward order, and say what it cost.
Counts expect_permuted(const std::vector<cuda::InplaceLaunch>& launches, const Memory& memory,
                       const Source& source, const NearOptions& options = {});
void expect_permuted_far(const cuda::InplaceLaunch& launch, const Memory& memory,
                         const Source& source, const FarOptions& options = {});

}  // namespace ttlg::test
