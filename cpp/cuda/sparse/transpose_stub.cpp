#include "cuda/execute.hpp"
#include "cuda/sparse/transpose.hpp"

namespace ttlg::cuda::sparse {
namespace {

[[noreturn]] void refuse() {
  throw Error("ttlg was built without CUDA; rebuild it with nvcc on the PATH to use a GPU");
}

}  // namespace

std::size_t workspace_bytes(const SparseProblem&, int) { refuse(); }

void transpose(const SparseProblem&, const SparsePointers&, std::byte*, std::size_t, int,
               std::uintptr_t) {
  refuse();
}

}  // namespace ttlg::cuda::sparse
