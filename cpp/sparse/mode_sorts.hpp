// The sorting options of COMET's sparse transposition. They move the numbers of nonzeros; the
// nonzeros themselves move once, at the end.
#pragma once

#include <cstdint>

#include "plan/sparse/algorithm.hpp"
#include "plan/sparse/problem.hpp"
#include "sparse/buffer.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

// The numbers of the nonzeros in the order of the output, by one of COMET's options. All modes of
// the input are given by coordinates, and the input is in order by its first `sorted_modes` modes.
Buffer<std::int64_t> sorted_numbers(const Problem& problem, Algorithm algorithm, const Input& input,
                                    int sorted_modes, int threads, cpu::ResultPool& pool);

}  // namespace ttlg::sparse
