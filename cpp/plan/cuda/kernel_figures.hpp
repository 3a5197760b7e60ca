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
    {Schema::orthogonal_distinct, 1, false, false, 77, 128.6, 114.7},
    {Schema::orthogonal_distinct, 1, false, true, 77, 69.6, 55.9},
    {Schema::orthogonal_distinct, 1, true, false, 80, 87.5, 65.3},
    {Schema::orthogonal_distinct, 1, true, true, 60, 34.7, 13.4},
    {Schema::orthogonal_distinct, 2, false, false, 52, 99.5, 71.6},
    {Schema::orthogonal_distinct, 2, false, true, 52, 67.1, 36},
    {Schema::orthogonal_distinct, 2, true, false, 54, 77.6, 41.4},
    {Schema::orthogonal_distinct, 2, true, true, 54, 46.2, 9.5},
    {Schema::orthogonal_distinct, 4, false, false, 50, 39.1, 25.5},
    {Schema::orthogonal_distinct, 4, false, true, 56, 33.1, 19.2},
    {Schema::orthogonal_distinct, 4, true, false, 48, 31, 16.1},
    {Schema::orthogonal_distinct, 4, true, true, 63, 23.2, 7.6},
    {Schema::orthogonal_distinct, 8, false, false, 40, 45.6, 16.9},
    {Schema::orthogonal_distinct, 8, false, true, 40, 42.5, 11.9},
    {Schema::orthogonal_distinct, 8, true, false, 38, 42.8, 13.2},
    {Schema::orthogonal_distinct, 8, true, true, 48, 36.4, 7},
    {Schema::orthogonal_distinct, 16, true, true, 47, 24.8, 10.2},
};
// clang-format on

}  // namespace ttlg::cuda
