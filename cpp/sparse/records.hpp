// Nonzeros while they are sorted.
#pragma once

#include <cstddef>

namespace ttlg::sparse {

// The key of a nonzero and its value, or its number. Packed, because what is moved to many places
// should touch one line at each.
template <typename Stored, typename Payload>
struct [[gnu::packed]] Record {
  Stored key;
  Payload payload;
};

// The same as two arrays.
template <typename Stored, typename Payload>
struct Arrays {
  Stored* keys = nullptr;
  Payload* payloads = nullptr;

  Arrays from(std::size_t begin) const { return {keys + begin, payloads + begin}; }
};

}  // namespace ttlg::sparse
