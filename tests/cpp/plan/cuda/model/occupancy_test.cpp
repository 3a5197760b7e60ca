#include "plan/cuda/model/occupancy.hpp"

#include <gtest/gtest.h>

#include "plan/cuda/cases.hpp"
#include "plan/cuda/slice/access_width.hpp"
#include "tensor/width.hpp"

namespace ttlg::cuda {
namespace {

using test::analytic_model;

using enum Schema;

TEST(KernelFigures, AreFoundForEveryKernel) {
  for (const KernelFigures& row : kKernelFigures) {
    const KernelFigures& found = figures_of(row.schema, row.width, {row.vector_in, row.vector_out});
    EXPECT_EQ(&found, &row) << schema_name(row.schema) << row.width;
    EXPECT_GT(row.registers, 0);
    EXPECT_GE(row.instructions_per_line, row.instructions_per_further_line);
  }
  for (const Schema schema : kSchemas) {
    for (const std::int64_t bytes : kWidths) {
      const int width = static_cast<int>(bytes);
      if (schema == Schema::copy && width < 16) continue;  // it has one kernel, of 16-byte words
      for (const VectorAccess access :
           {VectorAccess{false, false}, {false, true}, {true, false}, {true, true}}) {
        const KernelFigures& found = figures_of(schema, width, access);
        EXPECT_EQ(found.schema, schema);
        EXPECT_EQ(found.width, width);
        const bool is_orthogonal = schema == orthogonal_distinct || schema == orthogonal_arbitrary;
        // Packed elements have a kernel for words on both sides and one for the rest.
        const bool is_packed = schema == orthogonal_arbitrary && width < 4;
        const bool on_both = access.vector_in && access.vector_out;
        const auto expected = [&](bool on_side) {
          return is_orthogonal && (is_packed ? on_both : on_side || width == 16);
        };
        EXPECT_EQ(found.vector_in, expected(used_access(access, schema, width).vector_in));
        EXPECT_EQ(found.vector_out, expected(access.vector_out));
      }
    }
  }
}

struct Fit {
  KernelFigures kernel;
  std::int64_t shared_bytes;
  std::int64_t blocks;  // of a multiprocessor
};

// The same cases as of tools/kernel_budget.py, in
// tests/python/gpu_tools/test_kernel_budget.py.
TEST(ResidentBlocks, AreThoseThatAMultiprocessorHasRoomFor) {
  DeviceModel model = analytic_model();
  model.shared_bytes_per_multiprocessor = 228 << 10;
  const auto kernel = [](Schema schema, int registers) {
    return KernelFigures{schema, 4, false, false, registers, 0, 0};
  };
  for (const auto& [figures, shared_bytes, blocks] :
       {Fit{kernel(copy, 32), 0, 8},  // threads
        Fit{kernel(copy, 33), 0, 6},  // registers, which come by eight
        Fit{kernel(orthogonal_arbitrary, 64), 16384, 2},
        Fit{kernel(orthogonal_distinct, 32), 32768, 6},  // shared memory, 1 KB more for each
        Fit{kernel(orthogonal_distinct, 32), 300 << 10, 1}}) {
    EXPECT_EQ(resident_blocks(model, figures, shared_bytes), blocks * model.multiprocessors);
  }
  model.threads_per_multiprocessor = 512;
  EXPECT_EQ(resident_blocks(model, kernel(copy, 32), 0), 2 * model.multiprocessors);
}

}  // namespace
}  // namespace ttlg::cuda
