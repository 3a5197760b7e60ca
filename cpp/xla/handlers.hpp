// What programs that XLA has compiled call to have ttlg move an array within them.
#pragma once

#include "xla/ffi.hpp"

namespace ttlg::xla {

// Writes the argument, permuted by the attribute `axes` (an array of int64 in NumPy's order), to
// the result, on as many threads as the attribute `threads` says (an int64; 0 for the default).
// Both are C-contiguous. XLA calls it from threads of its own.
Error* transpose_handler(CallFrame* frame) noexcept;

// The same, but converts and computes elements on the way, from the type of the first argument to
// that of the result. More attributes, all int64, are the members of an ElementMap: `conjugates`,
// `scales`, `adds`, `saturates` and `axis`, and `scales_are_complex`. Where there are scales or
// offsets, they are further arguments, in this order, as cpu::MapValues has them.
Error* transform_handler(CallFrame* frame) noexcept;

}  // namespace ttlg::xla
