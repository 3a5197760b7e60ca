// Transposition of sparse tensors in coordinate form (COO) on a CUDA device: the nonzeros are
// sorted in the lexicographic order of the output's modes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttlg::cuda::sparse {

struct SparseProblem {
  std::int64_t nonzeros = 0;
  std::vector<std::int64_t> extents{};  // of the input's modes, outermost first
  std::vector<int> perm{};              // output mode i is input mode perm[i]
  std::int64_t value_bytes = 0;         // of each nonzero, any number
  int index_bytes = 8;                  // of a coordinate: 4 or 8, a signed integer
  bool is_sorted = false;               // the input is, lexicographically in its own order
};

// In the device's memory. The outputs overlap no input, and neither overlaps the workspace.
struct SparsePointers {
  std::vector<const std::byte*> coordinates{};  // of every input mode, one a nonzero
  const std::byte* values = nullptr;
  std::byte* out_coordinates = nullptr;  // (modes, nonzeros)
  std::byte* out_values = nullptr;
};

// Workspaces begin at multiples of this, as what cudaMalloc gives does.
inline constexpr std::size_t kWorkspaceAlignment = 256;

// How much memory `transpose` works in on this device; 0 where the order of the nonzeros stays.
std::size_t workspace_bytes(const SparseProblem& problem, int device);

// Writes the nonzeros in the order of the output. Nonzeros with the same coordinates, which are not
// added up, stay in the order in which they were. The work is ordered on the stream, a cudaStream_t
// of that device. Allocates nothing and waits for nothing, so that it can be captured in a graph;
// the workspace is free to be used, or given back, on this stream as soon as this returns. The
// calling thread's current device stays what it was.
//
// That 0 <= coordinate < extent is not checked, for that would take a wait. Where it does not hold,
// or a tensor that is said to be sorted is not, the order of the output is wrong and a coordinate
// may lose its high bits, but all accesses are inside the arrays.
void transpose(const SparseProblem& problem, const SparsePointers& pointers, std::byte* workspace,
               std::size_t workspace_bytes, int device, std::uintptr_t stream);

}  // namespace ttlg::cuda::sparse
