// Matrices of few rows or columns, by pieces of the other dimension.
#include "plan/cuda/inplace/skinny.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "cuda/inplace/run_steps.hpp"
#include "plan/cuda/cases.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::test {
namespace {

using namespace cuda;

// Structures become fields, or fields structures.
InplaceStep skinny_of(bool is_tall, std::int64_t structures, std::int64_t fields,
                      std::int64_t bytes, std::int64_t length, std::int64_t batch = 1) {
  return {.kernel = InplaceKernel::skinny,
          .batch = batch,
          .rows = is_tall ? structures : fields,
          .columns = is_tall ? fields : structures,
          .element_bytes = bytes,
          .width = length};
}

// Both directions.
void expect_converted(std::int64_t structures, std::int64_t fields, std::int64_t bytes,
                      std::int64_t length, std::int64_t batch = 1, std::size_t misalignment = 0) {
  for (const bool is_tall : {true, false}) {
    const InplaceStep step = skinny_of(is_tall, structures, fields, bytes, length, batch);
    ASSERT_TRUE(applies(step)) << describe(step, misalignment);
    expect_transposed(step, misalignment);
  }
}

TEST(Skinny, ConvertsStructuresOfEverySize) {
  for (std::int64_t fields = 2; fields <= 31; ++fields) {
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      const std::int64_t length = 256 / bytes;
      // Prime, of so many pieces as there are fields, and a multiple of the fields.
      expect_converted(1009, fields, bytes, length);
      expect_converted(length * fields, fields, bytes, length);
    }
  }
}

}  // namespace
}  // namespace ttlg::test
