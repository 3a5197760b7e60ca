// Huge pages for memory that a library has just allocated. A fault for each page of 4 KiB can take
// three times as long as the transposition that writes to it.
#pragma once

#include <cstddef>

namespace ttlg::cpu {

inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// NumPy asks for huge pages from here on, and so does ttlg.
inline constexpr std::size_t kHugeFromBytes = std::size_t{4} << 20;

// Asks for huge pages where whole ones fit, and for what is beside them at once. To be called
// before the first write to memory that malloc may have mapped; contents stay as they are. A kernel
// that refuses does no harm.
void prepare_new_memory(std::byte* start, std::size_t bytes);

}  // namespace ttlg::cpu
