// The kernels that transpose in place on a CUDA device, and what their steps take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/cuda/model/device_model.hpp"
#include "plan/inplace/step.hpp"
#include "plan/names.hpp"

namespace ttlg::cuda {

// square_* exchange tiles of square matrices in the order of an enumeration scheme (Gorawski and
// Lorek), `runs` the elements themselves; cells, c2r and r2c are for any matrix, skinny for those
// of few rows or columns.
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
  skinny,      // pieces of few rows or columns on chip, then what they have of each as cells
  c2r,         // rows and columns are permuted (Catanzaro et al., PPoPP 2014)
  r2c,         // the inverse of that on the transpose's dimensions
};

inline constexpr NameTable<InplaceKernel, 12> kInplaceKernels{
    {"square_v1b", "square_v1", "square_v1r", "square_v2", "square_ip", "square_sg", "square_tw",
     "runs", "cells", "skinny", "c2r", "r2c"}};

constexpr std::string_view kernel_name(InplaceKernel kernel) {
  return kInplaceKernels.name(kernel);
}

// `width`: of square_v1b, the width of a band; of square_sg, the order of a region; both in tiles.
// Of cells, how many there are for each that goes through the workspace, a power of two. Of skinny,
// how many of the longer dimension a piece has. `threads`: of the square kernels and runs, from 64
// to 1024, a power of two.
using InplaceStep = BasicInplaceStep<InplaceKernel>;

// Tiles on a side of a matrix.
std::int64_t tiles_of(const InplaceStep& step);

// The threads of a block, or 0 where the kernel alone decides, by the matrices.
int block_threads(const InplaceStep& step);

// Whether the kernel can transpose these matrices with this width and these threads.
bool applies(const InplaceStep& step);

// Why it cannot, in words.
std::string obstacle(const InplaceStep& step);

// How often the step reads and writes its matrices. What c2r and r2c have no room for on chip goes
// through a workspace, out of the matrices and back.
int passes(const InplaceStep& step, const DeviceModel& model);

// How many kernels it launches, with as large a workspace as it can use.
std::int64_t launches(const InplaceStep& step, const DeviceModel& model);

// The most shared memory of a thread block.
std::int64_t on_chip_bytes(const DeviceModel& model);

// The bytes that a step needs besides its matrices, and what it uses of `limit` bytes: a row or a
// group of columns, and as many as there are multiprocessors to work on them.
std::int64_t min_workspace_bytes(const InplaceStep& step, const DeviceModel& model);
std::int64_t workspace_bytes(const InplaceStep& step, const DeviceModel& model, std::int64_t limit);

}  // namespace ttlg::cuda
