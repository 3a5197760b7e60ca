// What the compiler has made of the kernels. Written by tools/kernel_budget.py --record from
// cpp/cuda/kernels/budget.json, with which its --check compares; do not edit.
#pragma once

#include "plan/cuda/schema.hpp"

namespace ttlg::cuda {

// A kernel for elements of so many bytes, with 16-byte accesses on either side or not; registers of
// a thread, and instructions of a warp for every 128 bytes, as docs/hardware.md explains them.
struct KernelFigures {
  Schema schema;
  int width;
  bool vector_in;
  bool vector_out;
  int registers;
  double instructions_per_line;
  double instructions_per_further_line;
};

// clang-format off
inline constexpr KernelFigures kKernelFigures[] = {
    {Schema::copy, 16, false, false, 32, 3.9, 3.9},
    {Schema::fvi_match_large, 1, false, false, 64, 36.9, 25.1},
    {Schema::fvi_match_large, 2, false, false, 48, 24.7, 12.9},
    {Schema::fvi_match_large, 4, false, false, 32, 14.5, 6.6},
    {Schema::fvi_match_large, 8, false, false, 32, 12.9, 3.3},
    {Schema::fvi_match_large, 16, false, false, 32, 6.4, 1.7},
    {Schema::fvi_match_small, 1, false, false, 64, 50.1, 46.3},
    {Schema::fvi_match_small, 2, false, false, 40, 34.3, 30.6},
    {Schema::fvi_match_small, 4, false, false, 40, 20.2, 16.4},
    {Schema::fvi_match_small, 8, false, false, 32, 15.5, 11.8},
    {Schema::fvi_match_small, 16, false, false, 40, 12, 8.2},
    {Schema::orthogonal_arbitrary, 1, false, false, 60, 562.7, 91.4},
    {Schema::orthogonal_arbitrary, 1, false, true, 63, 472, 111.2},
    {Schema::orthogonal_arbitrary, 1, true, false, 53, 410.9, 71.2},
    {Schema::orthogonal_arbitrary, 1, true, true, 64, 156.7, 38.6},
    {Schema::orthogonal_arbitrary, 2, false, false, 61, 284.7, 41.1},
    {Schema::orthogonal_arbitrary, 2, false, true, 56, 206, 39.6},
    {Schema::orthogonal_arbitrary, 2, true, false, 56, 232.9, 33.8},
    {Schema::orthogonal_arbitrary, 2, true, true, 64, 128.4, 22.9},
    {Schema::orthogonal_arbitrary, 4, false, false, 60, 141.8, 19.3},
    {Schema::orthogonal_arbitrary, 4, false, true, 62, 112.2, 17.9},
    {Schema::orthogonal_arbitrary, 4, true, false, 54, 102.6, 16.1},
    {Schema::orthogonal_arbitrary, 4, true, true, 40, 71, 14.5},
    {Schema::orthogonal_arbitrary, 8, false, false, 60, 70.9, 9.6},
    {Schema::orthogonal_arbitrary, 8, false, true, 62, 65.1, 9.6},
    {Schema::orthogonal_arbitrary, 8, true, false, 56, 58.2, 8.4},
    {Schema::orthogonal_arbitrary, 8, true, true, 56, 48.3, 8.1},
    {Schema::orthogonal_arbitrary, 16, true, true, 53, 43.7, 6.9},
    {Schema::orthogonal_distinct, 1, false, false, 80, 92.5, 90.8},
    {Schema::orthogonal_distinct, 1, false, true, 78, 60.2, 58.3},
    {Schema::orthogonal_distinct, 1, true, false, 80, 60.6, 58.8},
    {Schema::orthogonal_distinct, 1, true, true, 51, 28.8, 27.1},
    {Schema::orthogonal_distinct, 2, false, false, 64, 50.2, 48.2},
    {Schema::orthogonal_distinct, 2, false, true, 63, 43.4, 41.8},
    {Schema::orthogonal_distinct, 2, true, false, 64, 35.2, 33.3},
    {Schema::orthogonal_distinct, 2, true, true, 48, 27.8, 26.1},
    {Schema::orthogonal_distinct, 4, false, false, 64, 35.3, 33.6},
    {Schema::orthogonal_distinct, 4, false, true, 64, 32.3, 30.6},
    {Schema::orthogonal_distinct, 4, true, false, 56, 30.4, 28.6},
    {Schema::orthogonal_distinct, 4, true, true, 48, 27, 25.4},
    {Schema::orthogonal_distinct, 8, false, false, 53, 31, 29.2},
    {Schema::orthogonal_distinct, 8, false, true, 56, 30.2, 28.4},
    {Schema::orthogonal_distinct, 8, true, false, 48, 28.5, 26.9},
    {Schema::orthogonal_distinct, 8, true, true, 48, 27.8, 26.1},
    {Schema::orthogonal_distinct, 16, true, true, 46, 26.7, 24.9},
};
// clang-format on

}  // namespace ttlg::cuda
