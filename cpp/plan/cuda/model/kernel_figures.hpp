// What the compiler has made of the kernels. Written by tools/kernel_budget.py --record from
// cpp/cuda/kernels/budget.json, with which its --check compares; do not edit.
#pragma once

#include "plan/cuda/parameters.hpp"

namespace ttlg::cuda {

// A kernel for elements of `width` bytes, with 16-byte accesses on either side or not; registers of
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
    {Schema::fvi_match_large, 2, false, false, 48, 21.6, 12.6},
    {Schema::fvi_match_large, 4, false, false, 32, 14.3, 6.5},
    {Schema::fvi_match_large, 8, false, false, 32, 12.6, 3.3},
    {Schema::fvi_match_large, 16, false, false, 32, 6.4, 1.7},
    {Schema::fvi_match_small, 1, false, false, 64, 50.1, 46.3},
    {Schema::fvi_match_small, 2, false, false, 40, 34.3, 30.6},
    {Schema::fvi_match_small, 4, false, false, 40, 20.2, 16.4},
    {Schema::fvi_match_small, 8, false, false, 32, 15.5, 11.8},
    {Schema::fvi_match_small, 16, false, false, 40, 12, 8.2},
    {Schema::orthogonal_arbitrary, 4, false, false, 64, 136.5, 19.2},
    {Schema::orthogonal_arbitrary, 4, false, true, 62, 110.3, 17},
    {Schema::orthogonal_arbitrary, 4, true, false, 56, 99.8, 14.8},
    {Schema::orthogonal_arbitrary, 4, true, true, 44, 70.4, 13.3},
    {Schema::orthogonal_arbitrary, 8, false, false, 64, 68.2, 9.6},
    {Schema::orthogonal_arbitrary, 8, false, true, 64, 61.8, 9},
    {Schema::orthogonal_arbitrary, 8, true, false, 56, 53.6, 7.8},
    {Schema::orthogonal_arbitrary, 8, true, true, 58, 48.3, 7.6},
    {Schema::orthogonal_arbitrary, 16, true, true, 56, 43.6, 6.4},
    {Schema::orthogonal_arbitrary, 1, false, false, 64, 267.9, 49.1},
    {Schema::orthogonal_arbitrary, 1, true, true, 64, 256.3, 31.2},
    {Schema::orthogonal_arbitrary, 2, false, false, 64, 225.1, 41.1},
    {Schema::orthogonal_arbitrary, 2, true, true, 60, 222.9, 25.3},
    {Schema::orthogonal_distinct, 1, false, false, 64, 48.9, 46.9},
    {Schema::orthogonal_distinct, 1, false, true, 64, 29.2, 28.6},
    {Schema::orthogonal_distinct, 1, true, true, 48, 19.7, 18.1},
    {Schema::orthogonal_distinct, 2, false, false, 64, 33.8, 33.1},
    {Schema::orthogonal_distinct, 2, false, true, 64, 26.8, 26.3},
    {Schema::orthogonal_distinct, 2, true, false, 64, 24.8, 23.2},
    {Schema::orthogonal_distinct, 2, true, true, 48, 18.3, 16.7},
    {Schema::orthogonal_distinct, 4, false, false, 56, 25.1, 23.4},
    {Schema::orthogonal_distinct, 4, false, true, 52, 23.2, 21.6},
    {Schema::orthogonal_distinct, 4, true, false, 56, 19.1, 17.5},
    {Schema::orthogonal_distinct, 4, true, true, 52, 17.3, 15.7},
    {Schema::orthogonal_distinct, 8, false, false, 42, 21.4, 19.5},
    {Schema::orthogonal_distinct, 8, false, true, 48, 20.8, 18.9},
    {Schema::orthogonal_distinct, 8, true, false, 42, 17.6, 15.7},
    {Schema::orthogonal_distinct, 8, true, true, 48, 17.1, 15.2},
    {Schema::orthogonal_distinct, 16, true, true, 42, 16.9, 15},
};
// Where runs have no words of this width in common; the planner does not know whether a copy's
// addresses have.
inline constexpr KernelFigures kMatchLargeShifted = {Schema::fvi_match_large, 4, false, false, 56, 29.3, 15};
// clang-format on

}  // namespace ttlg::cuda
