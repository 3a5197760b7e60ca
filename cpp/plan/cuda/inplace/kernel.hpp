// The kernels that transpose in place on a CUDA device, and their steps.
#pragma once

#include <cstdint>
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

// The most shared memory of a thread block.
constexpr std::int64_t on_chip_bytes(const DeviceModel& model) {
  constexpr std::int64_t kReservedBytes = 1 << 10;  // of each thread block, by CUDA
  return model.shared_bytes_per_multiprocessor - kReservedBytes;
}

}  // namespace ttlg::cuda
