// One step of a transposition in place: a batch of matrices, one after another in memory, each of
// which becomes its transpose where it lies.
#pragma once

#include <cstdint>
#include <string>

#include "plan/inplace/c2r.hpp"

namespace ttlg {

// What a kernel does to matrices: see plan/inplace/matrices.hpp.
template <typename Kernel>
struct BasicInplaceStep {
  Kernel kernel{};
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t between = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 1;
  std::int64_t width = 0;  // what a kernel does at a time; each has its own unit
  int threads = 0;         // of a thread block, on a GPU; 0 for the kernel's usual number

  std::int64_t matrix_bytes() const { return rows * between * columns * element_bytes; }
  std::int64_t bytes() const { return batch * matrix_bytes(); }
  bool operator==(const BasicInplaceStep&) const = default;
};

// The least and the largest width that a kernel can have on a step's matrices.
struct WidthRange {
  std::int64_t least = 0;
  std::int64_t most = 0;

  bool holds(std::int64_t width) const { return least <= width && width <= most; }
};

// Why a step of a kernel cannot be carried out with its width, in words.
template <typename Kernel>
std::string width_obstacle(const BasicInplaceStep<Kernel>& step, const WidthRange& range) {
  const std::string kernel = "kernel '" + std::string(kernel_name(step.kernel)) + "'";
  if (range.least > range.most || range.holds(step.width)) {
    return kernel + " cannot transpose matrices of " + std::to_string(step.rows) + " x " +
           std::to_string(step.columns) + " elements of " + std::to_string(step.element_bytes) +
           " bytes with a width of " + std::to_string(step.width);
  }
  const std::string range_text =
      range.least == range.most
          ? std::to_string(range.least)
          : "from " + std::to_string(range.least) + " to " + std::to_string(range.most);
  return "width of " + kernel + " must be " + range_text + " here, not " +
         std::to_string(step.width);
}

// Whether the kernel permutes rows and columns.
template <typename Kernel>
constexpr bool is_c2r_or_r2c(Kernel kernel) {
  return kernel == Kernel::c2r || kernel == Kernel::r2c;
}

// The dimensions in which c2r and r2c permute rows and columns.
template <typename Kernel>
C2r c2r_of(const BasicInplaceStep<Kernel>& step) {
  return step.kernel == Kernel::c2r ? C2r(step.rows, step.columns) : C2r(step.columns, step.rows);
}

}  // namespace ttlg
