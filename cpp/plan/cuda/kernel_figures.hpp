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
    {Schema::copy, 1, false, false, 32, 58, 58},
    {Schema::copy, 2, false, false, 32, 31.5, 31.5},
    {Schema::copy, 4, false, false, 32, 15.8, 15.8},
    {Schema::copy, 8, false, false, 32, 7.9, 7.9},
    {Schema::copy, 16, false, false, 32, 4.4, 4.4},
    {Schema::fvi_match_large, 1, false, false, 26, 128.2, 117},
    {Schema::fvi_match_large, 2, false, false, 26, 69.8, 58.5},
    {Schema::fvi_match_large, 4, false, false, 26, 40, 28.8},
    {Schema::fvi_match_large, 8, false, false, 30, 25.9, 14.6},
    {Schema::fvi_match_large, 16, false, false, 32, 18.6, 8.6},
    {Schema::fvi_match_small, 1, false, false, 32, 267, 263.2},
    {Schema::fvi_match_small, 2, false, false, 32, 138, 134.2},
    {Schema::fvi_match_small, 4, false, false, 32, 71.5, 67.7},
    {Schema::fvi_match_small, 8, false, false, 32, 38.2, 34.4},
    {Schema::fvi_match_small, 16, false, false, 32, 22.6, 18.8},
    {Schema::orthogonal_arbitrary, 1, false, false, 56, 973, 60},
    {Schema::orthogonal_arbitrary, 1, false, true, 56, 579, 64.5},
    {Schema::orthogonal_arbitrary, 1, true, false, 37, 719, 42},
    {Schema::orthogonal_arbitrary, 1, true, true, 62, 135, 27.2},
    {Schema::orthogonal_arbitrary, 2, false, false, 64, 490, 26.8},
    {Schema::orthogonal_arbitrary, 2, false, true, 48, 263.2, 19.2},
    {Schema::orthogonal_arbitrary, 2, true, false, 38, 360.5, 19.5},
    {Schema::orthogonal_arbitrary, 2, true, true, 51, 109.5, 14.5},
    {Schema::orthogonal_arbitrary, 4, false, false, 64, 244.6, 13},
    {Schema::orthogonal_arbitrary, 4, false, true, 59, 148, 9.1},
    {Schema::orthogonal_arbitrary, 4, true, false, 50, 195.1, 14.1},
    {Schema::orthogonal_arbitrary, 4, true, true, 45, 93.6, 10.9},
    {Schema::orthogonal_arbitrary, 8, false, false, 60, 122.6, 6.6},
    {Schema::orthogonal_arbitrary, 8, false, true, 58, 91.2, 5.8},
    {Schema::orthogonal_arbitrary, 8, true, false, 60, 110, 10.9},
    {Schema::orthogonal_arbitrary, 8, true, true, 56, 75.2, 7.8},
    {Schema::orthogonal_arbitrary, 16, true, true, 56, 68.1, 3.9},
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
