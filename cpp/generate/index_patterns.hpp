// Patterns of indices that instruction sets have instructions for. Bytes that may be any match all
// of them.
#pragma once

#include <optional>
#include <vector>

#include "generate/lowering.hpp"

namespace ttlg::generate {

// The index in units of that many bytes; none if it takes units apart.
std::optional<std::vector<int>> in_units(const ByteIndex& index, int unit);

// The widest unit of up to 16 bytes that the index does not take apart.
int widest_unit(const ByteIndex& index);

// Whether the index is what `pattern(i)` says.
template <typename Pattern>
bool matches(const std::vector<int>& index, const Pattern& pattern) {
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] != shuffle::kUndefined && index[i] != pattern(static_cast<int>(i))) return false;
  }
  return true;
}

bool is_identity(const ByteIndex& index);

// An instruction for pairs of units of two sources.
struct PairPattern {
  enum class Kind { zip, unzip, transpose } kind;
  int unit;         // bytes
  bool is_second;   // of the two halves of the result
  bool is_swapped;  // the second source comes first
};

// An interleaving of the lower or the upper halves of groups of bytes. Others are looked for where
// `all` is set.
std::optional<PairPattern> find_pairs(const ByteIndex& index, int group, bool all);

// Whether the register and its successor, as one, are moved down by that many bytes within groups;
// `is_swapped` if the second source comes first.
struct Extraction {
  int bytes;
  bool is_swapped;
};
std::optional<Extraction> find_extraction(const ByteIndex& index, int group);

// Whether every byte comes from its own group of that many bytes, of either source.
bool stays_in_groups(const ByteIndex& index, int group);

// The index of one group of units, where all groups have the same; units count from the group's
// first one, in the second source from `group / unit` up. None if they differ.
std::optional<std::vector<int>> same_in_groups(const ByteIndex& index, int unit, int group);

// Whether no byte changes its place, only its source.
bool is_merge(const ByteIndex& index);

// What one source gives: its bytes, or undefined.
ByteIndex of_source(const ByteIndex& index, int source);

}  // namespace ttlg::generate
