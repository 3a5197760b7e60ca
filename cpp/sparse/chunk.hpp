// Nonzeros that are sorted together.
#pragma once

#include <cstdint>

namespace ttlg::sparse {

// Nonzeros from `begin` up to `end`, in the input's order or distributed, which will have these
// places in the output.
struct Chunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t base = 0;  // is taken away from all keys
  int bits = 0;            // above these, keys without the base are equal
  bool is_distributed = false;

  std::int64_t count() const { return end - begin; }
};

inline std::uint64_t low_bits(int bits) {
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
}

}  // namespace ttlg::sparse
