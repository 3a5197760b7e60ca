// A problem in elements that a thread can move.
#pragma once

#include <cstdint>

#include "tensor/problem.hpp"

namespace ttlg::cuda {

// What element (0, ..., 0) of the problem is aligned to on both sides, where both pointers are
// multiples of `pointer_alignment`: a power of two, up to 16.
std::int64_t first_element_alignment(const Problem& problem, std::int64_t pointer_alignment);

// The problem in elements of 1, 2, 4, 8 or 16 bytes: a run of 2, 4, 8 or 16 bytes that is
// contiguous on both sides becomes one element; an element of any other size, or one that strides
// and pointers leave misaligned, becomes a mode of machine words in front, as does a longer run of
// bytes or pairs that words of 4 bytes can carry. `pointer_alignment` is a power of two that
// divides both pointers.
Problem recast_problem(const Problem& problem, std::int64_t pointer_alignment);

}  // namespace ttlg::cuda
