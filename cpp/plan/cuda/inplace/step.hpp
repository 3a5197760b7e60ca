// One step of a transposition in place on a CUDA device: a batch of matrices, one after another in
// memory, each of which becomes its transpose where it lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/cuda/device_model.hpp"
#include "tensor/c2r.hpp"

namespace ttlg::cuda {

// square_* exchange tiles of square matrices in the order of an enumeration scheme (Gorawski and
// Lorek), `runs` the elements themselves; cells, c2r and r2c are for any matrix.
enum class InplaceKernel : std::uint8_t {
  square_v1b,  // in bands (section 5)
  square_v1,   // row by row
  square_v1r,  // row by row, from right to left
  square_v2,   // column by column
  square_ip,   // the full grid, whose upper half is idle (listing 2)
  square_sg,   // super grid: a launch for each region (listings 3 and 4)
  square_tw,   // thread-wise: a thread for each pair of elements, row by row
  runs,        // elements of any number of bytes are exchanged
  cells,       // large elements move along the permutation's cycles
  c2r,         // rows and columns are permuted (Catanzaro et al., PPoPP 2014)
  r2c,         // the inverse of that on the transpose's dimensions
};

inline constexpr int kInplaceKernels = 11;

std::string_view kernel_name(InplaceKernel kernel);
std::optional<InplaceKernel> inplace_kernel_from_name(std::string_view name);
// All of them, for messages.
std::string inplace_kernel_names();

// Memory [batch][rows][between][columns][element], where rows and columns change places and what is
// between them stays where it is: see plan/inplace/matrices.hpp.
struct InplaceStep {
  InplaceKernel kernel = InplaceKernel::square_v1b;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t between = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 1;
  // Of square_v1b, the width of a band; of square_sg, the order of a region; both in tiles. Of
  // cells, one of so many goes through the workspace, a power of two.
  std::int64_t width = 0;

  std::int64_t matrix_bytes() const { return rows * between * columns * element_bytes; }
  std::int64_t bytes() const { return batch * matrix_bytes(); }
  bool operator==(const InplaceStep&) const = default;
};

// The dimensions in which c2r and r2c permute rows and columns.
inline C2r c2r_of(const InplaceStep& step) {
  return step.kernel == InplaceKernel::c2r ? C2r(step.rows, step.columns)
                                           : C2r(step.columns, step.rows);
}

// Whether the kernel permutes rows and columns.
constexpr bool is_c2r_or_r2c(InplaceKernel kernel) {
  return kernel == InplaceKernel::c2r || kernel == InplaceKernel::r2c;
}

// Tiles on a side of a matrix.
std::int64_t tiles_of(const InplaceStep& step);

// Whether the kernel can transpose these matrices with this width.
bool is_valid(const InplaceStep& step);

// How often the step reads and writes its matrices. What c2r and r2c have no room for on chip goes
// through a workspace, out of the matrices and back.
int passes(const InplaceStep& step, const DeviceModel& model);

// How many kernels it launches, with as large a workspace as it can use.
std::int64_t launches(const InplaceStep& step, const DeviceModel& model);

// The most shared memory of a thread block.
std::int64_t on_chip_bytes(const DeviceModel& model);

// The bytes that a step needs besides its matrices, and what it uses of so many: a row or a group
// of columns, and as many as there are multiprocessors to work on them.
std::int64_t least_workspace_bytes(const InplaceStep& step, const DeviceModel& model);
std::int64_t workspace_bytes(const InplaceStep& step, const DeviceModel& model, std::int64_t limit);

}  // namespace ttlg::cuda
