// What steps in place take on a CUDA device.
#pragma once

#include <cstdint>
#include <string>

#include "plan/cuda/inplace/kernel.hpp"
#include "plan/cuda/model/device_model.hpp"

namespace ttlg::cuda {

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

// The bytes that a step needs besides its matrices, and what it uses of `limit` bytes: a row or a
// group of columns, and as many as there are multiprocessors to work on them.
std::int64_t min_workspace_bytes(const InplaceStep& step, const DeviceModel& model);
std::int64_t workspace_bytes(const InplaceStep& step, const DeviceModel& model, std::int64_t limit);

}  // namespace ttlg::cuda
