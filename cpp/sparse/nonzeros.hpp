// The nonzeros of a sparse tensor in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttlg::sparse {

// Coordinates or row pointers, of 32 or 64 bits with a sign.
template <typename Void>
struct IndexArray {
  Void* data = nullptr;
  bool is_wide = false;

  explicit operator bool() const { return data != nullptr; }
};
using Indices = IndexArray<const void>;
using NewIndices = IndexArray<void>;

// Calls function(pointer) with the type that the indices have.
template <typename Function>
decltype(auto) with_type(const Indices& indices, const Function& function) {
  return indices.is_wide ? function(static_cast<const std::int64_t*>(indices.data))
                         : function(static_cast<const std::int32_t*>(indices.data));
}
template <typename Function>
decltype(auto) with_type(const NewIndices& indices, const Function& function) {
  return indices.is_wide ? function(static_cast<std::int64_t*>(indices.data))
                         : function(static_cast<std::int32_t*>(indices.data));
}

struct Input {
  std::vector<Indices> modes;  // the outermost may be missing, where there are row pointers
  Indices row_pointers;
  const std::byte* values = nullptr;
};

struct Output {
  std::vector<NewIndices> modes;  // as above
  NewIndices row_pointers;
  std::byte* values = nullptr;
};

}  // namespace ttlg::sparse
